import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../src/core/tool.ts";
import { waitForRun } from "../../tools/runs/wait-for-run.ts";

/** A run that is another at each look: its number of changes, its state, and when its waits are over. */
function watched(looks: readonly { seq: number; status: string; waits?: string[] }[]) {
  const never = new AbortController().signal;
  let look = -1;
  const ctx = {
    signal: never,
    engine: { shutdownSignal: never, waitForChange: () => Promise.resolve() },
    now: () => Date.parse("2026-11-21T08:00:00Z"),
    read: {
      approvals: { count: () => Promise.resolve(0) },
      runs: {
        getStatusSummaries: () => Promise.resolve([looks[(look = Math.min(look + 1, looks.length - 1))]]),
        steps: () =>
          Promise.resolve((looks[look]!.waits ?? []).map((waitUntil) => ({ state: "waiting", waitUntil }))),
      },
    },
  } as unknown as ToolContext;
  return { ctx, seen: () => looks[look]!.seq };
}

describe("who waits for a run", () => {
  it("goes on when its wait ended just while that was looked at", async () => {
    const { ctx, seen } = watched([
      { seq: 1, status: "waiting" },
      { seq: 2, status: "running" },
      { seq: 3, status: "succeeded" },
    ]);
    await waitForRun(ctx, "run_1", 20);
    expect(seen()).toBe(3);
  });

  it("is answered at once when it waits for longer", async () => {
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
