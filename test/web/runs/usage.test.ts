import { describe, expect, it } from "vitest";
import type { Attempt } from "../../../schemas/run.ts";
import { formatUsage, sumUsage } from "../../../src/web/runs/usage.ts";

const attempt = (usage: Attempt["usage"]): Attempt => ({
  attempt: 1,
  status: "succeeded",
  started_at: "2026-11-21T08:00:00.000Z",
  finished_at: null,
  usage,
  error: null,
});

describe("what models used", () => {
  it("is summed over attempts, those that used nothing left out", () => {
    const used = sumUsage([
      attempt({ input_tokens: 10, output_tokens: 2, cost: 0.001 }),
      attempt(null),
      attempt({ input_tokens: 5, output_tokens: 1, cost: 0.002 }),
    ]);
    expect(used).toMatchObject({ input_tokens: 15, output_tokens: 3 });
    expect(used?.cost).toBeCloseTo(0.003);
  });

  it("has no cost where one of them has none, rather than too low a one", () => {
    const used = sumUsage([
      attempt({ input_tokens: 10, output_tokens: 2, cost: 0.001 }),
      attempt({ input_tokens: 5, output_tokens: 1, cost: null }),
    ]);
    expect(used?.cost).toBeNull();
    expect(formatUsage(used!)).toBe("15 tokens in, 3 out");
  });

  it("is nothing where no model was asked", () => {
    expect(sumUsage([attempt(null)])).toBeUndefined();
  });
});
