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
});
