import { describe, expect, it, vi } from "vitest";
import { DAY, HOUR } from "../../../src/core/clock.ts";
import { type PerKeyLimits, usageHolders } from "../../../src/core/usage-limits.ts";
import { usageLimits } from "../../../src/engine/executor/usage-limits.ts";
import { fakeClock } from "../../support/clock.ts";

type Arguments = Parameters<typeof usageLimits>;

const ACTOR = {
  owner: "ann@example.com",
  keyName: "browser",
  lineage: "usr_1",
  surface: "rest",
  client: "",
} as const;
const RUN = { actor: ACTOR, project: "sales" };

/** Limits of the owner and of the project, over counts that the test sets by subject. */
function limited(perKey: PerKeyLimits, ofProject: PerKeyLimits | null = null) {
  const clock = fakeClock();
  const used = new Map<string, number>();
  const read = {
    usage: {
      usedInWindow: vi.fn<Arguments[1]["usage"]["usedInWindow"]>(async (subject) => used.get(subject) ?? 0),
      storedBytes: async () => 7,
    },
    runs: { countUnfinishedFor: async () => 3, countUnfinishedOf: async () => 4 },
  };
  const add = vi.fn<(subject: string, kind: string, endsAt: number, amount: number) => Promise<number>>(
    async () => 0,
  );
  const projectLimits = async (project: string) => (project === "sales" ? ofProject : null);
  const limits = usageLimits(usageHolders(perKey, { projectLimits }), read as unknown as Arguments[1], clock);
  const tx = { usage: { add, projectLimits } } as unknown as Parameters<typeof limits.recordUsage>[0];
  return {
    clock,
    used,
    add,
    usedInWindow: read.usage.usedInWindow,
    assertRemaining: (kind: "rows" | "model_tokens") => limits.assertRemaining(RUN, kind),
    record: (amounts: Parameters<typeof limits.recordUsage>[2]) => limits.recordUsage(tx, RUN, amounts),
    remaining: (projects: readonly string[]) => limits.remaining(ACTOR, projects),
  };
}

describe("a step that uses a limited resource", () => {
  it("fails once the limit of the owner or the project is used up, and may be retried when the window ends", async () => {
    const { clock, used, assertRemaining } = limited({ rows_per_day: 10 }, { rows_per_day: 20 });
    clock.advance(HOUR);
    used.set("ann@example.com", 9).set("project:sales", 19);
    await assertRemaining("rows");
    used.set("project:sales", 20);
    await expect(assertRemaining("rows")).rejects.toMatchObject({
      code: "limit_reached",
      message:
        'The project "sales" has used all of its 20 rows of this day (rows_per_day of the project); ' +
        "more are available from 2026-11-22T00:00:00.000Z.",
      options: { retryAfterMs: DAY - 9 * HOUR, fix: expect.stringContaining("retry_run") },
    });
    used.set("ann@example.com", 10);
    await expect(assertRemaining("rows")).rejects.toThrow(
      "ann@example.com (all their keys and sessions together)",
    );
  });

  it("reads no count of a resource that is not limited", async () => {
    const { used, usedInWindow, assertRemaining } = limited({ rows_per_day: 10 });
    used.set("ann@example.com", 10);
    await assertRemaining("model_tokens");
    expect(usedInWindow).not.toHaveBeenCalled();
  });
});

describe("the usage of a step", () => {
  it("is counted for every holder of a limit, in the window of the resource", async () => {
    const { clock, add, record } = limited(
      { rows_per_day: 10 },
      { rows_per_day: 20, model_tokens_per_day: 5 },
    );
    const endsAt = clock.now() + 16 * HOUR;
    await record({ rows: 3, model_tokens: 9 });
    expect(add.mock.calls).toEqual([
      ["project:sales", "model_tokens", endsAt, 9],
      ["ann@example.com", "rows", endsAt, 3],
      ["project:sales", "rows", endsAt, 3],
    ]);
  });

  it("of nothing is not counted", async () => {
    const { add, record } = limited({ rows_per_day: 10, model_tokens_per_day: 10 });
    await record({});
    await record({ rows: 0, model_tokens: 0 });
    expect(add).not.toHaveBeenCalled();
    await record({ rows: 0, model_tokens: 1 });
    expect(add).toHaveBeenCalledOnce();
  });
});

describe("what remains", () => {
  it("is shown for each limit of the owner and of the projects, never below zero, and once per holder", async () => {
    const { clock, used, remaining } = limited(
      { runs_per_hour: 10, unfinished_runs: 5, stored_bytes: 5 },
      { rows_per_day: 10, unfinished_runs: 9 },
    );
    used.set("ann@example.com", 4).set("project:sales", 12);
    expect(await remaining(["default", "sales"])).toEqual([
      { limit: "unfinished_runs", max: 5, remaining: 2, resetsAt: null },
      { limit: "runs_per_hour", max: 10, remaining: 6, resetsAt: clock.now() + HOUR },
      { limit: "stored_bytes", max: 5, remaining: 0, resetsAt: null },
      { limit: "unfinished_runs", max: 9, remaining: 5, resetsAt: null, project: "sales" },
      { limit: "rows_per_day", max: 10, remaining: 0, resetsAt: clock.now() + 16 * HOUR, project: "sales" },
    ]);
    expect(await remaining([])).toEqual([]);
  });
});
