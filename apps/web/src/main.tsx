/** Where the page begins. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";

/** Screens are files of one build: after an update those of the old one are gone, and the page begins anew, once. */
window.addEventListener("vite:preloadError", (event) => {
  const last = Number(sessionStorage.getItem("executor.renewed") ?? 0);
  if (Date.now() - last < 10_000) return;
  event.preventDefault();
  sessionStorage.setItem("executor.renewed", String(Date.now()));
  location.reload();
});

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
