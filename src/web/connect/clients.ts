/** How to configure each MCP client for this server, as the documentation at `@see` described it in November 2026. */

export interface ClientSetup {
  id: string;
  name: string;
  /** Where to paste the text. */
  instructions: string;
  text: string;
  /** Something to click instead: a link that the client opens, or a file to download, by its path on the server. */
  link?: { label: string; href: string; download?: boolean };
}

/** Shown instead of a key's value, which is visible only right after its creation. */
export const API_KEY_PLACEHOLDER = "mill_YOUR_KEY";

/** Path of the bundle for Claude Desktop. */
const BUNDLE = "/millrace.mcpb";

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/**
 * Returns the setups of the most common MCP clients.
 * @param url URL of the MCP server, without a path
 * @param key value of an API key, or the placeholder
 */
export const clientSetups = (url: string, key: string): ClientSetup[] =>
  SETUPS.map((setup) => setup(`${url}/mcp`, key)).concat(sse(`${url}/sse`, key));

type Setup = (mcp: string, key: string) => ClientSetup;

const headersOf = (key: string) => ({ "X-API-Key": key });

/** @see https://code.claude.com/docs/en/mcp */
const claudeCode: Setup = (mcp, key) => ({
  id: "claude-code",
  name: "Claude Code",
  instructions: "Run this in the directory of your code:",
  text: `claude mcp add --transport http millrace ${mcp} --header "X-API-Key: ${key}"`,
});

/** @see https://github.com/anthropics/mcpb/blob/main/MANIFEST.md */
const claudeDesktop: Setup = (_mcp, key) => ({
  id: "claude-desktop",
  name: "Claude Desktop",
  instructions:
    "Download the bundle and open it with Claude Desktop (Settings > Extensions). It asks for the key and stores it encrypted:",
  text: key,
  link: { label: "Download bundle", href: BUNDLE, download: true },
});

/** @see https://cursor.com/docs/mcp and https://cursor.com/docs/mcp/install-links */
const cursor: Setup = (mcp, key) => {
  const server = { url: mcp, headers: headersOf(key) };
  const config = encodeURIComponent(btoa(JSON.stringify(server)));
  return {
    id: "cursor",
    name: "Cursor",
    instructions:
      "Add it with the link, which contains the key, or add this to ~/.cursor/mcp.json, or to .cursor/mcp.json in a folder:",
    text: json({ mcpServers: { millrace: server } }),
    link: {
      label: "Add to Cursor",
      href: `cursor://anysphere.cursor-deeplink/mcp/install?name=millrace&config=${config}`,
    },
  };
};

/** @see https://code.visualstudio.com/docs/copilot/guides/mcp-developer-guide (MCP URL handler) */
const vscode: Setup = (mcp) => {
  const inputs = [
    { type: "promptString", id: "millrace-key", description: "Millrace API key", password: true },
  ];
  const server = { type: "http", url: mcp, headers: headersOf("${input:millrace-key}") };
  return {
    id: "vscode",
    name: "VS Code",
    instructions:
      "Add it with the link, or add this to .vscode/mcp.json in a workspace. VS Code asks for the key and stores it.",
    text: json({ inputs, servers: { millrace: server } }),
    link: {
      label: "Add to VS Code",
      href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "millrace", ...server, inputs }))}`,
    },
  };
};

/** @see https://developers.openai.com/codex/mcp */
const codex: Setup = (mcp, key) => ({
  id: "codex",
  name: "Codex",
  instructions: "Add this to ~/.codex/config.toml:",
  text: `[mcp_servers.millrace]\nurl = "${mcp}"\nhttp_headers = { "X-API-Key" = "${key}" }`,
});

/** @see https://geminicli.com/docs/tools/mcp-server */
const geminiCli: Setup = (mcp, key) => ({
  id: "gemini-cli",
  name: "Gemini CLI",
  instructions: "Run this in a terminal:",
  text: `gemini mcp add --scope user --transport http --header "X-API-Key: ${key}" millrace ${mcp}`,
});

/** @see https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers */
const copilotCli: Setup = (mcp, key) => ({
  id: "copilot-cli",
  name: "GitHub Copilot CLI",
  instructions: "Add this to ~/.copilot/mcp-config.json:",
  text: json({
    mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key), tools: ["*"] } },
  }),
});

/** @see https://docs.windsurf.com/windsurf/cascade/mcp */
const windsurf: Setup = (mcp, key) => ({
  id: "windsurf",
  name: "Windsurf",
  instructions: "Add this to ~/.codeium/windsurf/mcp_config.json, then press Refresh:",
  text: json({ mcpServers: { millrace: { serverUrl: mcp, headers: headersOf(key) } } }),
});

/** @see https://www.jetbrains.com/help/ai-assistant/mcp.html */
const jetbrains: Setup = (mcp, key) => ({
  id: "jetbrains",
  name: "JetBrains IDEs",
  instructions:
    "Paste this as JSON under Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add:",
  text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key) } } }),
});

/** @see https://zed.dev/docs/ai/mcp */
const zed: Setup = (mcp, key) => ({
  id: "zed",
  name: "Zed",
  instructions: "Add this to settings.json (command “zed: open settings file”):",
  text: json({ context_servers: { millrace: { url: mcp, headers: headersOf(key) } } }),
});

/** @see https://opencode.ai/docs/mcp-servers.md (version 2) */
const opencode: Setup = (mcp, key) => ({
  id: "opencode",
  name: "opencode",
  instructions:
    "Add this to ~/.config/opencode/opencode.json, or to opencode.json in a folder. Version 1 has no “servers” level.",
  text: json({
    $schema: "https://opencode.ai/config.json",
    mcp: { servers: { millrace: { type: "remote", url: mcp, headers: headersOf(key) } } },
  }),
});

const http: Setup = (mcp, key) => ({
  id: "http",
  name: "Other (Streamable HTTP)",
  instructions: "Most clients accept this:",
  text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key) } } }),
});

/** @see https://www.npmjs.com/package/mcp-remote */
const stdio: Setup = (mcp, key) => ({
  id: "stdio",
  name: "Other (stdio only)",
  instructions: "For clients that only start programs. The bridge needs Node.js.",
  text: json({
    mcpServers: {
      millrace: {
        command: "npx",
        args: ["-y", "mcp-remote", mcp, "--header", "X-API-Key:${MILLRACE_KEY}"],
        env: { MILLRACE_KEY: key },
      },
    },
  }),
});

const sse = (url: string, key: string): ClientSetup => ({
  id: "sse",
  name: "Other (SSE)",
  instructions: "For clients that support only the older SSE transport:",
  text: json({ mcpServers: { millrace: { type: "sse", url, headers: headersOf(key) } } }),
});

const SETUPS: readonly Setup[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  codex,
  geminiCli,
  copilotCli,
  windsurf,
  jetbrains,
  zed,
  opencode,
  http,
  stdio,
];

/** A request to test a key with. */
export const curlCommand = (origin: string, key: string): string =>
  `curl -H "X-API-Key: ${key}" ${origin}/workflows`;
