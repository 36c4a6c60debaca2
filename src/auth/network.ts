import { BlockList, isIPv4, isIPv6 } from "node:net";

/** What stands behind an IPv4 address or `[…]`: the port that some proxies add (Azure; AWS where told to). */
const ADDRESS_AND_PORT = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/;

/**
 * Whose address it is, for counting: IPv6 by its /64, which is what one customer has at least; IPv4 mapped into IPv6
 * as IPv4 (RFC 4291, 2.5.5.2); anything else as it is. The port that a proxy has put behind it does not count.
 */
export function networkOf(address: string): string {
  const groups = groupsOf(address);
  return typeof groups === "string" ? groups : `${groups.slice(0, 4).join(":")}::/64`;
}

/** The /48 of an IPv6 address, which is what one customer has at most (RFC 6177); undefined for any other. */
export function ipv6SiteOf(address: string): string | undefined {
  const groups = groupsOf(address);
  return typeof groups === "string" ? undefined : `${groups.slice(0, 3).join(":")}::/48`;
}

/** The eight groups of an IPv6 address; an IPv4 address, or whatever else it is, as text. */
function groupsOf(address: string): readonly string[] | string {
  const [, inBrackets, beforePort] = ADDRESS_AND_PORT.exec(address) ?? [];
  const [bare = ""] = (inBrackets ?? beforePort ?? address).split("%");
  if (!isIPv6(bare)) return bare;
  // The URL parser writes every spelling in the one canonical way.
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

/** Whether an address is one of a list of addresses and ranges (`10.0.0.0/8`, `::1`); IPv4 mapped into IPv6 is IPv4. */
export function addressMatcher(list: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  for (const entry of list) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const plain = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
    return known.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
  };
}
