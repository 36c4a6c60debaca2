import { describe, expect, it } from "vitest";
import { type Interruption, InterruptionOutcome, InterruptionReason } from "../../../schemas/interruption.ts";
import {
  CONSEQUENCES,
  openText,
  OUTCOME_LABELS,
  outputTemplate,
  pathOf,
  placeText,
  questionText,
  REASON_TEXTS,
  runStateOf,
  waitingFirst,
} from "../../../src/web/interruptions/texts.ts";

const interruption = (id: string, waiting: boolean): Interruption => ({
  id,
  run_id: "run_1",
  workflow_id: "payout",
  step_id: "pay",
  attempt: 1,
  reason: "executor_ended",
  idempotency_key: "run_1:pay",
  started_at: "2026-11-21T08:00:00.000Z",
  interrupted_at: "2026-11-21T08:00:09.000Z",
  waiting,
  lookup: null,
  outcome: null,
  settled_at: null,
  settled_by: null,
  comment: null,
});

describe("the texts of interruptions", () => {
  it("name the step, and the item of a fan-out", () => {
    expect(placeText({ step_id: "pay" })).toBe("pay");
    expect(questionText({ step_id: "pay" })).toBe("Did the effect of `pay` happen?");
    expect(questionText({ step_id: "pay", item: 0 })).toBe("Did the effect of `pay`, item 0, happen?");
  });

  it("exist for every reason and outcome of the API", () => {
    expect(Object.keys(REASON_TEXTS).toSorted()).toEqual(InterruptionReason.options.toSorted());
    const outcomes = InterruptionOutcome.options.toSorted();
    const all = [OUTCOME_LABELS, ...Object.values(CONSEQUENCES)];
    expect(all.map((texts) => Object.keys(texts).toSorted())).toEqual(all.map(() => outcomes));
  });

  it("count open interruptions", () => {
    expect(openText(1)).toBe("1 open interruption: nobody knows whether its effect happened");
    expect(openText(2)).toBe("2 open interruptions: nobody knows whether their effects happened");
  });
});

it("pathOf leads to the step and the item of the run", () => {
  expect(pathOf({ run_id: "run_1", step_id: "pay" })).toBe("/runs/run_1?step=pay");
  expect(pathOf({ run_id: "run_1", step_id: "undo:pay", item: 3 })).toBe(
    "/runs/run_1?step=undo%3Apay&item=3",
  );
});

describe("runStateOf", () => {
  it("says what an answer is for", () => {
    const open = interruption("a", false);
    expect(runStateOf(interruption("a", true), { status: "waiting" }, "waiting")).toBe("waiting");
    expect(runStateOf(open, { status: "running" }, "running")).toBe("active");
    expect(runStateOf(open, { status: "failed" }, "failed")).toBe("ended");
    expect(runStateOf(open, { status: "cancelled" }, undefined)).toBe("ended");
  });

  it("is superseded after a later attempt that succeeded, or was interrupted too", () => {
    const open = interruption("a", false);
    const later = { ...interruption("b", false), attempt: 2 };
    expect(runStateOf(open, { status: "failed" }, "succeeded")).toBe("superseded");
    expect(runStateOf(open, { status: "failed", interruptions: [later, open] }, "failed")).toBe("superseded");
    expect(runStateOf(later, { status: "failed", interruptions: [later, open] }, "failed")).toBe("ended");
    const other = { ...later, item: 3 };
    expect(runStateOf(open, { status: "failed", interruptions: [other, open] }, "failed")).toBe("ended");
  });
});

it("waitingFirst keeps the order otherwise", () => {
  const ordered = waitingFirst([
    interruption("a", false),
    interruption("b", true),
    interruption("c", false),
    interruption("d", true),
  ]);
  expect(ordered.map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
});

describe("outputTemplate", () => {
  it.each([
    ["{rows: [{…: any}], row_count: number}", { rows: null, row_count: null }],
    ["{status: number, headers: {…: text}, body: any, …}", { status: null, headers: null, body: null }],
    ["{a: {b: [{c: text, d: number}]}, e: text or null} or null", { a: null, e: null }],
    ["{…: any}", {}],
    ["{}", {}],
    ["any", {}],
  ])("has the fields of %s", (type, template) => expect(outputTemplate(type)).toEqual(template));
});
