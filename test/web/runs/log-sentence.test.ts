import { describe, expect, it } from "vitest";
import type { RunLogEntry } from "../../../schemas/run-log.ts";
import { logColor, logSentence } from "../../../src/web/runs/log-sentence.ts";

const at = "2026-11-21T08:00:00.000Z";

describe("an entry of the log of a run", () => {
  it("says which attempt it was, who did it, and how many items there were", () => {
    const entries: RunLogEntry[] = [
      { at, kind: "step_started", step_id: "a", attempt: 1 },
      { at, kind: "attempt_started", step_id: "a", attempt: 2 },
      { at, kind: "step_succeeded", step_id: "a", items: { total: 120, failed: 2 } },
      { at, kind: "run_cancelled", by: "ann@example.com" },
    ];
    expect(entries.map(logSentence)).toEqual([
      "started",
      "started again (attempt 2)",
      "succeeded, 120 items, 2 failed",
      "Run cancelled by ann@example.com",
    ]);
  });

  it("has a colour that agrees with its words", () => {
    expect((["run_failed", "step_succeeded", "step_waiting", "run_created"] as const).map(logColor)).toEqual([
      "red",
      "green",
      "yellow",
      "gray",
    ]);
  });
});
