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
    [{ "retry-after": "Sat Nov 21 08:01:30 2026" }, 90_000],
    [{ "retry-after": "Sat, 21 Nov 2026 07:00:00 GMT" }, 0],
    [{ "retry-after": "Sat, 21 Nov 2099 07:00:00 GMT" }, 86_400_000],
    [{ "retry-after": "999999999" }, 86_400_000],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
    // The clock of the server, or ours, is an hour wrong.
    [{ "retry-after": "Sat, 21 Nov 2026 09:01:30 GMT", date: "Sat, 21 Nov 2026 09:00:00 GMT" }, 90_000],
    [{ "retry-after": "Sat, 21 Nov 2026 07:01:30 GMT", date: "Sat, 21 Nov 2026 07:00:00 GMT" }, 90_000],
    [{ "retry-after": "Sat, 21 Nov 2026 08:01:30 GMT", date: "now" }, 90_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795248090" }, 90_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795248090500" }, 90_500],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "45" }, 45_000],
    [{ "ratelimit-remaining": "0", "ratelimit-reset": "45" }, 45_000],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "45", "retry-after": "7" }, 7_000],
    [
      {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "1795251690",
        date: "Sat, 21 Nov 2026 09:00:00 GMT",
      },
      90_000,
    ],
  ])("reads %o", (headers, expected) => {
    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });

  it.each([
    [{}],
    [{ "retry-after": "" }],
    [{ "retry-after": "soon" }],
    [{ "retry-after": "-5" }],
    [{ "x-ratelimit-remaining": "12", "x-ratelimit-reset": "45" }],
    [{ "x-ratelimit-reset": "45" }],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "6m0s" }],
  ])("ignores %o", (headers) => {
    expect(retryAfterMs(headers, NOW)).toBeUndefined();
  });
});
