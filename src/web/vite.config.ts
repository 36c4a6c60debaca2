import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../../dist/web");

/** What the development server hands on to a `millrace serve` beside it. */
const API =
  "^/(session|sessions|workflows|runs|approvals|schedules|environment|api-keys|users|audit-log|apidoc|health)(/|\\?|$)";

/** Compresses once, as small as it gets: the server only picks the file that the browser takes. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(OUT, { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(OUT, name));
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
        writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(content, quality));
        writeFileSync(join(OUT, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: here("."),
  base: "/ui/",
  plugins: [react(), compressed()],
  // The server puts a new nonce in its place with every page (src/surfaces/web).
  html: { cspNonce: "__CSP_NONCE__" },
  css: { postcss: { plugins: [] } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2023",
    // A data: URL is no file that a policy can name.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_500,
  },
  worker: { format: "es" },
  server: { proxy: { [API]: process.env["MILLRACE_URL"] ?? "http://127.0.0.1:3000" } },
});
