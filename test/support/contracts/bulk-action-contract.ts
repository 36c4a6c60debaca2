import { describe, expect, it } from "vitest";
import type { BulkActionRecord, BulkRunResult } from "../../../src/core/bulk-action-ports.ts";
import { newBulkAction } from "../bulk-action-records.ts";
import { newRun } from "../run-records.ts";
import { concurrently, type ContractConnection, type ContractSetup } from "./setup.ts";

const ANN = {
  owner: "ann@example.com",
  keyName: "ci",
  lineage: "key_1",
  surface: "mcp",
  client: "",
} as const;
const RETRIED: BulkRunResult = { result: "retried", retry: "run_new", reason: null, message: null };
const SKIPPED: BulkRunResult = {
  result: "skipped",
  retry: null,
  reason: "changed",
  message: "It has changed.",
};

async function open(setup: ContractSetup) {
  const database = await setup(3);
  const [first] = database.connections as [ContractConnection];
  /** Inserts a bulk action of the runs `run_0` and following. */
  const insert = async (id: string, total: number, fields: Partial<BulkActionRecord> = {}) => {
    const record = newBulkAction(id, { total, ...fields });
    const runs = Array.from({ length: total }, (_, index) => ({ run: `run_${index}`, planDigest: "d" }));
    await first.transaction((tx) => tx.bulkActions.insert(record, runs));
    return record;
  };
  return { database, first, insert };
}

const at = (second: number): string => `2026-11-21T08:00:0${second}.000Z`;
const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** The guarantees of src/core/bulk-action-ports.ts. */
export function bulkActionContract(setup: ContractSetup): void {
  describe("a bulk action", () => {
    it("is found as it was inserted, with more runs than a statement inserts, in order", async () => {
      const { first, insert } = await open(setup);
      const full = await insert("blk_full", 1_000, { keyLimits: { workflows: ["test"] }, rate: "1/s" });
      const { bulkActions } = first.read;
      expect(await bulkActions.find("blk_full")).toEqual(full);
      expect(await bulkActions.find("blk_none")).toBeUndefined();
      expect(await bulkActions.status("blk_full")).toBe("running");
      const { plan: _plan, ...withoutPlan } = full;
      expect(await first.transaction((tx) => tx.bulkActions.lock("blk_full"))).toEqual(withoutPlan);
      expect(await bulkActions.running(9)).toEqual([withoutPlan]);
      const runs = await bulkActions.runs("blk_full", { after: 997, limit: 10 });
      const unhandled = { planDigest: "d", result: null, retry: null, reason: null, message: null };
      expect(runs).toEqual([
        { position: 998, run: "run_998", ...unhandled },
        { position: 999, run: "run_999", ...unhandled },
      ]);
    });

    it("takes turns with those of other owners, and what was due first comes first", async () => {
      const { first, insert } = await open(setup);
      const bob = { ...ANN, owner: "bob@example.com" };
      await insert("blk_1", 1, { actor: ANN, nextAt: at(2) });
      await insert("blk_2", 1, { actor: ANN, nextAt: at(1) });
      await insert("blk_3", 1, { actor: bob, nextAt: at(3) });
      await insert("blk_4", 1, { actor: bob, status: "finished" });
      expect(idsOf(await first.read.bulkActions.running(9))).toEqual(["blk_2", "blk_3", "blk_1"]);
      const count = (subject: string) => first.transaction((tx) => tx.bulkActions.countRunning(subject));
      expect([await count(ANN.owner), await count(bob.owner), await count("eve@example.com")]).toEqual([
        2, 1, 0,
      ]);
    });

    it("records one result for each run, of however many that ask, and counts them", async () => {
      const { database, first, insert } = await open(setup);
      await insert("blk_1", 3);
      await first.transaction((tx) => tx.runs.insert(newRun("run_new", { workflowId: null })));
      const results = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.bulkActions.setResult("blk_1", 0, RETRIED)),
      );
      expect(applied(results)).toBe(1);
      expect(await first.transaction((tx) => tx.bulkActions.setResult("blk_1", 0, SKIPPED))).toBe(false);
      expect(await first.transaction((tx) => tx.bulkActions.setResult("blk_1", 1, SKIPPED))).toBe(true);
      const { bulkActions } = first.read;
      expect(await bulkActions.next("blk_1")).toMatchObject({ position: 2 });
      expect(await bulkActions.resultCounts("blk_1")).toEqual({ retried: 1, skipped: 1 });
      expect(await bulkActions.retryCounts("blk_1")).toEqual({ queued: 1 });
      expect(await bulkActions.unfinishedRetries("blk_1")).toEqual(["run_new"]);
      expect(await bulkActions.skipped("blk_1")).toEqual([
        { reason: "changed", runs: 1, first: ["run_1"], message: "run_1: It has changed." },
      ]);
      expect(await bulkActions.runs("blk_1", { result: "skipped", after: null, limit: 9 })).toHaveLength(1);
    });

    it("ends once, of however many that ask, and waits no more then", async () => {
      const { database, first, insert } = await open(setup);
      await insert("blk_1", 1);
      const end = {
        status: "finished",
        message: null,
        finishedAt: "2026-11-21T09:00:00.000Z",
        cancelledBy: null,
      } as const;
      const results = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.bulkActions.endRunning("blk_1", end)),
      );
      expect(applied(results)).toBe(1);
      const next = { nextAt: "2026-11-21T10:00:00.000Z", message: "Later." };
      await first.transaction((tx) => tx.bulkActions.setNext("blk_1", next));
      expect(await first.read.bulkActions.find("blk_1")).toMatchObject({
        ...end,
        nextAt: "2026-11-21T08:00:00.000Z",
      });
    });

    it("is listed by project and workflow, newest first, for those who can find both", async () => {
      const { first, insert } = await open(setup);
      await insert("blk_1", 0, { createdAt: "2026-11-21T08:00:00.000Z" });
      await insert("blk_2", 0, { createdAt: "2026-11-21T08:00:01.000Z", workflowId: null });
      await insert("blk_3", 0, { createdAt: "2026-11-21T08:00:02.000Z", project: "finance" });
      const { bulkActions } = first.read;
      const list = async (filter: Parameters<typeof bulkActions.count>[0]) => {
        const { items } = await bulkActions.page({ filter, after: null, limit: 9 });
        expect(await bulkActions.count(filter)).toBe(items.length);
        return idsOf(items);
      };
      expect(await list({})).toEqual(["blk_3", "blk_2", "blk_1"]);
      expect(await list({ project: "default" })).toEqual(["blk_2", "blk_1"]);
      expect(await list({ workflowId: "test" })).toEqual(["blk_3", "blk_1"]);
      expect(await list({ visibility: { projects: ["default"], workflows: ["test"] } })).toEqual(["blk_1"]);
      const page = await bulkActions.page({ filter: {}, after: null, limit: 1 });
      expect(idsOf(page.items)).toEqual(["blk_3"]);
      expect(idsOf((await bulkActions.page({ filter: {}, after: page.next, limit: 9 })).items)).toEqual([
        "blk_2",
        "blk_1",
      ]);
    });
  });
}
