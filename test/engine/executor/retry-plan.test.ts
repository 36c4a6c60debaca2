import { describe, expect, it } from "vitest";
import type { InterruptionOutcome } from "../../../schemas/interruption.ts";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { StepRecord } from "../../../src/core/model.ts";
import { stepTypes } from "../../../src/steps/index.ts";
import { planRetry } from "../../../src/engine/executor/retry-plan.ts";

const post = (id: string, body: unknown) => ({
  id,
  type: "http",
  method: "POST",
  url: "https://example.com",
  body,
});
const STEPS = [
  { id: "shaped", type: "set", values: { n: "${{ inputs.n }}" } },
  post("first", "${{ steps.shaped.n }}"),
  post("second", "text"),
  post("third", "${{ run.id }}"),
];

const record = (stepId: string, state: StepRecord["state"], attempts = 1): StepRecord => ({
  stepId,
  item: null,
  seq: 1,
  state,
  attempts,
  startedAt: null,
  finishedAt: null,
  inputHash: null,
  reusedFrom: null,
  childRun: null,
  waitUntil: null,
  items: null,
  error: null,
});
const ALL_DONE = ["shaped", "first", "second", "third"].map((id) => record(id, "succeeded"));

const steady = {
  inputsChanged: false,
  isMoved: false,
  outdated: new Set<string>(),
  interrupted: new Map(),
  itemsToRun: async () => [],
};

const repeatedSteps = async (
  records: StepRecord[],
  {
    steps = STEPS,
    inputsChanged = false,
    isMoved = false,
  }: { steps?: Definition["steps"]; inputsChanged?: boolean; isMoved?: boolean } = {},
) =>
  (
    await planRetry(
      "run_1",
      { definition: { steps: STEPS }, records },
      { ...steady, definition: { steps }, inputsChanged, isMoved },
      stepTypes,
    )
  ).issues.map(({ path, message }) => `${path} ${/"(\w+)"/.exec(message)![1]}`);

describe("the effects that a retry would repeat", () => {
  it("exclude steps whose output is reused", async () => {
    expect(await repeatedSteps([...ALL_DONE.slice(0, 3), record("third", "pending", 0)])).toEqual([]);
  });

  it("include all in another project, where nothing is reused", async () => {
    expect(await repeatedSteps(ALL_DONE, { isMoved: true })).toEqual([
      "steps[1] first",
      "steps[2] second",
      "steps[3] third",
    ]);
  });

  it("include steps that were attempted and did not succeed", async () => {
    expect(await repeatedSteps([...ALL_DONE.slice(0, 2), record("second", "failed", 3)])).toEqual([
      "steps[2] second",
    ]);
  });

  it("exclude those that happened in an interrupted attempt with the same input", async () => {
    const records = [...ALL_DONE.slice(0, 2), record("second", "failed", 1)];
    const planOf = (more: object = {}) =>
      planRetry(
        "run_1",
        { definition: { steps: STEPS }, records },
        {
          ...steady,
          interrupted: new Map([["second", { id: "int_1", outcome: "happened" as const }]]),
          definition: { steps: STEPS },
          ...more,
        },
        stepTypes,
      );
    expect(await planOf()).toMatchObject({ again: [], issues: [], effects: ["third"] });
    expect((await planOf()).reused).toContain("second");
    const ended = { code: "interrupted", message: "ended without an answer" };
    records[2] = { ...records[2]!, error: ended };
    const withOutcome = (outcome: InterruptionOutcome | null) =>
      planOf({ interrupted: new Map([["second", { id: "int_1", outcome }]]) });
    expect(await withOutcome("not_happened")).toMatchObject({ again: [], issues: [] });
    const open = await withOutcome(null);
    expect(open.again).toEqual(["second"]);
    expect(open.issues[0]!.fix).toContain("settle int_1");
    expect((await planOf({ outdated: new Set(["second"]) })).again).toContain("second");
  });

  it("include steps that read changed inputs, the run, or a step that runs again", async () => {
    expect(await repeatedSteps(ALL_DONE)).toEqual(["steps[3] third"]);
    expect(await repeatedSteps(ALL_DONE, { inputsChanged: true })).toEqual([
      "steps[1] first",
      "steps[3] third",
    ]);
    const steps = [{ ...STEPS[0]!, values: { n: 7 } }, ...STEPS.slice(1, 3)] as Definition["steps"];
    expect(await repeatedSteps(ALL_DONE, { steps })).toEqual(["steps[1] first"]);
  });

  it("exclude steps that were removed, or that only read", async () => {
    const steps = [STEPS[0]!, { ...STEPS[1]!, method: "GET" }] as Definition["steps"];
    expect(await repeatedSteps(ALL_DONE, { steps })).toEqual([]);
  });

  it("include steps that read the state, which may have changed", async () => {
    const steps = [post("first", "${{ state.last_id }}"), post("second", "a state")];
    const find = async (more: Partial<Definition>) =>
      (
        await planRetry(
          "run_1",
          { definition: { steps, ...more }, records: [record("first", "succeeded")] },
          { ...steady, definition: { steps, ...more } },
          stepTypes,
        )
      ).issues.map(({ path }) => path);
    expect(await find({ state: { last_id: { type: "integer", default: 0 } } })).toEqual(["steps[0]"]);
    expect(await find({})).toEqual([]);
  });

  it("include a whole fan-out with too many items to look at, if some of them failed", async () => {
    const steps = [{ ...post("first", "text"), for_each: "inputs.to" }];
    const items = { total: 50_000, started: 50_000, done: 50_000, bytes: 9 };
    const planFor = (failed: number) =>
      planRetry(
        "run_1",
        {
          definition: { steps },
          records: [{ ...record("first", "succeeded"), items: { ...items, failed } }],
        },
        { ...steady, itemsToRun: async () => undefined, definition: { steps } },
        stepTypes,
      );
    expect(await planFor(1)).toMatchObject({ reused: [], run: ["first"], items: new Map() });
    expect((await planFor(1)).issues[0]!.message).toMatch(/would run again$/);
    expect(await planFor(0)).toMatchObject({ reused: ["first"], run: [], issues: [] });
  });

  it("include steps after a wait for an event, which a retry does not reuse", async () => {
    const steps = [
      { id: "callback", type: "wait", event: {} },
      post("first", "${{ steps.callback.body }}"),
      post("second", "text"),
    ];
    const records = steps.map(({ id }) => record(id, "succeeded"));
    const found = await planRetry(
      "run_1",
      { definition: { steps }, records },
      { ...steady, definition: { steps } },
      stepTypes,
    );
    expect(found.issues.map(({ path }) => path)).toEqual(["steps[1]"]);
  });
});
