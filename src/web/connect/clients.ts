/** What each agent's client is told, so that it finds this server: as its own documentation has it. */

export interface ClientSetup {
  id: string;
  name: string;
  /** Where the text goes. */
  instructions: string;
  text: string;
}

/** In place of a key's value, which nobody can see again. */
export const API_KEY_PLACEHOLDER = "mill_YOUR_KEY";

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/**
 * The setups of the clients in common use.
 * @param url of the MCP server, without path
 * @param key the value of a key, or what stands for it
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
      instructions: "In a terminal, in the project that shall use it:",
      text: `claude mcp add --transport http millrace ${mcp} --header "X-API-Key: ${key}"`,
    },
    {
      id: "claude-desktop",
      name: "Claude Desktop",
      instructions:
        "In claude_desktop_config.json (Settings, Developer, Edit Config); needs Node.js for the bridge:",
      text: json({ mcpServers: { millrace: bridge } }),
    },
    {
      id: "cursor",
      name: "Cursor",
      instructions: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
      text: json({ mcpServers: { millrace: { url: mcp, headers } } }),
    },
    {
      id: "vscode",
      name: "VS Code",
      instructions: "In .vscode/mcp.json of a workspace; VS Code asks for the key and keeps it:",
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
      instructions: "In ~/.codex/config.toml:",
      text: `[mcp_servers.millrace]\nurl = "${mcp}"\nhttp_headers = { "X-API-Key" = "${key}" }`,
    },
    {
      id: "http",
      name: "Any other (Streamable HTTP)",
      instructions: "Most clients take this:",
      text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers } } }),
    },
    {
      id: "sse",
      name: "Any other (SSE)",
      instructions: "For clients that know only the older transport:",
      text: json({ mcpServers: { millrace: { type: "sse", url: `${url}/sse`, headers } } }),
    },
  ];
}

/** A first request that shows that a key works. */
export const curlCommand = (origin: string, key: string): string =>
  `curl -H "X-API-Key: ${key}" ${origin}/workflows`;
