/** Checks the ports that the servers listen on and the addresses that people reach them by. */
import { createServer } from "node:net";
import { Health } from "../../../schemas/health.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { VERSION } from "../../app/build.ts";
import type { Settings } from "../../config/environment.ts";
import { boundedFetch } from "../../core/bounded-fetch.ts";
import { isLoopback, reachableHost } from "../../core/hosts.ts";
import { webBase } from "../../core/public-url.ts";
import { runCheck, type CheckResult, checkResultsOf } from "./check-result.ts";

const GROUP = "Addresses";
const { ok, warning, error } = checkResultsOf(GROUP);
/** How long /health may take, in milliseconds. */
const HEALTH_LIMIT_MS = 3_000;
/** Maximum size of the response of /health, in bytes. */
const MAX_HEALTH_BYTES = 10_000;

/**
 * Checks whether a server can listen on a port, or which Millrace already does.
 * @param onHealth is called with the health of a Millrace that listens there
 */
export function checkPort(
  server: string,
  host: string,
  port: number,
  onHealth: (health: Health) => void = () => {},
): Promise<CheckResult[]> {
  const check = `port ${port}`;
  const fix = `Stop the program that listens there, or use another port for ${server} (and for doctor, with the same option).`;
  return runCheck({ group: GROUP, check, fix }, async (signal) => {
    const code = await listenFailure(host, port);
    if (code === undefined) return ok(check, `free for ${server}`);
    if (code !== "EADDRINUSE")
      return error(
        check,
        code === "EACCES"
          ? "this user has no permission to listen on this port"
          : `cannot listen on ${host} (${code}): this machine does not have this address`,
        code === "EACCES"
          ? "Choose a port above 1023."
          : "Choose another address with --host or MILLRACE_HOST.",
      );
    const health = await healthAt(`http://${reachableHost(host)}:${port}/health`, signal);
    if (health === undefined) return error(check, "used by another program", fix);
    onHealth(health);
    if (health.status !== "ok")
      return warning(
        check,
        `Millrace ${health.version} listens there and is ${health.status}: ${health.detail ?? "no reason given"}`,
        health.status === "draining"
          ? "It is shutting down. Run doctor again in a minute."
          : "Follow that message. The checks under State and the log of that process say more.",
      );
    return health.version === VERSION
      ? ok(check, `Millrace ${VERSION} listens there and is healthy`)
      : warning(
          check,
          `Millrace ${health.version} listens there, but this is release ${VERSION}`,
          `Restart ${server} with this release, or run doctor of that release.`,
        );
  });
}

/** Tries to listen on a port. @returns the system's error code; undefined if it is free */
function listenFailure(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function healthAt(url: string, signal: AbortSignal): Promise<Health | undefined> {
  try {
    const limits = {
      maxBytes: MAX_HEALTH_BYTES,
      timeoutMs: HEALTH_LIMIT_MS,
      tooLarge: () => new Error("the response is too large"),
    };
    const response = await boundedFetch(fetch, url, { redirect: "manual", signal }, limits);
    return Health.safeParse(await response.json()).data;
  } catch {
    // Not a Millrace.
    return undefined;
  }
}

/**
 * Checks that the configured addresses fit each other.
 * @param host address that the servers listen on
 * @param mode how people sign in
 */
export function checkAddresses(
  { baseUrl, mcpUrl, trustedProxies }: Pick<Settings, "baseUrl" | "mcpUrl" | "trustedProxies">,
  host: string,
  mode: AuthMode = "built-in",
): CheckResult[] {
  const check = "base URL";
  const passwords = mode === "built-in";
  const results: CheckResult[] = [];
  if (trustedProxies.some((range) => /\/0+$/.test(range)))
    results.push(
      warning(
        "trusted proxies",
        `all addresses are trusted: anyone who can reach the port can claim any client address${passwords ? " and so avoid the limit on sign-in attempts" : ""}`,
        "Set MILLRACE_TRUSTED_PROXIES to the addresses of the proxies only.",
      ),
    );
  if (baseUrl === undefined) {
    results.push(
      isLoopback(host)
        ? ok(check, "not set: the servers can be reached only on this machine")
        : warning(
            check,
            `not set, but the servers listen on ${host}: the MCP server refuses all names except localhost, and links in e-mails do not work`,
            "Set MILLRACE_BASE_URL to the URL that people use.",
          ),
    );
    return results;
  }
  const warnings: CheckResult[] = [];
  if (baseUrl.search !== "" || baseUrl.hash !== "")
    warnings.push(
      warning(
        check,
        `${baseUrl.href} has a query or a fragment, which is ignored`,
        `Set MILLRACE_BASE_URL to ${webBase(baseUrl)}.`,
      ),
    );
  if (baseUrl.protocol === "http:" && !isLoopback(baseUrl.hostname))
    warnings.push(
      warning(
        check,
        `${baseUrl.origin} is not encrypted: anyone on the network can read ${passwords ? "passwords" : "sessions"} and API keys`,
        "Put a TLS proxy in front of Millrace, and set MILLRACE_BASE_URL to its https URL.",
      ),
    );
  if (baseUrl.protocol === "https:" && trustedProxies.length === 0)
    warnings.push(
      warning(
        check,
        `${baseUrl.origin} is https, which needs a proxy, but no proxy is trusted: all clients count as one address${passwords ? ", so one person who guesses passwords locks out everyone" : ""}`,
        "Set MILLRACE_TRUSTED_PROXIES to the addresses of the proxy.",
      ),
    );
  if (mcpUrl !== undefined && mcpUrl.protocol === "http:" && baseUrl.protocol === "https:")
    warnings.push(
      warning(
        "MCP URL",
        `${mcpUrl.origin} is not encrypted, but the base URL is`,
        "Set MILLRACE_MCP_URL to an https URL.",
      ),
    );
  return [...results, ...(warnings.length > 0 ? warnings : [ok(check, webBase(baseUrl))])];
}
