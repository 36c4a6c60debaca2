import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../../dist/web");

/** Paths that the development server proxies to a running `millrace serve`. */
const API_PATHS =
  "^/(session|sessions|workflows|runs|approvals|schedules|environment|api-keys|absence|users|audit-log|apidoc|health|skills|llms\\.txt|millrace\\.mcpb)(/|\\?|$)";

/** Compresses the files at build time, with the best ratio. The server picks the encoding that the browser accepts. */
function compressFiles(): Plugin {
  return {
    name: "compress-files",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(OUT, { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(OUT, name));
        const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
        writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(content, brotliOptions));
        writeFileSync(join(OUT, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: here("."),
  base: "/ui/",
  plugins: [react(), compressFiles()],
  // The server replaces this placeholder with a new nonce in every response (src/surfaces/web).
  html: { cspNonce: "__CSP_NONCE__" },
  css: { postcss: { plugins: [] } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2023",
    // Assets stay files: the Content-Security-Policy names files, not data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_500,
  },
  worker: { format: "es" },
  // Scripts and styles find each other by relative paths, because the server may be below a path of its host. Those of the page are
  // absolute, and the server puts its path in front of them.
  experimental: {
    renderBuiltUrl: (_file, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  server: { proxy: { [API_PATHS]: process.env["MILLRACE_URL"] ?? "http://127.0.0.1:3000" } },
});
