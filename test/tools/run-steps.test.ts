import { expect, it, vi } from "vitest";
import type { RunRecord } from "../../src/core/model.ts";
import type { ItemReuse } from "../../src/core/run-ports.ts";
import { type StepState, StepStates } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { retrySteps } from "../../tools/runs/retry-steps.ts";
import { listRunSteps } from "../../tools/runs/run-steps.ts";

const none = () => Promise.resolve([]);

it.each<[StepState[], number]>([
  [["succeeded", "queued"], 1],
  [["running", "pending"], 1],
  [["pending", "waiting"], 1],
  [["succeeded", "skipped"], 0],
  [["failed", "cancelled"], 0],
  [["pending", "pending"], 0],
])("looks up when steps start that are %j in %i queries of each kind", async (states, queries) => {
  const rateWaits = vi.fn<() => Promise<Map<string, never>>>(() => Promise.resolve(new Map<string, never>()));
  const attemptsDue = vi.fn<() => Promise<Map<string, never>>>(() =>
    Promise.resolve(new Map<string, never>()),
  );
  const steps = states.map((_, index) => ({ id: `s${index}`, type: "set" }));
  const ctx = {
    engine: { getDefinition: () => Promise.resolve({ steps }) },
    read: { runs: { steps: none, runningSteps: none, rateWaits, attemptsDue } },
    now: () => 0,
    actor: { principal: { access: { everywhere: new Set(), projects: new Map() } } },
  } as unknown as ToolContext;
  const run = {
    id: "run_1",
    project: "main",
    retryOf: null,
    isTrial: false,
    stepStates: new StepStates(states),
  } as unknown as RunRecord;
  expect(await listRunSteps(ctx, run)).toHaveLength(2);
  expect(rateWaits).toHaveBeenCalledTimes(queries);
  expect(attemptsDue).toHaveBeenCalledTimes(queries);
});

it("listRunSteps and retrySteps count the items of an ended retry once in an answer", async () => {
  const itemReuse = vi.fn<() => Promise<Map<string, ItemReuse>>>(() =>
    Promise.resolve(new Map([["each", { reused: 2, executed: 1 }]])),
  );
  const steps = [{ id: "each", type: "set", for_each: "inputs.list" }];
  const record = {
    stepId: "each",
    state: "succeeded",
    reusedFrom: null,
    items: { total: 3, done: 3, failed: 0 },
  };
  const context = () =>
    ({
      engine: { getDefinition: () => Promise.resolve({ steps }), stepTypes: [] },
      read: {
        runs: {
          steps: () => Promise.resolve([record]),
          runningSteps: none,
          itemReuse,
          executedItems: () => Promise.resolve([1]),
        },
      },
      actor: { principal: { access: { everywhere: new Set(), projects: new Map() } } },
    }) as unknown as ToolContext;
  const run = {
    id: "run_2",
    project: "main",
    retryOf: "run_1",
    finishedAt: "2026-11-21T08:00:00.000Z",
    isTrial: false,
    stepStates: new StepStates(["succeeded"]),
  } as unknown as RunRecord;
  const ctx = context();
  expect(await retrySteps(ctx, run)).toMatchObject({ items: { each: { reused: 2, run: 1, first: [1] } } });
  expect(await listRunSteps(ctx, run)).toMatchObject([{ id: "each", items: { reused: 2 } }]);
  expect(itemReuse).toHaveBeenCalledTimes(1);
  await listRunSteps(context(), run);
  expect(itemReuse).toHaveBeenCalledTimes(2);
});
