import { expect, it } from "vitest";
import type { PreparedRun } from "../../../src/core/engine-port.ts";
import type { RunRecord, StepRecord } from "../../../src/core/model.ts";
import type { AnyStepType } from "../../../src/core/step-type.ts";
import { itemsToRun } from "../../../src/engine/executor/reused-items.ts";

const PROJECT = "default";
/** The run that is retried is itself a retry, and so on. */
const RETRIES: Readonly<Record<string, string | null>> = {
  run_4: "run_3",
  run_3: "run_2",
  run_2: "run_1",
  run_1: null,
};
const TOTAL = 30;

it("itemsToRun reads each run of a chain of retries once, however many items search it", async () => {
  const found: string[] = [];
  const items = () =>
    Array.from({ length: TOTAL }, (_, item) => ({
      stepId: "send",
      item,
      state: "succeeded",
      inputHash: `hash ${item}`,
    })) as unknown as StepRecord[];
  const runs = {
    find: async (id: string) => {
      found.push(id);
      return { id, project: PROJECT, retryOf: RETRIES[id]! } as RunRecord;
    },
    step: async () => undefined,
    items: async ({ stepId }: { stepId: string }) => (stepId === "send" ? items() : []),
    inputs: async () => ({}),
  };
  const type = { mayRestOnDecision: true } as AnyStepType;
  const retry = { id: "run_5", project: PROJECT, retryOf: "run_4" } as PreparedRun;
  const fanOut = {
    step: { id: "send", type: "email", for_each: "inputs.people" },
    total: TOTAL,
    sameInput: ["run_4"],
  };
  // No decision holds, so the plan searches all earlier runs for each item.
  const toRun = await itemsToRun({ runs, decisionsHold: async () => false }, type, retry, fanOut);
  expect(toRun).toHaveLength(TOTAL);
  expect(found.toSorted()).toEqual(["run_1", "run_2", "run_3", "run_4"]);
});
