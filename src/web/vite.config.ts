import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { directionOf } from "./locale/direction.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Paths that the development server proxies to a running `millrace serve`. */
const API_PATHS =
  "^/(session|sessions|workflows|workflow-names|runs|run-statistics|bookmarks|approvals|schedules|environment|api-keys|absence|users|audit-log|apidoc|health|skills|llms\\.txt|millrace\\.mcpb)(/|\\?|$)";

/** The language of the texts. `npm run build:web` builds each, and `npm run dev` serves this one. */
const LANGUAGE = process.env["MILLRACE_LANGUAGE"] ?? "en";

/** The text for people without scripts, which stands in the page itself. */
const needsScripts = (): string =>
  (JSON.parse(readFileSync(here(`messages/${LANGUAGE}/locale.json`), "utf8")) as { needsScripts: string })
    .needsScripts;

/** Names the language and its direction in the page, and writes the one text that needs no script. */
const setLanguage: Plugin = {
  name: "set-language",
  transformIndexHtml: (html) =>
    html
      .replace('<html lang="en" dir="ltr"', `<html lang="${LANGUAGE}" dir="${directionOf(LANGUAGE)}"`)
      .replace("__NEEDS_SCRIPTS__", needsScripts),
};

export default defineConfig({
  root: here("."),
  base: "/ui/",
  plugins: [react(), setLanguage],
  // package.json leads these imports to the English texts.
  resolve: {
    alias: [{ find: /^#texts\/(.+)$/, replacement: here(`messages/generated/${LANGUAGE}/$1.ts`) }],
  },
  // The server replaces this placeholder with a new nonce in every response (src/surfaces/web).
  html: { cspNonce: "__CSP_NONCE__" },
  css: { postcss: { plugins: [] } },
  build: {
    outDir: here("../../dist/web"),
    emptyOutDir: false,
    target: "es2023",
    // Assets stay files: the Content-Security-Policy names files, not data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_500,
  },
  worker: { format: "es" },
  server: { proxy: { [API_PATHS]: process.env["MILLRACE_URL"] ?? "http://127.0.0.1:3000" } },
});
