import { describe, expect, it } from "vitest";
import { applyFixes } from "../../../../src/core/apply-fixes.ts";
import { checkerOf } from "./test-checker.ts";

const steps = [{ id: "a", type: "set", values: { a: 1 } }];

async function issuesOf(definition: Record<string, unknown>) {
  const { errors, warnings } = await checkerOf().check({ steps, ...definition }, { checkConnections: false });
  return [...errors, ...warnings].map(({ path, code }) => `${path} ${code}`);
}

describe("must_succeed", () => {
  it("accepts a duration between a minute and a year", async () => {
    for (const every of ["1m", "24h", "366d"])
      expect(await issuesOf({ must_succeed: { every } })).toEqual([]);
    expect(await issuesOf({ must_succeed: { every: "59s" } })).toEqual(["must_succeed.every too_small"]);
    expect(await issuesOf({ must_succeed: { every: "367d" } })).toEqual(["must_succeed.every too_large"]);
    expect(await issuesOf({ must_succeed: { every: "daily" } })).toHaveLength(1);
    expect(await issuesOf({ must_succeed: {} })).toHaveLength(1);
  });

  it("warns of a time that is not longer than the pauses of the schedule", async () => {
    const schedule = { cron: "0 3 * * *" };
    expect(await issuesOf({ schedule, must_succeed: { every: "24h" } })).toEqual([
      "must_succeed.every shorter_than_schedule",
    ]);
    expect(await issuesOf({ schedule, must_succeed: { every: "25h" } })).toEqual([]);
    const weekdays = { cron: "0 3 * * MON-FRI" };
    expect(await issuesOf({ schedule: weekdays, must_succeed: { every: "25h" } })).toEqual([
      "must_succeed.every shorter_than_schedule",
    ]);
  });

  it("understands the names and forms that others use", async () => {
    for (const written of [{ expect: "every 24h" }, { must_succeed: "24h" }, { sla: "within 24 hours" }]) {
      const { check } = checkerOf();
      const first = await check({ steps, ...written }, { checkConnections: false });
      expect(first.errors).toHaveLength(1);
      const { report } = await applyFixes({ steps, ...written }, (definition) =>
        check(definition, { checkConnections: false }),
      );
      expect(report.definition).toMatchObject({ must_succeed: { every: "24h" } });
    }
  });
});
