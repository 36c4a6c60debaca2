import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../src/connections/http/addresses.ts";
import { hostPortOf } from "../../../src/core/host-patterns.ts";

const hex = (value: number): string => `0x${value.toString(16)}`;
const octal = (value: number): string => `0${value.toString(8)}`;
const byte = fc.integer({ min: 0, max: 255 });

describe("isPublicAddress", () => {
  it.each([
    ["0.0.0.0"],
    ["0.1.2.3"],
    ["10.0.0.1"],
    ["10.255.255.255"],
    ["100.64.0.1"],
    ["100.127.255.255"],
    ["100.100.100.200"],
    ["127.0.0.1"],
    ["127.255.255.254"],
    ["169.254.169.254"],
    ["172.16.0.1"],
    ["172.31.255.255"],
    ["192.0.0.192"],
    ["192.168.1.1"],
    ["198.18.0.1"],
    ["198.19.255.255"],
    ["224.0.0.1"],
    ["239.255.255.255"],
    ["240.0.0.1"],
    ["255.255.255.255"],
    ["168.63.129.16"],
    ["::"],
    ["::1"],
    ["::7f00:1"],
    ["::ffff:127.0.0.1"],
    ["::ffff:a00:1"],
    ["::ffff:0:7f00:1"],
    ["64:ff9b::a00:1"],
    ["64:ff9b:1::a00:1"],
    ["100::1"],
    ["2001::1"],
    ["2001:db8::1"],
    ["2002:7f00:1::"],
    ["2002:a00:1::1"],
    ["fc00::1"],
    ["fd00:ec2::254"],
    ["fe80::1"],
    ["fe80::1%eth0"],
    ["febf::1"],
    ["fec0::1"],
    ["ff02::1"],
    ["localhost"],
    [""],
  ])("refuses %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    ["1.1.1.1"],
    ["9.255.255.255"],
    ["11.0.0.0"],
    ["100.63.255.255"],
    ["100.128.0.0"],
    ["126.255.255.255"],
    ["128.0.0.1"],
    ["169.253.255.255"],
    ["172.15.255.255"],
    ["172.32.0.0"],
    ["192.167.255.255"],
    ["198.17.255.255"],
    ["198.20.0.0"],
    ["223.255.255.255"],
    ["2606:4700:4700::1111"],
    ["2a00:1450:4001::1"],
    ["2003::1"],
  ])("accepts %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it("refuses a private address in every spelling that a URL can have", () => {
    fc.assert(
      fc.property(fc.constantFrom(10, 127), byte, byte, byte, (a, b, c, d) => {
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const spellings = [
          `${a}.${b}.${c}.${d}`,
          String(number),
          hex(number),
          octal(number),
          [a, b, c, d].map(hex).join("."),
          [a, b, c, d].map(octal).join("."),
          `${a}.${b}.${c * 256 + d}`,
          `${a}.${(b * 256 + c) * 256 + d}`,
          `${a}.${b}.${c}.${d}.`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[::${a}.${b}.${c}.${d}]`,
          `[64:ff9b::${a}.${b}.${c}.${d}]`,
          `%31${String(a).slice(1)}.${b}.${c}.${d}`,
          `${a}。${b}。${c}。${d}`,
        ];
        for (const spelling of spellings)
          expect(isPublicAddress(hostPortOf(new URL(`http://${spelling}/`)).host)).toBe(false);
      }),
    );
  });
});
