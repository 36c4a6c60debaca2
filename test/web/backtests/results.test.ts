import { describe, expect, it } from "vitest";
import { unseenChanges } from "../../../src/core/definition-changes.ts";
import {
  describeAmount,
  describeCounts,
  describeDifference,
  describeMarks,
  describeReasons,
  describeStep,
  describeSubject,
  formatDifferenceValue,
  namedBacktest,
  readResult,
  reasonLabel,
} from "../../../src/web/backtests/results.ts";

const COUNTS = { total: 1_200, pending: 0, equal: 1_198, different: 2, failing: 0, not_comparable: 0 };

describe("describeCounts", () => {
  it("names all four results, also those without runs", () => {
    expect(describeCounts(COUNTS)).toBe("1,198 equal, 2 different, 0 failing, 0 not comparable");
  });

  it("names pending runs only while there are some", () => {
    expect(describeCounts({ ...COUNTS, pending: 3 })).toMatch(/, 3 pending$/);
  });
});

describe("readResult", () => {
  it("reads one result of the URL", () => {
    expect(readResult(new URLSearchParams("result=not_comparable"))).toBe("not_comparable");
  });

  it("reads an unknown word, and no filter, as all results", () => {
    expect(readResult(new URLSearchParams("result=nonsense"))).toBeUndefined();
    expect(readResult(new URLSearchParams())).toBeUndefined();
  });
});

describe("describeReasons", () => {
  it("counts the runs that are not comparable by reason", () => {
    expect(describeReasons({ changed_read: 1_005, stopped: 2 })).toBe("1,005 changed read, 2 stopped");
    expect(describeReasons({})).toBeUndefined();
  });
});

describe("describeSubject", () => {
  it("says whether a version or a draft was tested", () => {
    expect(describeSubject({ version: 3 })).toBe("version 3");
    expect(describeSubject({ version: 3, draft: true })).toBe("draft based on version 3");
  });
});

describe("describeStep", () => {
  it("names the item of a fan-out, and nothing where no step differs", () => {
    const difference = { message: "It differs.", differences: [] };
    expect(describeStep({ ...difference, step: "send", item: 0 })).toBe("send, item 0");
    expect(describeStep({ ...difference, step: "send" })).toBe("send");
    expect(describeStep(difference)).toBeUndefined();
  });
});

describe("reasonLabel", () => {
  it("says in words why a run is not comparable", () => {
    expect(reasonLabel({ reason: "changed_read", message: "…", differences: [] })).toBe("changed read");
    expect(reasonLabel(undefined)).toBeUndefined();
  });
});

describe("formatDifferenceValue", () => {
  it("shows numbers and texts differently, and tells null from nothing", () => {
    expect(formatDifferenceValue(41)).toBe("41");
    expect(formatDifferenceValue("41")).toBe('"41"');
    expect(formatDifferenceValue(null)).toBe("null");
    expect(formatDifferenceValue(undefined)).toBe("none");
  });
});

describe("describeDifference", () => {
  it.each([
    ["error.http_status", "Runs fail with this version: http_status"],
    ["error", "Runs fail with this version"],
    ["status", "Failed runs would succeed"],
    ["on_failure", "Another workflow runs after a failure"],
    ["committed.last_id", "The saved state would be another one"],
    ["given.send", "Nobody knows what send returns: the backtest was given its output"],
    ["given", "Nobody knows what steps return: the backtest was given their outputs"],
    ["not_comparable", "No run could be compared"],
    ["not_comparable.changed_read", "Some runs could not be compared: changed read"],
    ["not_comparable.of_a_later_release", "Some runs could not be compared"],
    [
      "not_comparable.interrupted",
      "Replays were cancelled; to test these runs again, close this and publish again",
    ],
    [
      "not_comparable.runs_of_drafts",
      "Too few of the newest 10,000 runs are of published versions; the others are runs of drafts",
    ],
    ["not_comparable.unnamed", "An older release compared some runs, and named nothing that differs"],
    ["steps.send.input.subject", "What `send` sends or writes changes"],
    ["steps.send.added", "What `send` does is new in some runs"],
    ["steps.send.removed", "`send` would no longer do it in some runs"],
    ["steps.send.undo", "No past run can show this change: what undoes `send`"],
    ["steps.send", "What `send` sends or writes changes; this covers all of it"],
    ["steps", "What steps send or write changes; this covers all of it"],
    ["definition.schedule", "No past run can show this change: its schedule"],
    ["definition.triggers", "No past run can show this change: its webhooks"],
    ["definition.inputs.region", "No past run can show this change: its input region"],
    ["definition.inputs", "No past run can show this change: its inputs"],
    ["definition.of_a_later_release", "No past run can show this change: a part of its definition"],
    ["definition.backtest", "Its own rule allows more than that of now, from the next publication on"],
  ])("says what %s stands for", (name, text) => {
    expect(describeDifference(name)).toBe(text);
  });

  it("adds nothing to a name that says it itself", () => {
    expect(describeDifference("output.total")).toBeUndefined();
  });

  it("has words for everything of a definition that no run can show", () => {
    const after = {
      schedule: {},
      triggers: [],
      state: {},
      timeout: "5m",
      concurrency: 1,
      must_succeed: {},
      on_failure: "alarm",
      expose_as_tool: true,
      tool_name: "revenue",
    };
    const texts = unseenChanges({}, after).map(describeDifference);
    expect(new Set(texts).size).toBe(Object.keys(after).length);
    expect(texts).not.toContain(describeDifference("definition"));
  });
});

describe("namedBacktest", () => {
  it("finds the backtest of a refusal, and none where there were no runs", () => {
    expect(
      namedBacktest(
        'Version 4 differs in status (1 of the last 9 runs, backtest bt_8d-q2_0sfj3a). backtest_workflow with backtest_id: "bt_8d-q2_0sfj3a" shows its first runs.',
      ),
    ).toBe("bt_8d-q2_0sfj3a");
    expect(namedBacktest("Version 4 differs in definition.schedule. Accept it by name.")).toBeUndefined();
  });
});

describe("describeAmount", () => {
  it("adds what has changed in percent, unless nothing has or there was nothing", () => {
    expect(describeAmount({ before: 1_200, after: 800 }, String)).toBe("1200 → 800 (−33 %)");
    expect(describeAmount({ before: 800, after: 1_200 }, String)).toBe("800 → 1200 (+50 %)");
    expect(describeAmount({ before: 800, after: 800 }, String)).toBe("800 → 800");
    expect(describeAmount({ before: 0, after: 5 }, String)).toBe("0 → 5");
  });
});

describe("describeMarks", () => {
  it("names the runs that are not equal, counted from the oldest", () => {
    expect(describeMarks(["equal", "failing", "equal", "different", null])).toBe(
      "Results of 5 runs, the oldest first: 2 equal. Number 2 failing, 4 different.",
    );
  });

  it("counts what it leaves out", () => {
    const text = describeMarks(Array.from({ length: 50 }, () => "different" as const));
    expect(text).toContain("20 different and 30 more.");
    expect(text).not.toContain("21 different");
  });

  it("names no run when all are equal", () => {
    expect(describeMarks(["equal"])).toBe("Results of 1 run, the oldest first: 1 equal.");
  });
});
