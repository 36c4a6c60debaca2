import { expect, it } from "vitest";
import type { Connections } from "../../../../src/core/connections.ts";
import { checker } from "../../../../src/engine/definition/check/index.ts";
import { stepTypes } from "../../../../src/steps/index.ts";
import { set } from "./test-checker.ts";

async function check(priority: unknown, maxPriority?: number) {
  const { check: checkDefinition } = checker({
    stepTypes,
    connections: {} as Connections,
    workflows: { find: () => Promise.resolve(undefined), ids: () => Promise.resolve([]) },
    ...(maxPriority !== undefined && { maxPriority }),
  });
  const { valid, warnings } = await checkDefinition(
    { priority, steps: [set("a", { x: 1 })] },
    { checkConnections: false },
  );
  return { valid, warnings };
}

it("warns of a priority that counts less beside the runs of others", async () => {
  expect(await check(10)).toMatchObject({
    valid: true,
    warnings: [
      {
        path: "priority",
        code: "priority_capped",
        message:
          "orders only your own runs above 0: beside the runs of others 10 counts as 0 (limits.max_priority)",
      },
    ],
  });
});

it.each([
  [0, undefined],
  [-10, undefined],
  [5, 5],
])("does not warn of the priority %s with the maximum %s", async (priority, maxPriority) => {
  expect(await check(priority, maxPriority)).toEqual({ valid: true, warnings: [] });
});

it("warns beyond the maximum of the operator", async () => {
  expect((await check(6, 5)).warnings).toHaveLength(1);
  expect((await check("high", 5)).valid).toBe(false);
});
