import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";

describe("iso", () => {
  it("sorts as text in the order of time", () => {
    const time = fc.integer({ min: 0, max: 300_000_000_000_000 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        expect(iso(Math.min(a, b)) <= iso(Math.max(a, b))).toBe(true);
      }),
    );
  });

  it("limits times to the year 9999, after which a sign would sort before every digit", () => {
    expect(iso(Date.parse("9999-12-31T23:59:59.999Z") + 1)).toBe("9999-12-31T23:59:59.999Z");
    expect(iso(Number.MAX_SAFE_INTEGER)).toBe("9999-12-31T23:59:59.999Z");
  });
});
