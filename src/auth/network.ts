import { isIPv6 } from "node:net";

/**
 * Whose address it is, for counting: IPv6 by its /64, which is what one customer has at least; IPv4 mapped into IPv6
 * as IPv4 (RFC 4291, 2.5.5.2); anything else as it is.
 */
export function networkOf(address: string): string {
  const [bare = ""] = address.split("%");
  if (!isIPv6(bare)) return bare;
  // The URL parser writes every spelling in the one canonical way.
  const [head = "", tail = ""] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split("::");
  const [left, right] = [head, tail].map((part) => part.split(":").filter(Boolean)) as [string[], string[]];
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  const mapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  if (!mapped) return `${groups.slice(0, 4).join(":")}::/64`;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join(".");
}
