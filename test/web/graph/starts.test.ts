import { describe, expect, it } from "vitest";
import { isStartId, startDefinition, withStarts } from "../../../src/web/graph/starts.ts";
import { stepLabel } from "../../../src/web/graph/step-label.ts";
import { graphSteps } from "../../../src/web/graph/steps.ts";

const DEFINITION = {
  schedule: { cron: "0 2 * * *" },
  triggers: [
    { id: "pushed", type: "webhook", if: "event.body.ref == 'main'" },
    { id: "released", type: "webhook" },
  ],
  steps: [
    { id: "orders", type: "sql" },
    { id: "customers", type: "sql", needs: [] },
    { id: "both", type: "set", needs: ["orders", "customers"] },
  ],
};
const drawn = (definition: Record<string, unknown>, startedBy?: Parameters<typeof withStarts>[2]) =>
  withStarts(graphSteps(definition), definition, startedBy);
const names = (startedBy: Parameters<typeof withStarts>[2]) =>
  drawn(DEFINITION, startedBy).map(({ name, id }) => name ?? id);

describe("withStarts", () => {
  it("draws the schedule and each webhook before the steps that need no other one", () => {
    const nodes = drawn(DEFINITION);
    expect(nodes.map(stepLabel)).toEqual([
      "0 2 * * *, schedule, starts runs",
      "pushed, webhook, conditional, starts runs",
      "released, webhook, starts runs",
      "orders, sql, needs: schedule, webhook pushed, webhook released",
      "customers, sql, needs: schedule, webhook pushed, webhook released",
      "both, set, needs: orders, customers",
    ]);
    expect(nodes.filter(({ id }) => isStartId(id))).toHaveLength(3);
  });

  it("draws of a run only what has started it", () => {
    expect(names({ kind: "webhook", id: "released" })).toEqual(["released", "orders", "customers", "both"]);
    expect(names({ kind: "schedule" })[0]).toBe("0 2 * * *");
    expect(names(null)).toEqual(["orders", "customers", "both"]);
    // A trigger that the version of the run does not declare any more.
    expect(names({ kind: "webhook", id: "gone" })).toEqual(["orders", "customers", "both"]);
  });

  it("draws many starts as one node, whose definition is that of all", () => {
    const triggers = Array.from({ length: 20 }, (_, index) => ({ id: `t${index}`, type: "webhook" }));
    const definition = { ...DEFINITION, triggers };
    const [start] = drawn(definition);
    expect(stepLabel(start!)).toBe("21 starts, start, starts runs");
    expect(startDefinition(start!.id, definition)).toEqual({ schedule: DEFINITION.schedule, triggers });
  });

  it("has no node of a step with the same name, and none without steps", () => {
    const steps = [{ id: " webhook pushed", type: "set" }];
    const ids = drawn({ ...DEFINITION, steps }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(drawn({ ...DEFINITION, steps: [] })).toEqual([]);
    expect(drawn({ steps: DEFINITION.steps })).toHaveLength(3);
  });
});

describe("startDefinition", () => {
  it("is the trigger or the schedule that a node stands for", () => {
    const [schedule, pushed] = drawn(DEFINITION);
    expect(startDefinition(schedule!.id, DEFINITION)).toEqual({ schedule: DEFINITION.schedule });
    expect(startDefinition(pushed!.id, DEFINITION)).toEqual(DEFINITION.triggers[0]);
    expect(startDefinition("orders", DEFINITION)).toBeUndefined();
  });
});
