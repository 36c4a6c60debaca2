/** Builds the views of MCP Apps: one HTML file each, with its script and style inside, because a host gives a view no other files. */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The views, by the names of their entries, with the titles of their pages. */
const VIEWS = { approval: "Approval", run: "Run" } as const;

/** What a page may do: its own script and style, and nothing else. Its host has a policy of its own. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Writes the page of a view in place of its script and style. */
function writePage(): Plugin {
  return {
    name: "write-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const name = this.environment.name as keyof typeof VIEWS;
      const parts = Object.values(bundle);
      const script = parts.flatMap((part) => (part.type === "chunk" ? [part.code] : [])).join("");
      const style = parts.flatMap((part) => (part.type === "asset" ? [String(part.source)] : [])).join("");
      for (const { fileName } of parts) delete bundle[fileName];
      const source = pageOf(VIEWS[name], script, style);
      this.emitFile({ type: "asset", fileName: `${name}.html`, source });
    },
  };
}

/** The server replaces the placeholder with the address of the web interface (src/surfaces/mcp/apps.ts). */
const pageOf = (title: string, script: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="web-address" content="__WEB_ADDRESS__">
<title>${title}</title>
<style>${style.trim()}</style>
</head>
<body>
<main></main>
<script>${script.trim().replaceAll("</script", String.raw`<\/script`)}</script>
</body>
</html>
`;

const viewEnvironment = (name: string) => ({
  consumer: "client" as const,
  build: {
    outDir: here("../../../dist/mcp-apps"),
    emptyOutDir: false,
    target: "es2024",
    // These know light-dark(): what replaces it for older ones would not follow the theme of the host.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: { input: { [name]: here(`./${name}.ts`) }, output: { format: "iife" as const } },
  },
});

export default defineConfig({
  root: here("."),
  css: { postcss: { plugins: [] } },
  plugins: [writePage()],
  environments: { approval: viewEnvironment("approval"), run: viewEnvironment("run") },
  builder: {
    async buildApp(builder) {
      for (const name of Object.keys(VIEWS)) await builder.build(builder.environments[name]!);
    },
  },
});
