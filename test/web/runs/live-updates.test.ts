import { describe, expect, it } from "vitest";
import type { Interruption } from "../../../schemas/interruption.ts";
import type { Run, RunStep } from "../../../schemas/run.ts";
import {
  mergeLiveUpdates,
  needsRefetch,
  NO_UPDATES,
  type LiveRunSummary,
  applyEvents,
} from "../../../src/web/runs/live-updates.ts";

const at = "2026-11-21T08:00:00.000Z";
const step = (id: string, status: RunStep["status"], type = "set"): RunStep => ({
  id,
  type,
  status,
  attempts: 1,
  started_at: at,
  finished_at: null,
  error: null,
});
const card = (status: Run["status"]): LiveRunSummary => ({
  id: "run_1",
  workflow_id: "w",
  version: 1,
  status,
  trigger: "rest",
  created_at: at,
  started_at: at,
  finished_at: null,
  error: null,
  progress: { total: 2, done: 1, current: ["b"] },
});
const fetched: Run = {
  ...card("running"),
  started_by: { owner: "ann@example.com", key_name: "", surface: "web", client: "x" },
  inputs: { a: 1 },
  steps: [step("a", "running"), step("b", "pending", "approval")],
};

const INTERRUPTION: Interruption = {
  id: "int_1",
  run_id: "run_1",
  workflow_id: "w",
  step_id: "a",
  attempt: 1,
  reason: "executor_ended",
  idempotency_key: "run_1:a:-:abc",
  started_at: at,
  interrupted_at: at,
  waiting: false,
  lookup: null,
  outcome: null,
  settled_at: null,
  settled_by: null,
  comment: null,
};

describe("live updates of a run", () => {
  it("are merged with the fetched run, and keep its other fields", () => {
    const updates = applyEvents(NO_UPDATES, [
      { event: "step", data: step("a", "succeeded") },
      { event: "run", data: card("waiting") },
    ]);
    const run = mergeLiveUpdates(fetched, updates);
    expect(run).toMatchObject({ status: "waiting", inputs: { a: 1 }, progress: { done: 1 } });
    expect(run.steps.map(({ status }) => status)).toEqual(["succeeded", "pending"]);
  });

  it("are ignored when the fetched run has ended", () => {
    const updates = applyEvents(NO_UPDATES, [{ event: "step", data: step("a", "running") }]);
    const ended = { ...fetched, status: "succeeded" as const, steps: [step("a", "succeeded")] };
    expect(mergeLiveUpdates(ended, updates).steps[0]!.status).toBe("succeeded");
  });

  it("accumulate, and the latest event of each step wins", () => {
    const first = applyEvents(NO_UPDATES, [{ event: "step", data: step("a", "running") }]);
    const both = applyEvents(first, [{ event: "step", data: step("a", "failed") }]);
    expect(mergeLiveUpdates(fetched, both).steps[0]!.status).toBe("failed");
    expect(first.steps.get("a")!.status).toBe("running");
  });

  it("do not replace a complete error by a truncated one", () => {
    const error = { code: "x", message: "complete" };
    const updates = applyEvents(NO_UPDATES, [
      { event: "run", data: { ...card("running"), error: { code: "x", message: "comp…" } } },
    ]);
    expect(mergeLiveUpdates({ ...fetched, error }, updates).error).toEqual(error);
    expect(mergeLiveUpdates(fetched, updates).error?.message).toBe("comp…");
  });

  it("require a refetch when the status or the approvals change", () => {
    const before = mergeLiveUpdates(fetched, NO_UPDATES);
    const after = (...events: Parameters<typeof applyEvents>[1]) =>
      mergeLiveUpdates(fetched, applyEvents(NO_UPDATES, events));
    expect(needsRefetch(before, after({ event: "step", data: step("a", "succeeded") }))).toBe(false);
    expect(needsRefetch(before, after({ event: "step", data: step("b", "waiting", "approval") }))).toBe(true);
    expect(needsRefetch(before, after({ event: "run", data: card("waiting") }))).toBe(true);
    // One of several people has decided.
    const waits = after({ event: "step", data: step("b", "waiting", "approval") });
    expect(needsRefetch(waits, waits)).toBe(false);
    expect(needsRefetch(waits, after({ event: "step", data: step("b", "waiting", "approval") }))).toBe(true);
  });

  it("require a refetch when an interruption opens, is answered, or begins to be waited for", () => {
    const open = { open_interruptions: 1 };
    const run: Run = { ...fetched, ...open, interruptions: [INTERRUPTION] };
    const before = mergeLiveUpdates(run, NO_UPDATES);
    const after = (...events: Parameters<typeof applyEvents>[1]) =>
      mergeLiveUpdates(run, applyEvents(NO_UPDATES, events));
    expect(needsRefetch(before, after({ event: "run", data: { ...card("running"), ...open } }))).toBe(false);
    expect(needsRefetch(before, after({ event: "run", data: card("running") }))).toBe(true);
    expect(
      needsRefetch(before, after({ event: "run", data: { ...card("running"), open_interruptions: 2 } })),
    ).toBe(true);
    expect(needsRefetch(before, after({ event: "step", data: step("a", "waiting") }))).toBe(true);
    expect(needsRefetch(before, after({ event: "step", data: step("b", "running") }))).toBe(false);
  });
});
