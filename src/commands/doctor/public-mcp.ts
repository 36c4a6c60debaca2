/** Checks that clients reach the MCP server at its public URL, with all paths that they use. */
import type { Settings } from "../../config/environment.ts";
import { boundedFetch } from "../../core/bounded-fetch.ts";
import { MCP_PATHS, mcpBase } from "../../core/mcp-resource.ts";
import { wellKnownUrl } from "../../core/public-url.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning } = checkResultsOf("Addresses");
const CHECK = "MCP URL";
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

/**
 * `elsewhere`: a Millrace whose MILLRACE_MCP_URL is another one, so that its first event leads elsewhere. `unnamed`: a Millrace that
 * does not name its URL, because OAuth is off.
 */
type Answer = "millrace" | "elsewhere" | "unnamed" | "other" | "unreachable";

/**
 * Asks for each path without a key, which the MCP server refuses in a form of its own. The first event of `/sse` leads clients to
 * `/messages` below the path of the public URL, so a proxy that passes only `/sse` on breaks them after the connection.
 * @param send `fetch`, with the proxies of the settings
 */
export async function checkPublicMcp(
  { mcpUrl }: Pick<Settings, "mcpUrl">,
  send: typeof fetch,
): Promise<CheckResult[]> {
  if (mcpUrl === undefined) return [];
  const base = mcpBase(mcpUrl);
  const answers = await Promise.all(PATHS.map(([method, path]) => ask(send, method, base, path)));
  if (answers.every((answer) => answer === "unreachable"))
    return [ok(CHECK, `${base} can't be reached from this machine, so it was not checked`)];
  if (answers.includes("elsewhere"))
    return [
      warning(
        CHECK,
        `the MCP server at ${base} was started with another MILLRACE_MCP_URL: its stream leads clients to other paths`,
        "Set MILLRACE_MCP_URL to the same URL for all processes, and restart mcp-sse.",
      ),
    ];
  const missing = PATHS.filter((_, index) => !isMillrace(answers[index]!)).map(([, path]) => base + path);
  const unseen = answers.includes("unnamed")
    ? "; whether it was started with this URL was not checked, because it does not name its URL where OAuth is off"
    : "";
  return missing.length === 0
    ? [ok(CHECK, `${base}: /mcp, /sse and /messages lead to the MCP server${unseen}`)]
    : [
        warning(
          CHECK,
          `${missing.join(", ")} ${missing.length === 1 ? "does" : "do"} not lead to the MCP server`,
          `Pass /mcp, /sse and /messages below ${base} on to the port of mcp-sse, or set MILLRACE_MCP_URL to the URL at which they are.`,
        ),
      ];
}

const isMillrace = (answer: Answer): boolean => answer === "millrace" || answer === "unnamed";

async function ask(send: typeof fetch, method: string, base: string, path: string): Promise<Answer> {
  const limits = {
    maxBytes: MAX_BYTES,
    timeoutMs: LIMIT_MS,
    tooLarge: () => new Error("the response is too large"),
  };
  let response: Response;
  try {
    response = await boundedFetch(send, base + path, { method, redirect: "manual" }, limits);
  } catch {
    return "unreachable";
  }
  const problem = (await response.json().catch(() => undefined)) as { type?: unknown } | null | undefined;
  if (response.status !== 401 || problem?.type !== "urn:millrace:problem:unauthorized") return "other";
  const [, metadata] =
    /resource_metadata="([^"]*)"/.exec(response.headers.get("WWW-Authenticate") ?? "") ?? [];
  if (metadata === undefined) return "unnamed";
  return MCP_PATHS.some((at) => metadata === wellKnownUrl("oauth-protected-resource", base) + at)
    ? "millrace"
    : "elsewhere";
}
