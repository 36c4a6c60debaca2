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

describe("model usage", () => {
  it("is summed over the attempts that called a model", () => {
    const usage = sumUsage([
      attempt({ input_tokens: 10, output_tokens: 2, cost: 0.001 }),
      attempt(null),
      attempt({ input_tokens: 5, output_tokens: 1, cost: 0.002 }),
    ]);
    expect(usage).toMatchObject({ input_tokens: 15, output_tokens: 3 });
    expect(usage?.cost).toBeCloseTo(0.003);
  });

  it("has no cost when one attempt has none, instead of a total that is too low", () => {
    const usage = sumUsage([
      attempt({ input_tokens: 10, output_tokens: 2, cost: 0.001 }),
      attempt({ input_tokens: 5, output_tokens: 1, cost: null }),
    ]);
    expect(usage?.cost).toBeNull();
    expect(formatUsage(usage!)).toBe("15 input tokens, 3 output tokens");
  });

  it("is undefined when no model was called", () => {
    expect(sumUsage([attempt(null)])).toBeUndefined();
  });
});
