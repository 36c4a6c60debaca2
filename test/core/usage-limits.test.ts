import { describe, expect, it } from "vitest";
import {
  DEFAULT_PER_KEY_LIMITS,
  limitsInForce,
  maxUnfinished,
  perKeyLimits,
} from "../../src/core/usage-limits.ts";

describe("the limits in force", () => {
  it("are those of the configuration, else the defaults of a new installation", () => {
    expect(perKeyLimits({}, true)).toEqual(DEFAULT_PER_KEY_LIMITS);
    expect(perKeyLimits({}, false)).toEqual({});
    const configured = { runs_per_hour: null, rows_per_day: 7 };
    expect(perKeyLimits(configured, true)).toEqual({
      unfinished_runs: 20_000,
      rows_per_day: 7,
      stored_bytes: 10_737_418_240,
      mails_per_hour: 2_000,
      mails_to_address_per_hour: 200,
    });
    expect(limitsInForce(configured, true)).toEqual([
      { limit: "runs_per_hour", max: null, source: "configuration" },
      { limit: "unfinished_runs", max: 20_000, source: "default" },
      { limit: "model_tokens_per_day", max: null, source: "default" },
      { limit: "rows_per_day", max: 7, source: "configuration" },
      { limit: "stored_bytes", max: 10_737_418_240, source: "default" },
      { limit: "mails_per_hour", max: 2_000, source: "default" },
      { limit: "mails_to_address_per_hour", max: 200, source: "default" },
    ]);
  });

  it("keep a tenth of a large number of unfinished runs for the runs of runs", () => {
    expect([1, 99, 100, 105, 20_000].map((limit) => maxUnfinished(limit, true))).toEqual([
      1, 99, 110, 115, 22_000,
    ]);
    expect(maxUnfinished(20_000, false)).toBe(20_000);
  });
});
