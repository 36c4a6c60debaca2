/** Host names and IP addresses. */
import { BlockList, isIP } from "node:net";

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

/** A host as URLs contain it: IPv6 addresses get brackets (RFC 3986, section 3.2.2). */
export const hostForUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The host under which the machine itself reaches a listener; the wildcard addresses can't be opened. */
export const reachableHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : hostForUrl(host);
