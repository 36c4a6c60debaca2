/** Checks the outgoing proxy, and what is reached through it. */
import { request } from "node:http";
import type { Settings } from "../../config/environment.ts";
import { hostForUrl, plainHost } from "../../core/hosts.ts";
import { type OutgoingProxies, type OutgoingProxy, proxyPlace } from "../../core/outgoing-proxy.ts";
import { isLoginRefusal, openProxy, openTunnel } from "../../core/proxy-tunnel.ts";
import { type CheckResult, checkResultsOf, runCheck } from "./check-result.ts";
import { probeTcp } from "./tcp-probe.ts";

const GROUP = "Addresses";
const { ok, error } = checkResultsOf(GROUP);

/**
 * Checks that each outgoing proxy answers, and shows it without its credentials.
 * @param proxyResolves http.proxy_resolves of the configuration
 */
export async function checkProxies(
  { proxies }: Pick<Settings, "proxies">,
  proxyResolves: boolean,
): Promise<CheckResult[]> {
  const names = proxyResolves
    ? "the proxy looks up the names of http steps"
    : "names of http steps are looked up on this machine";
  const except = proxies.noProxy === "" ? "" : `; direct: ${proxies.noProxy}`;
  const results = await Promise.all(proxies.all.map((proxy) => checkProxy(proxy, `${names}${except}`)));
  return results.flat();
}

function checkProxy(proxy: OutgoingProxy, facts: string): Promise<CheckResult[]> {
  const { variable, url, authorization } = proxy;
  const check = `outgoing proxy ${variable}`;
  const fix = `Check host and port in ${variable}, and that the proxy accepts connections from this machine.`;
  const shown = `${url.origin}${authorization === null ? "" : " (with a user name)"}`;
  return runCheck({ group: GROUP, check, fix }, async (signal) => {
    const status = await askProxy(proxy, signal).catch((cause: unknown) => {
      throw new Error(`${shown}: ${(cause as Error).message}`);
    });
    if (!isLoginRefusal(status)) return ok(check, `${shown} answers; ${facts}`);
    return error(
      check,
      `${shown} answers, but ${authorization === null ? "requires a user name and a password" : "refuses its user name or password"}`,
      `Write them into ${variable} as http://user:password@host:port, with special characters percent-encoded.`,
    );
  });
}

/** Sends a request that is for the proxy itself (RFC 9110, section 9.3.7). @returns the status of its answer */
async function askProxy(proxy: OutgoingProxy, signal: AbortSignal): Promise<number> {
  const socket = await openProxy(proxy, signal);
  const { host, port } = proxyPlace(proxy);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asking = request({
    method: "OPTIONS",
    path: "*",
    headers: {
      host: `${hostForUrl(host)}:${port}`,
      "max-forwards": "0",
      ...(proxy.authorization !== null && { "proxy-authorization": proxy.authorization }),
    },
    createConnection: () => socket,
    signal,
  });
  asking.once("response", ({ statusCode = 0 }) => resolve(statusCode));
  asking.once("error", reject);
  asking.end();
  return promise.finally(() => socket.destroy());
}

/**
 * Connects to the host of a URL as requests to it do, without sending anything to it.
 * @throws Error that says why it cannot be reached
 */
export async function probeUrl(url: URL, proxies: OutgoingProxies, signal: AbortSignal): Promise<void> {
  const proxy = proxies.proxyFor(url);
  if (proxy === null) return probeTcp(url, signal);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const authority = `${hostForUrl(plainHost(url.hostname))}:${port}`;
  // Requests to http URLs are sent to the proxy itself.
  const opening = url.protocol === "http:" ? openProxy(proxy, signal) : openTunnel(proxy, authority);
  const socket = await opening.catch((cause: unknown) => {
    throw new Error(`${authority} cannot be reached: ${(cause as Error).message}`);
  });
  socket.destroy();
}
