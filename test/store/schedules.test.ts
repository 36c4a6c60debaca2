import { describe, expect, it } from "vitest";
import type { ListPosition, ScheduleRecord, SkippedRuns } from "../../src/core/model.ts";
import type { ScheduleFilter } from "../../src/core/schedule-ports.ts";
import { testEngine } from "../support/engine.ts";
import { insertWorkflow } from "../support/store.ts";

const at = (hour: number): string => `2026-11-21T${String(hour).padStart(2, "0")}:00:00.000Z`;

const SKIPPED: SkippedRuns = {
  reason: "overlap",
  count: 2,
  first: at(1),
  last: at(2),
  noted_at: at(3),
  message: "A run was still running.",
};

const schedule = (workflowId: string, fields: Partial<ScheduleRecord> = {}): ScheduleRecord => ({
  workflowId,
  project: "default",
  version: 1,
  cron: "0 * * * *",
  timezone: "Europe/Vienna",
  overlap: "skip",
  paused: false,
  nextAt: at(9),
  lastAt: null,
  skipped: null,
  actor: { owner: "operator", keyName: "ci", lineage: "key_1" },
  ...fields,
});

/** A store with workflows and these schedules. */
async function scheduled(...schedules: ScheduleRecord[]) {
  const { read, transaction, write } = await testEngine();
  await write(async (tx) => {
    for (const { workflowId, project } of schedules)
      await insertWorkflow(tx, { name: workflowId.split(".").at(-1)! }, project);
  });
  const save = (record: ScheduleRecord) =>
    transaction(({ schedules: writer }) => {
      const { project: _, ...fields } = record;
      return writer.save(fields);
    });
  for (const record of schedules) await save(record);
  return {
    find: (id: string) => read.schedules.find(id),
    due: async (now: string, limit = 10) =>
      (await read.schedules.due(now, limit)).map(({ workflowId }) => workflowId),
    dueAfter: async (position: ListPosition, limit: number) =>
      (await read.schedules.dueAfter(position, limit)).map(({ workflowId }) => workflowId),
    page: async (filter?: ScheduleFilter, limit = 10, after: ListPosition | null = null) => {
      const { items, next } = await read.schedules.page({ ...(filter && { filter }), after, limit });
      return { ids: items.map(({ workflowId }) => workflowId), next };
    },
    count: (filter?: ScheduleFilter) => read.schedules.count(filter),
    nextAt: () => read.schedules.nextAt(),
    save,
    remove: (id: string) => transaction((tx) => tx.schedules.remove(id)),
    staysPaused: (id: string) => transaction((tx) => tx.schedules.staysPaused(id)),
    advance: (
      id: string,
      from: string,
      fields: { version?: number; nextAt: string | null; lastAt?: string; skipped?: SkippedRuns | null },
    ) => transaction((tx) => tx.schedules.advance(id, from, { version: 1, ...fields })),
  };
}

const ofOwner = (owner: string): Partial<ScheduleRecord> => ({
  actor: { owner, keyName: "k", lineage: owner },
});

describe("a schedule", () => {
  it("is stored whole, and replaced by the next one of its workflow", async () => {
    const first = schedule("weekly", { overlap: "queue", lastAt: at(8), skipped: SKIPPED });
    const { find, save, count } = await scheduled(first);
    expect(await find("weekly")).toEqual(first);
    const second = schedule("weekly", { version: 2, cron: "5 * * * *", paused: true, nextAt: null });
    await save(second);
    expect(await find("weekly")).toEqual(second);
    expect(await count()).toBe(1);
    expect(await find("other")).toBeUndefined();
  });

  it("that is removed is not found, and returns with its workflow", async () => {
    const { find, remove, save, page, count, staysPaused } = await scheduled(
      schedule("weekly"),
      schedule("daily", { paused: true, skipped: SKIPPED }),
    );
    await remove("weekly");
    await remove("daily");
    expect([await find("weekly"), await find("daily"), await count()]).toEqual([undefined, undefined, 0]);
    expect((await page()).ids).toEqual([]);
    expect([await staysPaused("weekly"), await staysPaused("daily")]).toEqual([false, true]);
    await save(schedule("daily", { paused: true }));
    expect(await find("daily")).toMatchObject({ paused: true, skipped: null });
    expect(await staysPaused("daily")).toBe(false);
  });

  it("is advanced once from a time, of its version, while it is not paused", async () => {
    const { find, advance, save } = await scheduled(schedule("weekly"), schedule("daily"));
    expect(await advance("weekly", at(8), { nextAt: at(10) })).toBe(false);
    expect(await advance("weekly", at(9), { nextAt: at(10), lastAt: at(9), skipped: SKIPPED })).toBe(true);
    expect(await advance("weekly", at(9), { nextAt: at(11) })).toBe(false);
    expect(await find("weekly")).toMatchObject({ nextAt: at(10), lastAt: at(9), skipped: SKIPPED });
    expect(await find("daily")).toEqual(schedule("daily"));
    // What is left out stays as it is.
    expect(await advance("weekly", at(10), { nextAt: null })).toBe(true);
    expect(await find("weekly")).toMatchObject({ nextAt: null, lastAt: at(9), skipped: SKIPPED });
    await save(schedule("weekly", { version: 2, skipped: SKIPPED }));
    expect(await advance("weekly", at(9), { version: 2, nextAt: at(9), skipped: null })).toBe(true);
    expect((await find("weekly"))!.skipped).toBeNull();
    expect(await advance("weekly", at(9), { nextAt: at(10) })).toBe(false);
    await save(schedule("weekly", { paused: true }));
    expect(await advance("weekly", at(9), { nextAt: at(10) })).toBe(false);
  });
});

describe("the schedules that are due", () => {
  it("are those whose time has come and that are not paused, in turns over owners, the earliest of each first", async () => {
    const { due } = await scheduled(
      schedule("ann-9", { ...ofOwner("ann@x"), nextAt: at(9) }),
      schedule("ann-8", { ...ofOwner("ann@x"), nextAt: at(8) }),
      schedule("ann-7", { ...ofOwner("ann@x"), nextAt: at(7) }),
      schedule("bob-9", { ...ofOwner("bob@x"), nextAt: at(9) }),
      schedule("paused", { nextAt: at(1), paused: true }),
      schedule("never", { nextAt: null }),
      schedule("later", { nextAt: at(10) }),
    );
    expect(await due(at(9))).toEqual(["ann-7", "bob-9", "ann-8", "ann-9"]);
    expect(await due(at(9), 2)).toEqual(["ann-7", "bob-9"]);
    expect(await due(at(6))).toEqual([]);
  });

  it("are followed by those after a position, without paused ones and those without a time", async () => {
    const { dueAfter } = await scheduled(
      schedule("due", { nextAt: at(8) }),
      schedule("b", { nextAt: at(9) }),
      schedule("a", { nextAt: at(9) }),
      schedule("last", { nextAt: at(10) }),
      schedule("paused", { nextAt: at(9), paused: true }),
      schedule("never", { nextAt: null }),
    );
    expect(await dueAfter([at(8), "due"], 2)).toEqual(["a", "b"]);
    expect(await dueAfter([at(9), "b"], 2)).toEqual(["last"]);
  });

  it("begin with the next time of all, without paused ones and those without one", async () => {
    const { nextAt, remove } = await scheduled(
      schedule("weekly", { nextAt: at(9) }),
      schedule("daily", { nextAt: at(10) }),
      schedule("paused", { nextAt: at(1), paused: true }),
      schedule("never", { nextAt: null }),
    );
    expect(await nextAt()).toBe(at(9));
    await remove("weekly");
    expect(await nextAt()).toBe(at(10));
    await remove("daily");
    expect(await nextAt()).toBeNull();
  });
});

describe("the list of schedules", () => {
  it("begins with the soonest, ends with those that do not run, and comes in pages", async () => {
    const { page } = await scheduled(
      schedule("b-paused", { nextAt: at(1), paused: true }),
      schedule("a-never", { nextAt: null }),
      schedule("ten", { nextAt: at(10) }),
      schedule("nine", { nextAt: at(9) }),
      schedule("also-nine", { nextAt: at(9) }),
    );
    const all = ["also-nine", "nine", "ten", "a-never", "b-paused"];
    expect(await page()).toEqual({ ids: all, next: null });
    expect(await page({}, 5)).toEqual({ ids: all, next: null });
    const first = await page({}, 1);
    expect(first).toEqual({ ids: ["also-nine"], next: [at(9), "also-nine"] });
    const second = await page({}, 3, first.next);
    expect(second.ids).toEqual(["nine", "ten", "a-never"]);
    expect(await page({}, 3, second.next)).toEqual({ ids: ["b-paused"], next: null });
  });

  it("is limited to a project and to what a caller can find, as is their number", async () => {
    const { page, count } = await scheduled(
      schedule("weekly"),
      schedule("daily"),
      schedule("sales.report", { project: "sales" }),
    );
    const all = ["daily", "weekly"];
    const cases: [ScheduleFilter, string[]][] = [
      [{}, ["daily", "sales.report", "weekly"]],
      [{ visibility: null }, ["daily", "sales.report", "weekly"]],
      [{ project: "sales" }, ["sales.report"]],
      [{ project: "default" }, all],
      [{ visibility: { projects: ["default"], workflows: null } }, all],
      [{ visibility: { projects: null, workflows: ["daily"] } }, ["daily"]],
      [{ project: "sales", visibility: { projects: null, workflows: ["daily"] } }, []],
      [{ visibility: { projects: [], workflows: null } }, []],
    ];
    for (const [filter, ids] of cases) {
      expect([filter, (await page(filter)).ids]).toEqual([filter, ids]);
      expect([filter, await count(filter)]).toEqual([filter, ids.length]);
    }
    expect(await count()).toBe(3);
  });
});
