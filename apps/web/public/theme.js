// The chosen theme, or the system's, before the first paint. src/theme.ts keeps it up to date from then on.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("executor.theme");
  } catch {
    // Storage may be switched off: then the system decides.
  }
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
})();
