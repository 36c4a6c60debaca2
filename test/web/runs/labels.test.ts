import { expect, it } from "vitest";
import { continuedFailuresLabel, survivedFailuresLabel } from "../../../src/web/runs/labels.ts";

it("continuedFailuresLabel counts the steps that failed in a run that went on", () => {
  expect(continuedFailuresLabel({})).toBeNull();
  expect(continuedFailuresLabel({ continued_failures: 1 })).toBe("1 step failed");
  expect(continuedFailuresLabel({ continued_failures: 2 })).toBe("2 steps failed");
});

it("survivedFailuresLabel adds the items that failed in steps that went on", () => {
  const items = { total: 200, done: 200, failed: 1 };
  expect(survivedFailuresLabel({ steps: [{ status: "succeeded", items }] })).toBe("1 item failed");
  expect(survivedFailuresLabel({ steps: [{ status: "failed", items }, { status: "succeeded" }] })).toBeNull();
  const both = { continued_failures: 1, steps: [{ status: "running" as const, items }] };
  expect(survivedFailuresLabel(both)).toBe("1 step failed, 1 item failed");
});
