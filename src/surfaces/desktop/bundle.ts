/** The bundle for Claude Desktop (MCPB): a manifest and a program that connects to this server. */
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { PURPOSE } from "../agent-texts.ts";
import { zipOf } from "./zip.ts";

export const BUNDLE_PATH = "/millrace.mcpb";

const ENTRY_POINT = "server/index.mjs";

/**
 * Creates the bundle. It holds no key: the host asks for it, and keeps it in the key store of the system.
 * @param mcpUrl URL of the MCP server, without a path
 */
export const desktopBundle = async (mcpUrl: string, version: string): Promise<Buffer> =>
  zipOf({
    "manifest.json": JSON.stringify(manifestOf(mcpUrl, version), null, 2),
    [ENTRY_POINT]: await bridgeProgram(),
  });

/** @see https://github.com/anthropics/mcpb/blob/main/MANIFEST.md, version 0.3 */
const manifestOf = (mcpUrl: string, version: string) => ({
  manifest_version: "0.3",
  name: "millrace",
  display_name: "Millrace",
  version,
  description: PURPOSE,
  author: { name: "Millrace" },
  license: "Apache-2.0",
  server: {
    type: "node",
    entry_point: ENTRY_POINT,
    mcp_config: {
      command: "node",
      args: [`\${__dirname}/${ENTRY_POINT}`],
      env: { MILLRACE_MCP_URL: "${user_config.url}", MILLRACE_API_KEY: "${user_config.api_key}" },
    },
  },
  tools_generated: true,
  prompts_generated: true,
  user_config: {
    api_key: {
      type: "string",
      title: "API key",
      description: "An API key of Millrace: user menu, API Keys, Create New API Key.",
      sensitive: true,
      required: true,
    },
    url: {
      type: "string",
      title: "Address",
      description: "The URL of the MCP server.",
      default: `${mcpUrl}/mcp`,
      required: true,
    },
  },
  compatibility: { runtimes: { node: ">=18" } },
});

/** The program as JavaScript, also when this server runs from its sources. */
async function bridgeProgram(): Promise<string> {
  const isSource = import.meta.url.endsWith(".ts");
  const file = fileURLToPath(new URL(isSource ? "bridge.ts" : "bridge.js", import.meta.url));
  const text = await readFile(file, "utf8");
  return isSource ? stripTypeScriptTypes(text) : text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
}
