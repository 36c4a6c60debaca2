/** Checks that clients reach the MCP server at its public URL, with all paths that they use. Doctor and the web interface do it. */
import { boundedFetch } from "./bounded-fetch.ts";
import { MCP_PATHS } from "./mcp-resource.ts";
import { pathPrefixOf, webBase, wellKnownUrl } from "./public-url.ts";

/** How long a response may take, in milliseconds. */
const LIMIT_MS = 3_000;
/** Maximum size of a response, in bytes. */
const MAX_BYTES = 10_000;

/** What clients open: the stream, the messages that its first event leads to, and Streamable HTTP. */
const PATHS = [
  ["GET", "/sse"],
  ["POST", "/messages"],
  ["POST", "/mcp"],
] as const;

/** `unchecked`: the URL can't be reached from here, which says nothing about clients elsewhere. */
export interface McpUrlCheck {
  status: "ok" | "warning" | "unchecked";
  /** A clause without its period. */
  detail: string;
  /** What the operator can do, in whole sentences; undefined if there is nothing to do. */
  fix?: string;
}

/** The path of the metadata that a server names in its challenge; undefined where OAuth is off. */
interface Millrace {
  metadata: string | undefined;
}
type Answer = Millrace | "other" | "unreachable";

/**
 * Asks for each path without a key, which the MCP server refuses in a form of its own. The first event of `/sse` leads clients to
 * `/messages` below the path of the public URL, so a proxy that passes only `/sse` on breaks them after the connection.
 * @param base the public URL, without the path of a transport
 * @param send `fetch`, with the proxies of the settings
 */
export async function checkMcpUrl(base: string, send: typeof fetch): Promise<McpUrlCheck> {
  const answers = await Promise.all(PATHS.map(([method, path]) => ask(send, method, base, path)));
  if (answers.every((answer) => answer === "unreachable"))
    return {
      status: "unchecked",
      detail: `${base} can't be reached from the machine of the server, so it was not checked`,
      fix: "If clients can't reach it either, correct MILLRACE_MCP_URL, the name in DNS, or the firewall.",
    };
  const servers = answers.filter((answer) => typeof answer === "object");
  const names = servers.flatMap(({ metadata }) => (metadata === undefined ? [] : [metadata]));
  const wellKnown = wellKnownUrl("oauth-protected-resource", base);
  if (names.some((name) => !MCP_PATHS.some((path) => name === wellKnown + path)))
    return {
      status: "warning",
      detail: `the MCP server at ${base} was started with another MILLRACE_MCP_URL: its stream leads clients to other paths`,
      fix: "Set MILLRACE_MCP_URL to the same URL for all processes, and restart mcp-sse.",
    };
  const missing = PATHS.filter((_, index) => typeof answers[index] !== "object").map(
    ([, path]) => base + path,
  );
  if (missing.length > 0)
    return {
      status: "warning",
      detail: `${missing.join(", ")} ${missing.length === 1 ? "does" : "do"} not lead to the MCP server`,
      fix: `Pass /mcp, /sse and /messages below ${base} on to the port of mcp-sse, or set MILLRACE_MCP_URL to the URL at which they are.`,
    };
  const documents = [...new Set(names)];
  const found = await Promise.all(documents.map((url) => isMetadata(send, url)));
  const absent = documents.filter((_, index) => found[index] === false);
  if (absent.length > 0)
    return {
      status: "warning",
      detail: `${base}: clients with a key can connect, but those that sign in find no metadata at ${absent.join(", ")}`,
      fix: `Pass ${new URL(wellKnown).pathname} and the paths below it on to the port of mcp-sse.`,
    };
  const unseen = servers.some(({ metadata }) => metadata === undefined)
    ? "; whether it was started with this URL was not checked, because it does not name its URL where OAuth is off"
    : "";
  return { status: "ok", detail: `${base}: /mcp, /sse and /messages lead to the MCP server${unseen}` };
}

/** @throws an error when there is no response in time */
async function request(send: typeof fetch, method: string, url: string): Promise<Response> {
  return boundedFetch(
    send,
    url,
    { method, redirect: "manual" },
    {
      maxBytes: MAX_BYTES,
      timeoutMs: LIMIT_MS,
      tooLarge: () => new Error("the response is too large"),
    },
  );
}

async function ask(send: typeof fetch, method: string, base: string, path: string): Promise<Answer> {
  let response: Response;
  try {
    response = await request(send, method, base + path);
  } catch {
    return "unreachable";
  }
  const problem = (await response.json().catch(() => undefined)) as { type?: unknown } | null | undefined;
  if (response.status !== 401 || problem?.type !== "urn:millrace:problem:unauthorized") return "other";
  const challenge = response.headers.get("WWW-Authenticate") ?? "";
  return { metadata: /resource_metadata="([^"]*)"/.exec(challenge)?.[1] };
}

/** Whether the metadata of a protected resource is at a URL (RFC 9728, section 3.2). */
async function isMetadata(send: typeof fetch, url: string): Promise<boolean> {
  try {
    const response = await request(send, "GET", url);
    const document = (await response.json()) as { resource?: unknown } | null;
    return response.status === 200 && typeof document?.resource === "string";
  } catch {
    return false;
  }
}

/**
 * Says what is missing where the web server has a path of its own and the URL of the MCP server is not set.
 * @returns undefined if nothing is missing
 */
export function missingMcpUrl({
  baseUrl,
  mcpUrl,
}: {
  baseUrl: URL | undefined;
  mcpUrl: URL | undefined;
}): { detail: string; fix: string } | undefined {
  const base = baseUrl && webBase(baseUrl);
  const path = pathPrefixOf(base);
  if (base === undefined || path === "" || mcpUrl !== undefined) return undefined;
  return {
    detail: `MILLRACE_BASE_URL has the path ${path}, but MILLRACE_MCP_URL is not set: agents are led to the root of a port of ${baseUrl!.hostname}`,
    fix: `Set MILLRACE_MCP_URL to the URL of the MCP server, such as ${base}/mcp, for all processes.`,
  };
}
