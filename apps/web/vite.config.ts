/**
 * How the console is built (`scripts/build-web.ts`) and served while it is worked on (`src/dev.ts`). Everything leaves as
 * files of its own: the server's content security policy allows no inline script and no inline style.
 */
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    target: "es2023",
    // Nothing becomes a data: URL, and nothing is preloaded by inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
  },
});
