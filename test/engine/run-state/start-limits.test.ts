import { describe, expect, it, vi } from "vitest";
import { HOUR, MINUTE } from "../../../src/core/clock.ts";
import { type PerKeyLimits, usageHolders } from "../../../src/core/usage-limits.ts";
import { childRefused, LimitRefusal, refusalFor } from "../../../src/engine/run-state/limit-refusal.ts";
import { startLimits } from "../../../src/engine/run-state/start-limits.ts";
import { fakeClock } from "../../support/clock.ts";

type Limits = ReturnType<typeof startLimits>;
type Writers = Parameters<Limits["refusal"]>[0];
type StartingRun = Parameters<Limits["refusal"]>[1];

const RUN: StartingRun = {
  actor: { owner: "ann@example.com", keyName: "browser", lineage: "usr_1", surface: "rest", client: "" },
  project: "sales",
  parent: null,
  trigger: "rest",
};
const CHILD: StartingRun = { ...RUN, parent: { runId: "run_0", stepId: "call", item: null } };

/** Start limits over counts that the test sets; the project has limits of its own if they are given. */
function limited(perKey: PerKeyLimits, ofProject: PerKeyLimits | null = null, unfinishedRuns = 1_000_000) {
  const clock = fakeClock();
  const counts = { all: 0, owner: 0, project: 0 };
  const used = new Map<string, number>();
  const stored = new Map<string, number>();
  const tx = {
    runs: {
      lockStarts: vi.fn<(subject: string) => Promise<void>>(async () => {}),
      countAllUnfinished: async () => counts.all,
      countUnfinishedFor: async () => counts.owner,
      countUnfinishedOf: async () => counts.project,
    },
    usage: {
      projectLimits: async () => ofProject,
      storedBytes: async (subject: string) => stored.get(subject) ?? 0,
      usedInWindow: async (subject: string) => used.get(subject) ?? 0,
      add: async (subject: string, _: string, __: number, amount: number) => {
        used.set(subject, (used.get(subject) ?? 0) + amount);
        return used.get(subject)!;
      },
      reserve: async (
        subject: string,
        _: string,
        __: number,
        { amount, max }: { amount: number; max: number },
      ) => {
        const sum = (used.get(subject) ?? 0) + amount;
        if (sum <= max) used.set(subject, sum);
        return sum <= max;
      },
    },
  };
  const limits = startLimits({ holdersOf: usageHolders(perKey, tx.usage), unfinishedRuns }, clock);
  const writers = tx as unknown as Writers;
  return {
    clock,
    counts,
    used,
    stored,
    lockStarts: tx.runs.lockStarts,
    refusal: (run = RUN) => limits.refusal(writers, run),
    count: (run = RUN) => limits.count(writers, run),
  };
}

describe("the starts of an owner", () => {
  it.each([
    { max: 500, all: 0, locked: true, why: "whose limit is small" },
    { max: 20_000, all: 14_999, locked: false, why: "who may start more than can start at the same time" },
    { max: 20_000, all: 15_000, locked: true, why: "who may not start more than that" },
  ])("wait for each other only where one could exceed the limit: $why", async ({ max, all, locked }) => {
    const { counts, refusal, lockStarts } = limited({ unfinished_runs: max });
    counts.all = all;
    expect(await refusal()).toBeUndefined();
    expect(lockStarts).toHaveBeenCalledTimes(locked ? 1 : 0);
  });

  it("are counted again once they are locked", async () => {
    const { counts, refusal, lockStarts } = limited({ unfinished_runs: 20_000 });
    counts.all = 19_999;
    lockStarts.mockImplementation(async () => {
      counts.all = counts.owner = 20_000;
    });
    expect(await refusal()).toMatchObject({ code: "too_many_runs" });
  });
});

describe("the maximum of all unfinished runs", () => {
  it("refuses a run once it is reached, and says what to do", async () => {
    const { counts, refusal, count } = limited({}, null, 50);
    counts.all = 49;
    expect(await refusal()).toBeUndefined();
    await count();
    counts.all = 50;
    expect(await refusal()).toMatchObject({
      code: "too_many_runs",
      message:
        "There are 50 unfinished runs, the maximum of limits.unfinished_runs. Wait until some have ended, or cancel " +
        "some: list_runs with status queued, running or waiting lists them.",
      retryAfterS: 30,
      project: undefined,
      details: { headers: { "Retry-After": "30" } },
    });
    await expect(count()).rejects.toBeInstanceOf(LimitRefusal);
  });

  it("keeps a tenth for runs that other runs start", async () => {
    const { counts, refusal } = limited({}, null, 100);
    counts.all = 100;
    expect(await refusal()).toBeDefined();
    expect(await refusal(CHILD)).toBeUndefined();
    expect(await refusal({ ...RUN, trigger: "on_failure" })).toBeUndefined();
    counts.all = 110;
    expect(await refusal(CHILD)).toBeDefined();
    expect(await refusal({ ...RUN, trigger: "on_failure" })).toBeDefined();
  });
});

describe("the maximum of unfinished runs of an owner and of a project", () => {
  it("refuses a run of the owner, after locking the starts", async () => {
    const { counts, refusal, lockStarts } = limited({ unfinished_runs: 2 });
    Object.assign(counts, { all: 9, owner: 1 });
    expect(await refusal()).toBeUndefined();
    expect(lockStarts).toHaveBeenCalledExactlyOnceWith("ann@example.com");
    counts.owner = 2;
    expect(await refusal()).toMatchObject({
      message: expect.stringContaining(
        "2 runs of ann@example.com (all their keys and sessions together) are unfinished, which is the maximum " +
          "(limits.per_key.unfinished_runs).",
      ),
      project: undefined,
    });
  });

  it("refuses a run of the project, and names it", async () => {
    const { counts, refusal, lockStarts } = limited({ runs_per_hour: 9 }, { unfinished_runs: 2 });
    Object.assign(counts, { all: 9, owner: 9, project: 1 });
    expect(await refusal()).toBeUndefined();
    expect(lockStarts).toHaveBeenCalledExactlyOnceWith("project:sales");
    counts.project = 2;
    expect(await refusal()).toMatchObject({
      message: expect.stringContaining('2 runs of the project "sales" are unfinished'),
      project: "sales",
    });
  });

  it("counts nobody's runs while all together are fewer", async () => {
    const { counts, refusal } = limited({ unfinished_runs: 3 });
    Object.assign(counts, { all: 2, owner: 3 });
    expect(await refusal()).toBeUndefined();
    counts.all = 3;
    expect(await refusal()).toBeDefined();
  });

  it("allows more only to runs that other runs start", async () => {
    const { counts, refusal } = limited({ unfinished_runs: 100 });
    Object.assign(counts, { all: 109, owner: 109 });
    expect(await refusal()).toBeDefined();
    expect(await refusal(CHILD)).toBeUndefined();
    Object.assign(counts, { all: 110, owner: 110 });
    expect(await refusal(CHILD)).toBeDefined();
  });
});

describe("the maximum of runs per hour", () => {
  it("counts each run for its owner and its project, and refuses until the hour is over", async () => {
    const { clock, used, refusal, count } = limited({ runs_per_hour: 2 }, { runs_per_hour: 5 });
    await count();
    await count();
    expect(used).toEqual(
      new Map([
        ["ann@example.com", 2],
        ["project:sales", 2],
      ]),
    );
    clock.advance(20 * MINUTE + 1);
    const refused = await refusal();
    expect(refused).toMatchObject({ code: "too_many_runs", retryAfterS: 40 * 60, project: undefined });
    expect(refused!.message).toContain(
      "has used all of its 2 runs of this hour (limits.per_key.runs_per_hour)",
    );
    expect(refused!.message).toContain("The run was not started. Start it again then, or ask the operator");
  });

  it("takes back what was counted for the owner when the project has none left", async () => {
    const { used, count, refusal } = limited({ runs_per_hour: 5 }, { runs_per_hour: 1 });
    await count();
    await expect(count()).rejects.toMatchObject({ code: "too_many_runs", project: "sales" });
    expect(used.get("ann@example.com")).toBe(1);
    expect(await refusal()).toMatchObject({ project: "sales" });
  });

  it("counts nothing for the command line, nor without a limit", async () => {
    const { used, count, refusal } = limited({});
    await count();
    expect(used.size).toBe(0);
    expect(await refusal()).toBeUndefined();
  });
});

describe("the maximum of stored bytes", () => {
  it("refuses a run once it is reached, and says what frees bytes", async () => {
    const { stored, refusal, count } = limited({ stored_bytes: 5_000 });
    stored.set("ann@example.com", 4_999);
    expect(await refusal()).toBeUndefined();
    stored.set("ann@example.com", 5_000);
    const refused = await refusal();
    expect(refused).toMatchObject({ code: "storage_limit_reached", retryAfterS: 600, project: undefined });
    expect(refused!.message).toContain(
      "What ann@example.com (all their keys and sessions together) stores has 5,000 bytes, and the maximum is 5,000 " +
        "(limits.per_key.stored_bytes)",
    );
    await expect(count()).rejects.toMatchObject({ code: "storage_limit_reached" });
  });

  it("of a project refuses its runs too", async () => {
    const { stored, refusal } = limited({}, { stored_bytes: 1 });
    stored.set("project:sales", 1);
    expect(await refusal()).toMatchObject({ code: "storage_limit_reached", project: "sales" });
  });
});

const limitRefusal = (project?: string) =>
  new LimitRefusal("too_many_runs", "3 runs of …", { retryAfterS: 90, project });

describe("the refusal of a child run", () => {
  it("shows limits of the own project and of owners as they are", () => {
    for (const shown of [limitRefusal(), limitRefusal("sales")])
      expect(refusalFor({ project: "sales" }, { workflowId: "w" }, shown)).toBe(shown);
  });

  it("shows no numbers of another project", () => {
    const shown = refusalFor({ project: "sales" }, { workflowId: "weekly" }, limitRefusal("finance"));
    expect(shown).toMatchObject({ code: "too_many_runs", retryAfterS: 90, project: "finance" });
    expect(shown.message).toBe(
      `"weekly" can't run now: its project "finance" has reached a limit. Try again later, or ask somebody there.`,
    );
    expect(shown.cause).toMatchObject({ message: "3 runs of …" });
  });

  it("fails the step, which may wait for it", () => {
    expect(childRefused(limitRefusal())).toMatchObject({
      code: "limit_reached",
      message: "3 runs of …",
      options: { retryAfterMs: 90_000, fix: expect.stringContaining("retry: { on: [limit_reached] }") },
    });
  });
});

describe("an hour", () => {
  it("that begins gives the owner all runs again", async () => {
    const { clock, used, count, refusal } = limited({ runs_per_hour: 1 });
    await count();
    expect(await refusal()).toMatchObject({ retryAfterS: HOUR / 1_000 });
    used.clear();
    clock.advance(HOUR);
    expect(await refusal()).toBeUndefined();
  });
});
