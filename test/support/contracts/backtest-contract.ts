import { describe, expect, it } from "vitest";
import type { BacktestRecord } from "../../../src/core/backtest-ports.ts";
import { accessEverywhere } from "../../../src/core/access.ts";
import { iso, MINUTE } from "../../../src/core/clock.ts";
import type { NewRun, Replay } from "../../../src/core/model.ts";
import type { Actor } from "../../../src/core/ports.ts";
import { backtestDetails, newBacktest } from "../backtest-records.ts";
import { newRun } from "../run-records.ts";
import { concurrently, type ContractConnection, type ContractSetup, pause } from "./setup.ts";

const ANN = {
  owner: "ann@example.com",
  keyName: "ci",
  lineage: "key_1",
  surface: "mcp",
  client: "an agent",
} as const;

const ACTOR: Actor = {
  principal: {
    kind: "key",
    keyId: "key_1",
    scopes: new Set(["write"]),
    access: accessEverywhere(["write"]),
    ...ANN,
  },
  client: { surface: "rest", name: "vitest" },
};

const TRIAL = { isTrial: true, trial: { given: {} } } as const;

async function open(setup: ContractSetup) {
  const database = await setup(3);
  const [first] = database.connections as [ContractConnection];
  const createWorkflow = async (name: string): Promise<string> => {
    const { id } = await first.write(
      { operation: "create_workflow", actor: ACTOR, requestId: "req_1" },
      (tx) =>
        tx.workflows.insert(
          { name, description: "", tags: [], definition: null },
          { kind: "created", reason: null, actor: ACTOR },
        ),
    );
    return id;
  };
  const workflowId = await createWorkflow("Weekly revenue");
  const now = (): string => iso(database.clock.now());
  return {
    database,
    first,
    workflowId,
    createWorkflow,
    now,
    /** Inserts a backtest of the runs `run_0` and following. */
    async insert(id: string, total: number, fields: Partial<BacktestRecord> = {}): Promise<BacktestRecord> {
      const record = newBacktest(id, { workflowId, createdAt: now(), total, ...fields });
      const sources = Array.from({ length: total }, (_, index) => `run_${index}`);
      await first.transaction((tx) => tx.backtests.insert(record, sources));
      return record;
    },
    insertRun: (id: string, fields: Partial<NewRun> = {}) =>
      first.transaction((tx) => tx.runs.insert(newRun(id, { workflowId, createdAt: now(), ...fields }))),
  };
}

const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
const positions = (items: readonly { position: number }[]): number[] => items.map(({ position }) => position);

/** The guarantees of src/core/backtest-ports.ts, and of the runs that backtests start. */
export function backtestContract(setup: ContractSetup): void {
  describe("a backtest", () => {
    it("is found as it was inserted, with its runs in order", async () => {
      const { first, insert } = await open(setup);
      const full = await insert("bt_full", 3, {
        // Larger than what is stored in the row.
        definition: { name: "Draft", description: "d".repeat(20_000) },
        given: { a: { text: "g".repeat(5_000) }, b: {} },
        reads: "live",
        keyLimits: { workflows: ["weekly-revenue"] },
      });
      const small = await insert("bt_small", 0);
      expect(await first.read.backtests.find("bt_full")).toEqual(full);
      expect(await first.read.backtests.find("bt_small")).toEqual(small);
      expect(await first.read.backtests.find("bt_none")).toBeUndefined();
      expect(await first.read.backtests.status("bt_full")).toBe("running");
      expect(await first.read.backtests.status("bt_none")).toBeUndefined();
      expect(await first.transaction((tx) => tx.backtests.lock("bt_full"))).toEqual(full);
      expect(await first.transaction((tx) => tx.backtests.lock("bt_none"))).toBeUndefined();
      const unstarted = { run: null, result: null, details: null };
      expect(await first.read.backtests.runs("bt_full", { after: null, limit: 10 })).toEqual([
        { position: 0, sourceRun: "run_0", ...unstarted },
        { position: 1, sourceRun: "run_1", ...unstarted },
        { position: 2, sourceRun: "run_2", ...unstarted },
      ]);
      expect(await first.read.backtests.runs("bt_small", { after: null, limit: 10 })).toEqual([]);
    });

    it("takes turns with those of other owners, and the oldest of one comes first", async () => {
      const { database, first, insert } = await open(setup);
      const bob = { ...ANN, owner: "bob@example.com" };
      for (const [id, actor] of [
        ["bt_1", ANN],
        ["bt_2", ANN],
        ["bt_3", ANN],
        ["bt_4", bob],
        ["bt_5", bob],
      ] as const) {
        await insert(id, 1, { actor });
        database.clock.advance(1);
      }
      await insert("bt_0", 1, { status: "finished" });
      const running = async (limit: number) => idsOf(await first.read.backtests.running(limit));
      expect(await running(9)).toEqual(["bt_1", "bt_4", "bt_2", "bt_5", "bt_3"]);
      expect(await running(3)).toEqual(["bt_1", "bt_4", "bt_2"]);
      const [oldest] = await first.read.backtests.running(1);
      // They are read at each poll, so large values are left out.
      const { definition: _definition, given: _given, ...rest } = (await first.read.backtests.find("bt_1"))!;
      expect(oldest).toEqual(rest);
      const count = (subject: string) => first.transaction((tx) => tx.backtests.countRunning(subject));
      expect([await count("ann@example.com"), await count("bob@example.com")]).toEqual([3, 2]);
    });

    it("is listed newest first, page by page, to those who can find it", async () => {
      const { database, first, workflowId, insert } = await open(setup);
      for (const id of ["bt_1", "bt_2", "bt_3"]) {
        await insert(id, 0, { project: id === "bt_2" ? "sales" : "default" });
        database.clock.advance(1);
      }
      const { backtests } = first.read;
      const filter = { workflowId };
      const page = await backtests.page({ filter, after: null, limit: 2 });
      expect(idsOf(page.items)).toEqual(["bt_3", "bt_2"]);
      const rest = await backtests.page({ filter, after: page.next, limit: 2 });
      expect([idsOf(rest.items), rest.next]).toEqual([["bt_1"], null]);
      expect(await backtests.count(filter)).toBe(3);
      const visible = { ...filter, visibility: { projects: ["default"], workflows: null } };
      expect(idsOf((await backtests.page({ filter: visible, after: null, limit: 9 })).items)).toEqual([
        "bt_3",
        "bt_1",
      ]);
      expect(await backtests.count(visible)).toBe(2);
      expect(await backtests.count({ workflowId: "none" })).toBe(0);
    });

    it("is listed by the version that it tests, without those of drafts", async () => {
      const { database, first, workflowId, insert } = await open(setup);
      for (const [id, fields] of [
        ["bt_1", { version: 1 }],
        ["bt_2", { version: 2 }],
        ["bt_3", { version: 2 }],
        ["bt_draft", { version: 2, definition: { name: "Draft" } }],
      ] as const) {
        await insert(id, 0, fields);
        database.clock.advance(1);
      }
      const { backtests } = first.read;
      const filter = { workflowId, version: 2 };
      const page = await backtests.page({ filter, after: null, limit: 1 });
      expect(idsOf(page.items)).toEqual(["bt_3"]);
      const rest = await backtests.page({ filter, after: page.next, limit: 9 });
      expect([idsOf(rest.items), rest.next]).toEqual([["bt_2"], null]);
      expect(await backtests.count(filter)).toBe(2);
      expect(await backtests.count({ workflowId, version: 3 })).toBe(0);
    });

    it("of runs of another workflow is listed only to those who can find both workflows", async () => {
      const { first, workflowId, createWorkflow, insert } = await open(setup);
      const source = await createWorkflow("Source");
      await insert("bt_own", 0);
      await insert("bt_other", 0, { sourceWorkflowId: source });
      const { backtests } = first.read;
      const listed = async (workflows: string[] | null) => {
        const filter = { workflowId, visibility: { projects: ["default"], workflows } };
        const { items } = await backtests.page({ filter, after: null, limit: 9 });
        expect(await backtests.count(filter)).toBe(items.length);
        return idsOf(items).toSorted();
      };
      for (const all of [null, [workflowId, source]])
        expect(await listed(all)).toEqual(["bt_other", "bt_own"]);
      expect(await listed([workflowId])).toEqual(["bt_own"]);
      for (const none of [[source], []]) expect(await listed(none)).toEqual([]);
    });

    it("starts no more than a limit when several start at the same time", async () => {
      const { database, first, workflowId, insert } = await open(setup);
      const template = await insert("bt_0", 0, { status: "finished" });
      const started = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          if ((await tx.backtests.countRunning(ANN.owner)) >= 2) return false;
          await pause();
          await tx.backtests.insert({ ...template, id: `bt_${caller + 1}`, status: "running" }, []);
          return true;
        }),
      );
      expect(applied(started)).toBe(2);
      expect(await first.read.backtests.count({ workflowId })).toBe(3);
    });

    it("is ended by one of several callers", async () => {
      const { database, first, insert, now } = await open(setup);
      await insert("bt_1", 1);
      await first.transaction((tx) => tx.backtests.setMessage("bt_1", "Too many runs."));
      expect(await first.read.backtests.find("bt_1")).toMatchObject({ message: "Too many runs." });
      const summary = {
        effects: [],
        reasons: {},
        step_ms: { before: 3, after: 2 },
        tokens: { before: 0, after: 0 },
        cost: { before: 0, after: 0 },
      };
      const ended = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await tx.backtests.lock("bt_1");
          await pause();
          return tx.backtests.endRunning("bt_1", {
            status: caller % 2 === 0 ? "finished" : "cancelled",
            message: null,
            finishedAt: now(),
            cancelledBy: caller % 2 === 0 ? null : "ann@example.com",
            summary,
          });
        }),
      );
      expect(applied(ended)).toBe(1);
      const found = (await first.read.backtests.find("bt_1"))!;
      expect(found).toMatchObject({ finishedAt: now(), message: null, summary });
      expect(await first.read.backtests.status("bt_1")).toBe(found.status);
      expect(found.status).toBe(ended.indexOf(true) % 2 === 0 ? "finished" : "cancelled");
      await first.transaction((tx) => tx.backtests.setMessage("bt_1", "Too late."));
      expect(await first.read.backtests.find("bt_1")).toMatchObject({ message: null });
      expect(await first.read.backtests.running(9)).toEqual([]);
    });
  });

  describe("the runs of a backtest", () => {
    it("get one replay and one result of several callers", async () => {
      const { database, first, insert } = await open(setup);
      await insert("bt_1", 1);
      const replays = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await pause();
          return tx.backtests.setRun("bt_1", 0, `run_by_${caller}`);
        }),
      );
      expect(applied(replays)).toBe(1);
      const results = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction(async (tx) => {
          await pause();
          const result = caller % 2 === 0 ? ("equal" as const) : ("different" as const);
          return tx.backtests.setResult("bt_1", 0, { result, details: backtestDetails });
        }),
      );
      expect(applied(results)).toBe(1);
      expect(await first.read.backtests.runs("bt_1", { after: null, limit: 2 })).toEqual([
        {
          position: 0,
          sourceRun: "run_0",
          run: `run_by_${replays.indexOf(true)}`,
          result: results.indexOf(true) % 2 === 0 ? "equal" : "different",
          details: backtestDetails,
        },
      ]);
    });

    it("get no replay after a result, and none at a position that does not exist", async () => {
      const { first, insert } = await open(setup);
      await insert("bt_1", 1);
      const set = (position: number) =>
        first.transaction((tx) => tx.backtests.setRun("bt_1", position, `replay_${position}`));
      const record = (position: number) =>
        first.transaction((tx) =>
          tx.backtests.setResult("bt_1", position, { result: "not_comparable", details: backtestDetails }),
        );
      expect([await set(1), await record(1)]).toEqual([false, false]);
      expect([await record(0), await set(0), await record(0)]).toEqual([true, false, false]);
    });

    it("have each replay once in all backtests", async () => {
      const { first, insert } = await open(setup);
      for (const id of ["bt_1", "bt_2"]) await insert(id, 2);
      const set = (id: string, position: number) =>
        first.transaction((tx) => tx.backtests.setRun(id, position, "run_replay"));
      expect(await set("bt_1", 0)).toBe(true);
      await expect(set("bt_2", 1)).rejects.toThrow(/unique|duplicate/i);
    });

    it("are next in order, open until their result, and counted and listed by it", async () => {
      const { first, insert } = await open(setup);
      await insert("bt_1", 5);
      await insert("bt_2", 1);
      const { backtests } = first.read;
      const state = async () => ({
        next: (await backtests.next("bt_1"))?.position,
        open: positions(await backtests.open("bt_1")),
        counts: await backtests.resultCounts("bt_1"),
      });
      expect(await state()).toEqual({ next: 0, open: [], counts: {} });
      await first.transaction(async (tx) => {
        for (const position of [0, 1, 2])
          expect(await tx.backtests.setRun("bt_1", position, `replay_${position}`)).toBe(true);
      });
      expect(await state()).toEqual({ next: 3, open: [0, 1, 2], counts: {} });
      await first.transaction(async (tx) => {
        for (const [position, result] of [
          [0, "equal"],
          [2, "failing"],
          [3, "not_comparable"],
        ] as const)
          expect(await tx.backtests.setResult("bt_1", position, { result, details: backtestDetails })).toBe(
            true,
          );
      });
      expect(await state()).toEqual({
        next: 4,
        open: [1],
        counts: { equal: 1, failing: 1, not_comparable: 1 },
      });
      const listed = async (options: Omit<Parameters<typeof backtests.runs>[1], "limit">, limit = 9) =>
        positions(await backtests.runs("bt_1", { ...options, limit }));
      expect(await listed({ after: null })).toEqual([0, 1, 2, 3, 4]);
      expect(await listed({ after: 1 }, 2)).toEqual([2, 3]);
      expect(await listed({ results: ["failing", "not_comparable"], after: null })).toEqual([2, 3]);
      expect(await listed({ results: ["failing", "equal"], after: 0 })).toEqual([2]);
      expect(await listed({ results: ["different"], after: null })).toEqual([]);
      expect(await listed({ results: [], after: null })).toEqual([]);
      expect(await backtests.resultCounts("bt_2")).toEqual({});
    });
  });

  describe("a replay", () => {
    const replay: Replay = { runId: "run_0", workflowId: "source", backtest: "bt_1", reads: "recorded" };
    const asReplay = { ...TRIAL, trigger: "backtest", replay } as const;

    it("is read as it was inserted, and other runs have none", async () => {
      const { first, insertRun } = await open(setup);
      await insertRun("run_replay", asReplay);
      await insertRun("run_other");
      expect((await first.read.runs.find("run_replay"))!.replay).toEqual(replay);
      expect((await first.transaction((tx) => tx.runs.lock("run_replay")))!.replay).toEqual(replay);
      expect((await first.read.runs.find("run_other"))!.replay).toBeNull();
    });

    it("takes no place among the active runs of its workflow", async () => {
      const { first, workflowId, insertRun } = await open(setup);
      await insertRun("run_replay", asReplay);
      await insertRun("run_other", TRIAL);
      const counts = await first.transaction(async ({ runs }) => {
        const queue = { workflowId, project: "default" };
        return [await runs.countActive(queue), await runs.countActive(queue, "backtest")];
      });
      expect(counts).toEqual([1, 0]);
    });

    it("is not listed or counted, unless by its trigger, and is never the newest run", async () => {
      const { database, first, workflowId, insertRun } = await open(setup);
      await insertRun("run_trial", TRIAL);
      database.clock.advance(MINUTE);
      await insertRun("run_plain");
      for (const id of ["run_replay_1", "run_replay_2"]) {
        database.clock.advance(MINUTE);
        await insertRun(id, asReplay);
      }
      const { runs } = first.read;
      const listed = async (filter: Parameters<typeof runs.count>[0]) => {
        const page = await runs.page({ filter, after: null, limit: 9 });
        expect(await runs.count(filter)).toBe(page.items.length);
        return idsOf(page.items);
      };
      for (const filter of [{}, { workflowId }, { project: "default" }, { status: ["queued" as const] }])
        expect(await listed(filter)).toEqual(["run_plain", "run_trial"]);
      expect(await listed({ isTrial: true })).toEqual(["run_trial"]);
      for (const filter of [{}, { workflowId }, { isTrial: true }, { status: ["queued" as const] }])
        expect(await listed({ ...filter, trigger: "backtest" })).toEqual(["run_replay_2", "run_replay_1"]);
      expect(await listed({ trigger: "backtest", isTrial: false })).toEqual([]);
      const seen = (workflows: string[]) =>
        listed({ trigger: "backtest", visibility: { projects: null, workflows } });
      expect(await seen([workflowId, "source"])).toEqual(["run_replay_2", "run_replay_1"]);
      for (const workflows of [[workflowId], ["source"], []]) expect(await seen(workflows)).toEqual([]);
      const latest = await runs.latestByWorkflow([workflowId, "none"]);
      expect([...latest].map(([id, run]) => [id, run.id])).toEqual([[workflowId, "run_plain"]]);
      expect(await runs.latestByWorkflow([workflowId], ["sales"])).toEqual(new Map());
    });
  });
}
