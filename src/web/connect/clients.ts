/** How to configure each MCP client for this server, as the documentation at `@see` described it in November 2026. */
import * as texts from "#texts/connect";

export interface ClientSetup {
  id: string;
  name: string;
  /** Where to paste the text. */
  instructions: string;
  text: string;
  /** Something to click instead: a link that the client opens, or a file to download. */
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
  instructions: texts.runInCode,
  text: `claude mcp add --transport http millrace ${mcp} --header "X-API-Key: ${key}"`,
});

/** @see https://github.com/anthropics/mcpb/blob/main/MANIFEST.md */
const claudeDesktop: Setup = (_mcp, key) => ({
  id: "claude-desktop",
  name: "Claude Desktop",
  instructions: texts.desktopHelp,
  text: key,
  link: { label: texts.downloadBundle, href: BUNDLE, download: true },
});

/** @see https://cursor.com/docs/mcp and https://cursor.com/docs/mcp/install-links */
const cursor: Setup = (mcp, key) => {
  const server = { url: mcp, headers: headersOf(key) };
  const config = encodeURIComponent(btoa(JSON.stringify(server)));
  return {
    id: "cursor",
    name: "Cursor",
    instructions: texts.cursorHelp,
    text: json({ mcpServers: { millrace: server } }),
    link: {
      label: texts.addTo({ client: "Cursor" }),
      href: `cursor://anysphere.cursor-deeplink/mcp/install?name=millrace&config=${config}`,
    },
  };
};

/** @see https://code.visualstudio.com/docs/copilot/guides/mcp-developer-guide (MCP URL handler) */
const vscode: Setup = (mcp) => {
  const inputs = [{ type: "promptString", id: "millrace-key", description: texts.keyPrompt, password: true }];
  const server = { type: "http", url: mcp, headers: headersOf("${input:millrace-key}") };
  return {
    id: "vscode",
    name: "VS Code",
    instructions: texts.vscodeHelp,
    text: json({ inputs, servers: { millrace: server } }),
    link: {
      label: texts.addTo({ client: "VS Code" }),
      href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "millrace", ...server, inputs }))}`,
    },
  };
};

/** @see https://developers.openai.com/codex/mcp */
const codex: Setup = (mcp, key) => ({
  id: "codex",
  name: "Codex",
  instructions: texts.addThisTo({ file: "~/.codex/config.toml" }),
  text: `[mcp_servers.millrace]\nurl = "${mcp}"\nhttp_headers = { "X-API-Key" = "${key}" }`,
});

/** @see https://geminicli.com/docs/tools/mcp-server */
const geminiCli: Setup = (mcp, key) => ({
  id: "gemini-cli",
  name: "Gemini CLI",
  instructions: texts.runInTerminal,
  text: `gemini mcp add --scope user --transport http --header "X-API-Key: ${key}" millrace ${mcp}`,
});

/** @see https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers */
const copilotCli: Setup = (mcp, key) => ({
  id: "copilot-cli",
  name: "GitHub Copilot CLI",
  instructions: texts.addThisTo({ file: "~/.copilot/mcp-config.json" }),
  text: json({
    mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key), tools: ["*"] } },
  }),
});

/** @see https://docs.windsurf.com/windsurf/cascade/mcp */
const windsurf: Setup = (mcp, key) => ({
  id: "windsurf",
  name: "Windsurf",
  instructions: texts.windsurfHelp,
  text: json({ mcpServers: { millrace: { serverUrl: mcp, headers: headersOf(key) } } }),
});

/** @see https://www.jetbrains.com/help/ai-assistant/mcp.html */
const jetbrains: Setup = (mcp, key) => ({
  id: "jetbrains",
  name: "JetBrains IDEs",
  instructions: texts.jetbrainsHelp,
  text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key) } } }),
});

/** @see https://zed.dev/docs/ai/mcp */
const zed: Setup = (mcp, key) => ({
  id: "zed",
  name: "Zed",
  instructions: texts.zedHelp,
  text: json({ context_servers: { millrace: { url: mcp, headers: headersOf(key) } } }),
});

/** @see https://opencode.ai/docs/mcp-servers.md (version 2) */
const opencode: Setup = (mcp, key) => ({
  id: "opencode",
  name: "opencode",
  instructions: texts.opencodeHelp,
  text: json({
    $schema: "https://opencode.ai/config.json",
    mcp: { servers: { millrace: { type: "remote", url: mcp, headers: headersOf(key) } } },
  }),
});

const http: Setup = (mcp, key) => ({
  id: "http",
  name: texts.otherHttp,
  instructions: texts.otherHttpHelp,
  text: json({ mcpServers: { millrace: { type: "http", url: mcp, headers: headersOf(key) } } }),
});

/** @see https://www.npmjs.com/package/mcp-remote */
const stdio: Setup = (mcp, key) => ({
  id: "stdio",
  name: texts.otherStdio,
  instructions: texts.otherStdioHelp,
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
  name: texts.otherSse,
  instructions: texts.otherSseHelp,
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
