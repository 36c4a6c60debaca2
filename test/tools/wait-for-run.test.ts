import { describe, expect, it } from "vitest";
import { MAX_WAIT_SECONDS, WaitSeconds } from "../../schemas/run.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { waitForRun } from "../../tools/runs/wait-for-run.ts";

/** A run that changes with each read: its sequence number, its status, and the end of its wait. */
function watched(reads: readonly { seq: number; status: string; waits?: string[] }[]) {
  const never = new AbortController().signal;
  let index = -1;
  const ctx = {
    signal: never,
    engine: { shutdownSignal: never, waitForChange: () => Promise.resolve() },
    now: () => Date.parse("2026-11-21T08:00:00Z"),
    read: {
      approvals: { count: () => Promise.resolve(0) },
      runs: {
        getStatusSummaries: () => Promise.resolve([reads[(index = Math.min(index + 1, reads.length - 1))]]),
        steps: () =>
          Promise.resolve((reads[index]!.waits ?? []).map((waitUntil) => ({ state: "waiting", waitUntil }))),
      },
    },
  } as unknown as ToolContext;
  return { ctx, seen: () => reads[index]!.seq };
}

describe("a caller that waits for a run", () => {
  it("gets an answer before clients give up, also if it asked to wait longer", async () => {
    const waits: number[] = [];
    const { ctx } = watched([{ seq: 1, status: "running" }]);
    const waitForChange = (_id: string, _seq: number, { ms }: { ms: number }) => {
      waits.push(ms);
      return Promise.resolve({ seq: 2, status: "succeeded" });
    };
    const changing = { ...ctx, engine: { ...ctx.engine, waitForChange } } as unknown as ToolContext;
    for (const seconds of [10, 3_600]) await waitForRun(changing, "run_1", WaitSeconds.parse(seconds));
    expect(waits.map((ms) => Math.ceil(ms / 10_000))).toEqual([1, MAX_WAIT_SECONDS / 10]);
  });

  it("keeps waiting when the run's wait ends between two reads", async () => {
    const { ctx, seen } = watched([
      { seq: 1, status: "waiting" },
      { seq: 2, status: "running" },
      { seq: 3, status: "succeeded" },
    ]);
    await waitForRun(ctx, "run_1", 20);
    expect(seen()).toBe(3);
  });

  it("gets an answer immediately when the run waits for longer", async () => {
    for (const waits of [[], ["2026-11-21T09:00:00Z"]]) {
      const { ctx, seen } = watched([
        { seq: 1, status: "waiting", waits },
        { seq: 1, status: "waiting", waits },
        { seq: 2, status: "succeeded" },
      ]);
      await waitForRun(ctx, "run_1", 20);
      expect(seen()).toBe(1);
    }
  });
});
