import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { customerOf, networkLimit } from "../../src/surfaces/network-limit.ts";

/** A limit of 10 a minute, and a function that says whether a request from an address is within it. */
function openLimit() {
  let now = 1_000;
  const assertBelow = networkLimit(10, "events", () => now);
  const isAccepted = (address: string): boolean => {
    try {
      assertBelow(address);
      return true;
    } catch {
      return false;
    }
  };
  return { assertBelow, isAccepted, wait: (ms: number) => (now += ms) };
}

const count = (times: number, isAccepted: (index: number) => boolean): number =>
  Array.from({ length: times }, (_, index) => isAccepted(index)).filter(Boolean).length;

describe("networkLimit", () => {
  it("counts each network for itself, for a minute, and says when the next one is accepted", () => {
    const { assertBelow, isAccepted, wait } = openLimit();
    expect(count(15, () => isAccepted("192.0.2.1"))).toBe(10);
    expect(count(15, () => isAccepted("192.0.2.2"))).toBe(10);
    expect(() => assertBelow("192.0.2.2")).toThrow(
      "Your network has sent more than 10 events in a minute. Try again in 60 s.",
    );
    wait(MINUTE + 1);
    expect(isAccepted("192.0.2.1")).toBe(true);
  });

  it("counts the addresses of an IPv6 /64 together, and the networks of a /48", () => {
    const { isAccepted } = openLimit();
    expect(count(15, (host) => isAccepted(`2001:db8:1:1::${host + 1}`))).toBe(10);
    // The five that were refused did not reach the count of the site.
    expect(count(100, (network) => isAccepted(`2001:db8:1:${(network + 2).toString(16)}::1`))).toBe(30);
    expect(isAccepted("2001:db8:2:1::1")).toBe(true);
  });
});

describe("customerOf", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2::3", "2001:db8:1::/48"],
  ])("is the most that one customer has: %s", (address, customer) => {
    expect(customerOf(address)).toBe(customer);
  });
});
