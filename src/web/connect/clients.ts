/** How to configure each MCP client for this server, as the client's documentation describes it. */

export interface ClientSetup {
  id: string;
  name: string;
  /** Where to paste the text. */
  instructions: string;
  text: string;
}

/** Shown instead of a key's value, which is visible only right after its creation. */
export const API_KEY_PLACEHOLDER = "mill_YOUR_KEY";

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/**
 * Returns the setups of the most common MCP clients.
 * @param url URL of the MCP server, without a path
 * @param key value of an API key, or the placeholder
 */
export function clientSetups(url: string, key: string): ClientSetup[] {
  const mcp = `${url}/mcp`;
  const headers = { "X-API-Key": key };
  const bridge = {
    command: "npx",
    args: ["-y", "mcp-remote", mcp, "--header", "X-API-Key:${MILLRACE_KEY}"],
    env: { MILLRACE_KEY: key },
  };
  return [
    {
      id: "claude-code",
      name: "Claude Code",
      instructions: "Run this in your project's directory:",
      text: `claude mcp add --transport http millrace ${mcp} --header "X-API-Key: ${key}"`,
    },
    {
      id: "claude-desktop",
      name: "Claude Desktop",
      instructions:
        "Add this to claude_desktop_config.json (Settings > Developer > Edit Config). The bridge needs Node.js.",
      text: json({ mcpServers: { millrace: bridge } }),
    },
    {
      id: "cursor",
      name: "Cursor",
      instructions: "Add this to ~/.cursor/mcp.json, or to .cursor/mcp.json in a project:",
      text: json({ mcpServers: { millrace: { url: mcp, headers } } }),
    },
    {
      id: "vscode",
      name: "VS Code",
      instructions: "Add this to .vscode/mcp.json in a workspace. VS Code asks for the key and stores it.",
      text: json({
        inputs: [
          { type: "promptString", id: "millrace-key", description: "Millrace API key", password: true },
        ],
        servers: { millrace: { type: "http", url: mcp, headers: { "X-API-Key": "${input:millrace-key}" } } },
      }),
    },
    {
      id: "codex",
      name: "Codex",
      instructions: "Add this to ~/.codex/config.toml:",
      text: `[mcp_servers.millrace]\nurl = "${mcp}"\nhttp_headers = { "X-API-Key" = "${key}" }`,
    },
    {
      id: "http",
      name: "Other (Streamable HTTP)",
      instructions: "Most clients accept this:",
      text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers } } }),
    },
    {
      id: "sse",
      name: "Other (SSE)",
      instructions: "For clients that support only the older SSE transport:",
      text: json({ mcpServers: { millrace: { type: "sse", url: `${url}/sse`, headers } } }),
    },
  ];
}

/** A request to test a key with. */
export const curlCommand = (origin: string, key: string): string =>
  `curl -H "X-API-Key: ${key}" ${origin}/workflows`;
