import { describe, expect, it } from "vitest";
import type { Backtest } from "../../schemas/backtest.ts";
import { describeVerdict, printBacktest } from "../../src/commands/backtest-report.ts";

const RUNS = { total: 9, pending: 0, equal: 1, different: 7, failing: 0, not_comparable: 1 };
const BACKTEST: Backtest = {
  id: "bt_8dkq2m0sfj3a",
  workflow_id: "weekly-revenue",
  version: 3,
  reads: "recorded",
  status: "finished",
  runs: RUNS,
  first: [
    {
      position: 0,
      run_id: "run_1",
      replay: "run_2",
      result: "different",
      difference: {
        step: "send",
        item: 3,
        message: "Its input differs.",
        differences: ["to", "subject", "text", "cc"].map((path) => ({ path, before: "41", after: 41 })),
      },
    },
  ],
  effects: [
    {
      step: "send",
      type: "email",
      unchanged: 2,
      changed: 7,
      added: 0,
      removed: 0,
      first: { run_id: "run_1", differences: [{ path: "", after: null }] },
    },
  ],
  reasons: { changed_read: 1 },
  step_ms: { before: 1_200, after: 800 },
  tokens: { before: 0, after: 0 },
  cost: { before: 0, after: 0 },
  message: null,
  started_by: "ann@example.com",
  created_at: "2026-11-28T06:30:00.000Z",
  finished_at: "2026-11-28T06:31:00.000Z",
  cancelled_by: null,
};

function printed(backtest: Backtest): string {
  let text = "";
  const io = {
    out: (part: string) => void (text += part),
    err: () => undefined,
    terminal: false,
    errTerminal: false,
    env: {},
    onExit: () => undefined,
  };
  printBacktest(io, backtest, "http://127.0.0.1:3000/ui/page");
  return text;
}

describe("printBacktest", () => {
  it("prints the counts, the first runs, the effects, and what it leaves out", () => {
    expect(printed(BACKTEST)).toBe(`bt_8dkq2m0sfj3a  weekly-revenue version 3  finished
  9 runs: 1 equal, 7 different, 0 failing, 1 not comparable
  Not comparable: 1 changed_read

Runs
  run_1  different
    send, item 3: Its input differs.
    to: "41" → 41
    subject: "41" → 41
    text: "41" → 41
    1 more field
  7 more runs that are not equal

Effects
STEP  TYPE   UNCHANGED  CHANGED  ADDED  REMOVED
send  email  2          7        0      0
  send, first in run_1:
    the whole value: none → null

Time of the steps: 1200 ms → 800 ms
http://127.0.0.1:3000/ui/page
`);
  });
});

const verdict = (runs: Partial<Backtest["runs"]>) =>
  describeVerdict({ ...BACKTEST, runs: { ...RUNS, ...runs } });

describe("describeVerdict", () => {
  it("passes runs that are equal or not comparable, but not without any equal run", () => {
    expect(verdict({ different: 0 })).toBeUndefined();
    expect(verdict({ different: 0, equal: 0 })).toBe("No run could be compared.");
  });

  it("counts the runs that differ and fail", () => {
    expect(verdict({ failing: 1 })).toBe("7 runs differ, and 1 fails.");
    expect(verdict({ different: 1 })).toBe("1 run differs, and 0 fail.");
  });

  it("never passes a backtest that did not finish", () => {
    const ended = { ...BACKTEST, runs: { ...RUNS, different: 0 }, message: "The version is gone." };
    expect(describeVerdict({ ...ended, status: "failed" })).toContain("The version is gone.");
    expect(describeVerdict({ ...ended, status: "cancelled", cancelled_by: "ann" })).toContain("by ann");
  });
});
