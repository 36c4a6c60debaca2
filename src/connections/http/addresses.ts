/**
 * Decides which addresses are public. IPv4: all except special-purpose ranges; IPv6: only global unicast, without
 * special-purpose ranges (IANA's registries, RFC 6890). New or unknown IPv6 ranges count as not public.
 */
import { BlockList, isIP } from "node:net";

const SPECIAL_4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast and, above it, reserved and broadcast.
  ["224.0.0.0", 3],
  // The metadata service of Azure uses this public address.
  ["168.63.129.16", 32],
];

const SPECIAL_6: readonly [string, number][] = [
  // IETF protocols, including Teredo.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4 carries an IPv4 address.
  ["2002::", 16],
  ["3fff::", 20],
];

const special4 = listOf(SPECIAL_4, "ipv4");
const special6 = listOf(SPECIAL_6, "ipv6");
// Excludes loopback, IPv4-mapped and -compatible, NAT64, unique local, link-local and multicast addresses.
const global6 = listOf([["2000::", 3]], "ipv6");

/**
 * Whether an address is public.
 * @param address as resolvers and WHATWG URLs write it, IPv6 without brackets; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special4.check(address, "ipv4");
  // A zone (fe80::1%eth0) only goes with addresses that are not global.
  if (family !== 6 || address.includes("%")) return false;
  return global6.check(address, "ipv6") && !special6.check(address, "ipv6");
}

function listOf(subnets: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
