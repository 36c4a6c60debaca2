/** Host names and IP addresses. */
import { BlockList, isIP, isIPv6 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a host, in brackets or not, is the local machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(bare);
  if (family === 0) return bare.toLowerCase() === "localhost";
  return loopback.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/** The host of a URL in lower case, without the brackets of IPv6 and without the dot at the end. */
export const plainHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

/** A host as URLs contain it: IPv6 addresses get brackets (RFC 3986, section 3.2.2). */
export const hostForUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The host under which the machine itself reaches a listener; the wildcard addresses can't be opened. */
export const reachableHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : hostForUrl(host);

const HOST = /^(?:([a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?)|\[([0-9a-f:.]{2,45})\])(?::([0-9]{1,5}))?$/i;

/**
 * Parses a `Host` by its grammar (RFC 9112, section 3.2) and not as a part of a URL, whose parser reads `127.0.0.1` from
 * `127.0.0.1#evil.com`. Names are ASCII, without a dot at the end.
 * @returns the name or address in lower case, IPv6 without brackets; undefined when it is not valid
 */
export function parseHost(text: string): { hostname: string; port: number | null } | undefined {
  const [matched, name, ipv6, digits] = HOST.exec(text) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (matched === undefined || (port !== null && (port === 0 || port > 65_535))) return undefined;
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { hostname: ipv6.toLowerCase(), port } : undefined;
  return name!.includes("..") ? undefined : { hostname: name!.toLowerCase(), port };
}

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)/i;

/**
 * Why the host that a request is for is not clear, as a message for the client; undefined when it is.
 * @param target the request target; an absolute one, as proxies send it, names a host too
 * @param hosts the values of all its `Host` headers
 */
export function hostIssue(target: string, hosts: readonly string[]): string | undefined {
  if (hosts.length > 1) return "The request has several Host headers. Send one.";
  const [host = ""] = hosts;
  if (host !== "" && parseHost(host) === undefined)
    return (
      "The Host header is not valid. It must be a host name or an address, with an optional port, such as " +
      "localhost:3000 or [::1]:3000."
    );
  const authority = ABSOLUTE_TARGET.exec(target)?.[1];
  if (authority === undefined || authority.toLowerCase() === host.toLowerCase()) return undefined;
  return "The request target names another host than the Host header. Send only the path as the target.";
}
