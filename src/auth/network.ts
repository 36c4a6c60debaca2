import { BlockList, isIPv4, isIPv6 } from "node:net";

/** An IPv4 address or `[…]` with the port that some proxies add (Azure; AWS if configured). */
const ADDRESS_AND_PORT = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/;

/**
 * The network of an address, for rate limits: the /64 of an IPv6 address, which is the least that one customer has; IPv4 mapped
 * into IPv6 as IPv4 (RFC 4291, 2.5.5.2); anything else unchanged. A port that a proxy added is removed.
 */
export function networkOf(address: string): string {
  const groups = groupsOf(address);
  return typeof groups === "string" ? groups : `${groups.slice(0, 4).join(":")}::/64`;
}

/** The /48 of an IPv6 address, the most that one customer has (RFC 6177); undefined for any other address. */
export function ipv6SiteOf(address: string): string | undefined {
  const groups = groupsOf(address);
  return typeof groups === "string" ? undefined : `${groups.slice(0, 3).join(":")}::/48`;
}

/** The eight groups of an IPv6 address; any other address as text. */
function groupsOf(address: string): readonly string[] | string {
  const [, inBrackets, beforePort] = ADDRESS_AND_PORT.exec(address) ?? [];
  const [bare = ""] = (inBrackets ?? beforePort ?? address).split("%");
  if (!isIPv6(bare)) return bare;
  // The URL parser normalizes every spelling.
  const [head = "", tail = ""] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split("::");
  const [left, right] = [head, tail].map((part) => part.split(":").filter(Boolean)) as [string[], string[]];
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  const mapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  if (!mapped) return groups;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join(".");
}

/**
 * Returns a function that tests whether an address is in a list of addresses and ranges (`10.0.0.0/8`, `::1`). Node compares IPv4
 * mapped into IPv6 as IPv4.
 */
export function addressMatcher(list: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  for (const entry of list) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(bits), family);
  }
  return (address) => known.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}
