import { describe, expect, it } from "vitest";
import { exampleEnvironment } from "../../support/example-environment.ts";

describe("everyday work for each item of a list", () => {
  it("runs several steps per item as a workflow of their own", async () => {
    const environment = await exampleEnvironment({
      http: ({ json }) => ({ body: { label: `L-${(json as { order: number }).order}` } }),
    });
    await environment.publish("handle-one-order");
    const run = await environment.run(await environment.publish("many-steps-per-item"));
    expect(run.error).toBeNull();
    const orders = run.output as { order_id: number; label: string; total: number }[];
    expect(orders).toHaveLength(5);
    for (const { order_id: id, label, total } of orders) {
      expect(label).toBe(`L-${id}`);
      expect(total).toBeGreaterThan(0);
    }
    expect(environment.requests).toHaveLength(5);
  });

  it("backfills 30 days, each in a run of its own", async () => {
    const environment = await exampleEnvironment();
    await environment.publish("revenue-of-a-day");
    const run = await environment.run(await environment.publish("backfill-of-30-days"));
    const { days, failed } = run.output as { days: { day: string; total: number }[]; failed: number };
    expect({ error: run.error, failed, count: days.length }).toEqual({ error: null, failed: 0, count: 30 });
    expect([days[0]!.day, days[29]!.day]).toEqual(["2026-05-20", "2026-06-18"]);
    expect(days.some(({ total }) => total > 0)).toBe(true);
  });
});
