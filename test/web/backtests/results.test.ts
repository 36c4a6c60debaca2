import { describe, expect, it } from "vitest";
import {
  describeAmount,
  describeCounts,
  describeMarks,
  describeReasons,
  describeStep,
  describeSubject,
  formatDifferenceValue,
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
