/** A host of MCP Apps for tests: the bridge of the SDK, and the sandbox of the MCP Inspector on an origin of its own. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { build, type Rollup } from "vite";

/** What the page of the host offers to tests, as `window.host`. */
export interface AppHostPage {
  /** The addresses that views asked to open. */
  links: string[];
  /** The tools that views called. */
  calls: string[];
  /** Calls a tool and shows its result in a new view. */
  show(shown: ShownApp): Promise<void>;
  changeTheme(theme: "light" | "dark"): Promise<void>;
}

export interface ShownApp {
  /** The MCP server, and the key of the client. */
  url: string;
  key: string;
  /** The address of the sandbox, which has another origin than the page of the host. */
  sandbox: string;
  tool: string;
  args: Record<string, unknown>;
  theme: "light" | "dark";
  variables?: Record<string, string>;
  /** Left out, the host offers everything that the views use. */
  capabilities?: Record<string, object>;
  /** A result to pass to the view in place of that of the tool. */
  result?: Record<string, unknown>;
}

const SCRIPT = fileURLToPath(new URL("../web/mcp-apps/host-page.ts", import.meta.url));
/** The package exports no files. */
const SANDBOX = fileURLToPath(
  new URL(
    "../../node_modules/@modelcontextprotocol/inspector/clients/web/static/sandbox_proxy.html",
    import.meta.url,
  ),
);

/** Serves the page of the host and the sandbox, each on a port of its own. */
export async function serveAppHost(): Promise<{ page: string; sandbox: string }> {
  const script = (await buildScript()).replaceAll("</script", String.raw`<\/script`);
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,"></head>
<body style="margin: 0"><script>${script}</script></body></html>`;
  return { page: await servePage(html), sandbox: await servePage(readFileSync(SANDBOX, "utf8")) };
}

async function buildScript(): Promise<string> {
  const built = (await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, minify: false, lib: { entry: SCRIPT, formats: ["iife"], name: "host" } },
  })) as Rollup.RollupOutput[];
  return built[0]!.output[0].code;
}

async function servePage(html: string): Promise<string> {
  const server = createServer((_req, res) => {
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    res.end(html);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/page.html`;
}
