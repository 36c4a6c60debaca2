/** Where the servers listen, and by what address people reach them. */
import { createServer } from "node:net";
import { Health } from "../../../schemas/health.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { VERSION } from "../../app/build.ts";
import type { Settings } from "../../config/environment.ts";
import { readBoundedBody } from "../../core/read-bounded-body.ts";
import { isLoopback, reachableHost } from "../../core/hosts.ts";
import { runCheck, type CheckResult, checkResultsOf } from "./check-result.ts";

const GROUP = "Addresses";
const { ok, warning, error } = checkResultsOf(GROUP);
const HEALTH_MS = 3_000;
const LARGEST_HEALTH = 10_000;

/**
 * Whether a server can listen there, or which Millrace does already.
 * @param found is given what a Millrace there says of itself
 */
export function checkPort(
  server: string,
  host: string,
  port: number,
  found: (health: Health) => void = () => {},
): Promise<CheckResult[]> {
  const what = `port ${port}`;
  const mend = `End what listens there, or give ${server} another port (doctor too, with the same option).`;
  return runCheck({ group: GROUP, what, mend }, async (signal) => {
    const code = await listenFailure(host, port);
    if (code === undefined) return ok(what, `free for ${server}`);
    if (code !== "EADDRINUSE")
      return error(
        what,
        code === "EACCES"
          ? "this user may not listen there"
          : `${host} can't be listened at (${code}): no address of this machine`,
        code === "EACCES" ? "Choose a port above 1023." : "Choose another with --host or MILLRACE_HOST.",
      );
    const health = await healthAt(`http://${reachableHost(host)}:${port}/health`, signal);
    if (health === undefined) return error(what, "taken by another program", mend);
    found(health);
    if (health.status !== "ok")
      return warning(
        what,
        `Millrace ${health.version} listens there and is ${health.status}: ${health.detail ?? "it does not say why"}`,
        health.status === "draining"
          ? "It is about to end; look again in a minute."
          : "Do as it says; what stands under State and its log say more.",
      );
    return health.version === VERSION
      ? ok(what, `Millrace ${VERSION} listens there and is healthy`)
      : warning(
          what,
          `Millrace ${health.version} listens there, and this is ${VERSION}`,
          `Restart ${server} with this release, or run the doctor of that one.`,
        );
  });
}

/** The system's code where it can't be listened at; undefined where it can. */
function listenFailure(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function healthAt(url: string, signal: AbortSignal): Promise<Health | undefined> {
  try {
    const answer = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(HEALTH_MS)]),
    });
    const body = await readBoundedBody(answer.body, LARGEST_HEALTH, () => new Error("too large"));
    return Health.safeParse(JSON.parse(body.toString("utf8"))).data;
  } catch {
    // Whatever it says, it is no health of ours.
    return undefined;
  }
}

/**
 * Whether the addresses fit each other.
 * @param host where the servers listen
 * @param mode how people sign in
 */
export function checkAddresses(
  { baseUrl, mcpUrl, trustedProxies }: Pick<Settings, "baseUrl" | "mcpUrl" | "trustedProxies">,
  host: string,
  mode: AuthMode = "built-in",
): CheckResult[] {
  const what = "base URL";
  const passwords = mode === "built-in";
  const verdicts: CheckResult[] = [];
  if (trustedProxies.some((it) => /\/0+$/.test(it)))
    verdicts.push(
      warning(
        "trusted proxies",
        `everybody is trusted: whoever can reach the port may claim any address${passwords ? ", also to the sign-in's throttle" : ""}`,
        "Name the addresses of the proxies alone in MILLRACE_TRUSTED_PROXIES.",
      ),
    );
  if (baseUrl === undefined) {
    verdicts.push(
      isLoopback(host)
        ? ok(what, "none: people reach it on this machine only")
        : warning(
            what,
            `none, though it listens at ${host}: other names than localhost are refused by the MCP server, and links in mails lead nowhere`,
            "Set MILLRACE_BASE_URL to the URL by which people reach it.",
          ),
    );
    return verdicts;
  }
  const odd: CheckResult[] = [];
  if (baseUrl.pathname !== "/" || baseUrl.search !== "")
    odd.push(
      warning(
        what,
        `${baseUrl.href} has a path, which is left out: everything is served from the root of ${baseUrl.host}`,
        "Give Millrace a host name of its own, and set MILLRACE_BASE_URL without a path.",
      ),
    );
  if (baseUrl.protocol === "http:" && !isLoopback(baseUrl.hostname))
    odd.push(
      warning(
        what,
        `${baseUrl.origin} is not encrypted: ${passwords ? "passwords" : "sessions"} and keys cross the network in the clear`,
        "Put a proxy with a certificate in front, and set MILLRACE_BASE_URL to its https URL.",
      ),
    );
  if (baseUrl.protocol === "https:" && trustedProxies.length === 0)
    odd.push(
      warning(
        what,
        `${baseUrl.origin} is https, which only a proxy can give, but none is trusted: all people count as one address${passwords ? ", so one who guesses passwords locks out everybody" : ""}`,
        "Set MILLRACE_TRUSTED_PROXIES to the addresses of the proxy.",
      ),
    );
  if (mcpUrl !== undefined && mcpUrl.protocol === "http:" && baseUrl.protocol === "https:")
    odd.push(
      warning(
        "MCP URL",
        `${mcpUrl.origin} is not encrypted, and the base URL is`,
        "Set MILLRACE_MCP_URL to an https URL.",
      ),
    );
  return [...verdicts, ...(odd.length > 0 ? odd : [ok(what, baseUrl.origin)])];
}
