import { expect, it, vi } from "vitest";
import type { RunRecord } from "../../src/core/model.ts";
import { type StepState, StepStates } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
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
