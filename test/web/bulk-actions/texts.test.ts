import { describe, expect, it } from "vitest";
import {
  describeCounts,
  describeSteps,
  messageTitle,
  readResult,
  repeatedEffects,
  skipLabel,
  startLabel,
  titleOf,
  unfinishedRetries,
} from "../../../src/web/bulk-actions/texts.ts";

const RUNS = { total: 1_200, pending: 12, done: 1_187, skipped: 1 };

describe("titleOf", () => {
  it("says what happens with how many runs", () => {
    expect(titleOf({ action: "retry", runs: RUNS })).toBe("Retry of 1,200 runs");
    expect(titleOf({ action: "cancel", runs: { ...RUNS, total: 1 } })).toBe("Cancellation of 1 run");
  });
});

describe("startLabel", () => {
  it("names the action and the number of runs", () => {
    expect(startLabel("retry", 40)).toBe("Retry 40 runs");
    expect(startLabel("cancel", 1)).toBe("Cancel 1 run");
  });
});

describe("describeCounts", () => {
  it("counts what was done in the words of the action", () => {
    expect(describeCounts({ action: "retry", status: "running", runs: RUNS })).toBe(
      "1,187 retried, 1 skipped, 12 pending",
    );
    expect(describeCounts({ action: "cancel", status: "finished", runs: { ...RUNS, pending: 0 } })).toBe(
      "1,187 cancelled, 1 skipped",
    );
  });

  it("calls the pending runs of a cancelled bulk action left out", () => {
    expect(describeCounts({ action: "retry", status: "cancelled", runs: RUNS })).toBe(
      "1,187 retried, 1 skipped, 12 left out",
    );
  });
});

describe("messageTitle", () => {
  it("tells a running bulk action, which goes on later, from one that ended early", () => {
    expect(messageTitle("running")).toBe("It goes on with no run at the moment");
    expect(messageTitle("finished")).toBe("Ended early");
    expect(messageTitle("cancelled")).toBe("Ended early");
  });
});

describe("skipLabel", () => {
  it("depends on the action for runs whose status does not fit", () => {
    expect(skipLabel("wrong_status", "retry")).toBe("not ended yet");
    expect(skipLabel("wrong_status", "cancel")).toBe("already ended");
    expect(skipLabel("purged", "retry")).toBe("no longer stored");
  });
});

describe("describeSteps", () => {
  it("says in how many runs a step is, unless it is in all", () => {
    expect(describeSteps({ rate: 3, pay: 2 }, 3)).toBe("`rate`, `pay` (in 2 of 3 runs)");
    expect(describeSteps({}, 3)).toBe("");
  });
});

const effect = (step: string, again: number) => ({ step, type: "http", runs: 2, again, first: [] });

describe("repeatedEffects", () => {
  it("finds those of all versions that were attempted", () => {
    const plan = { workflow_id: "pay", runs: 2 };
    expect(
      repeatedEffects([
        { ...plan, version: 1, effects: [effect("pay", 0), effect("note", 1)] },
        { ...plan, version: 2 },
        { ...plan, version: 3, effects: [effect("letter", 2)] },
      ]).map(({ step }) => step),
    ).toEqual(["note", "letter"]);
  });
});

describe("unfinishedRetries", () => {
  it("counts retries that have not ended", () => {
    expect(unfinishedRetries({ retries: { queued: 1, running: 2, waiting: 3, failed: 4 } })).toBe(6);
    expect(unfinishedRetries({})).toBe(0);
  });
});

describe("readResult", () => {
  it("reads a result of the action in the URL, and anything else as all results", () => {
    expect(readResult(new URLSearchParams("result=retried"), "retry")).toBe("retried");
    expect(readResult(new URLSearchParams("result=skipped"), "cancel")).toBe("skipped");
    expect(readResult(new URLSearchParams("result=retried"), "cancel")).toBeUndefined();
    expect(readResult(new URLSearchParams(), "retry")).toBeUndefined();
  });
});
