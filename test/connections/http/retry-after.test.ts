import { describe, expect, it } from "vitest";
import { retryAfterMs } from "../../../src/connections/http/retry-after.ts";

const NOW = Date.parse("2026-11-21T08:00:00.000Z");

describe("retryAfterMs", () => {
  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Sat, 21 Nov 2026 08:01:30 GMT" }, 90_000],
    [{ "retry-after": "Saturday, 21-Nov-26 08:01:30 GMT" }, 90_000],
    [{ "retry-after": "Sat, 21 Nov 2026 07:00:00 GMT" }, 0],
    [{ "retry-after": "Sat, 21 Nov 2099 07:00:00 GMT" }, 86_400_000],
    [{ "retry-after": "999999999" }, 86_400_000],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  ])("reads %o", (headers, expected) => {
    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });

  it.each([[{}], [{ "retry-after": "" }], [{ "retry-after": "soon" }], [{ "retry-after": "-5" }]])(
    "ignores %o",
    (headers) => {
      expect(retryAfterMs(headers, NOW)).toBeUndefined();
    },
  );
});
