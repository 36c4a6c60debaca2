import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What the development server hands on to a `millrace serve` beside it. */
const API =
  "^/(session|sessions|workflows|runs|approvals|schedules|environment|api-keys|users|audit-log|apidoc|health)(/|\\?|$)";

export default defineConfig({
  root: here("."),
  base: "/ui/",
  plugins: [react()],
  // The server puts a new nonce in its place with every page (src/surfaces/web).
  html: { cspNonce: "__CSP_NONCE__" },
  css: { postcss: { plugins: [] } },
  build: {
    outDir: here("../../dist/web"),
    emptyOutDir: true,
    target: "es2023",
    // A data: URL is no file that a policy can name.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  worker: { format: "es" },
  server: { proxy: { [API]: process.env["MILLRACE_URL"] ?? "http://127.0.0.1:3000" } },
});
