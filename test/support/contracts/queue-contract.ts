import { describe, expect, it } from "vitest";
import { iso } from "../../../src/core/clock.ts";
import type { ClaimOptions } from "../../../src/core/job-ports.ts";
import type { Job, NewJob } from "../../../src/core/model.ts";
import { concurrently, type ContractDatabase, type ContractSetup, pause } from "./setup.ts";

const NEW_JOB: NewJob = {
  runId: "run_1",
  stepId: "a",
  item: null,
  kind: "step",
  priority: 0,
  dueAt: null,
  resource: null,
  attempt: 1,
  retryCount: 1,
};

const RETRY = { dueAt: null, attempt: 2, retryCount: 2 };

async function open(setup: ContractSetup) {
  const database: ContractDatabase = await setup(3);
  const [first, second] = database.connections as [
    ContractDatabase["connections"][0],
    ContractDatabase["connections"][0],
  ];
  const options: ClaimOptions = {
    now: iso(database.clock.now()),
    limit: 5,
    limits: new Map(),
    quarantined: "isolate",
  };
  return {
    database,
    first,
    second,
    options,
    add: (stepIds: readonly string[], fields: Partial<NewJob> = {}) =>
      first.transaction(async (tx) => {
        for (const stepId of stepIds) await tx.jobs.add({ ...NEW_JOB, stepId, ...fields });
      }),
    claim: (executor: string, fields: Partial<ClaimOptions> = {}) =>
      first.transaction((tx) => tx.jobs.claim(executor, { ...options, ...fields })),
    /** The number of heartbeats that are on record for an executor. */
    async heartbeats(executor: string): Promise<number | undefined> {
      const executors = await first.read.jobs.executors();
      return executors.find(({ id }) => id === executor)?.heartbeats;
    },
  };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `step_${index}`);
const stepIds = (jobs: readonly Job[]): string[] => jobs.map(({ stepId }) => stepId);
const applied = (results: readonly boolean[]): number => results.filter(Boolean).length;

/** The guarantees of src/core/job-ports.ts. */
export function queueContract(setup: ContractSetup): void {
  describe("the queue", () => {
    it("gives each job to one of several executors that claim at the same time", async () => {
      const { database, options, add } = await open(setup);
      await add(numbered(40));
      const claimed = await concurrently(database, 12, ({ transaction }, caller) =>
        transaction((tx) => tx.jobs.claim(`exe_${caller}`, options)),
      );
      expect(stepIds(claimed.flat()).toSorted()).toEqual(numbered(40).toSorted());
      const counts = await database.connections[0]!.read.jobs.depth();
      expect(counts).toEqual({ ready: 0, later: 0, claimed: 40 });
    });

    it("gives a new fence to each claim", async () => {
      const { first, add, claim } = await open(setup);
      await add(["a"]);
      const fences: number[] = [];
      for (const executor of ["exe_1", "exe_1", "exe_2"]) {
        const [job] = await claim(executor);
        fences.push(job!.fence);
        expect(await first.transaction((tx) => tx.jobs.release(job!, executor, RETRY))).toBe(true);
      }
      expect(new Set(fences).size).toBe(3);
      expect(fences.toSorted((a, b) => a - b)).toEqual(fences);
    });

    it("gives the next job of a run to the executor that completes one, and no job that waits for a turn", async () => {
      const { first, add, claim } = await open(setup);
      await add(["first"]);
      const [job] = await claim("exe_1");
      await add(["of_another"], { runId: "run_2" });
      await add(["limited"], { resource: "db:sales" });
      await add(["paced"], { rate: { key: "api", intervalMs: 1_000 } });
      await add(["later"], { dueAt: iso(Date.parse("2999-01-01T00:00:00Z")) });
      await add(["item"], { item: 3 });
      await add(["urgent"], { priority: 5 });
      await add(["notice"], { kind: "notify" });
      await add(["next", "one_more"]);
      const successor = await first.transaction(async (tx) => {
        expect(await tx.jobs.complete(job!, "exe_1")).toBe(true);
        return tx.jobs.claimSuccessor(job!, "exe_1");
      });
      expect(successor).toMatchObject({ stepId: "next", runId: "run_1", fence: 1, quarantined: false });
      await first.transaction(async (tx) => {
        expect(await tx.jobs.lockClaim(successor!, "exe_1")).toBe(true);
        expect(await tx.jobs.claimSuccessor(successor!, "exe_1")).toMatchObject({ stepId: "one_more" });
        expect(await tx.jobs.claimSuccessor(successor!, "exe_1")).toBeUndefined();
      });
    });

    it("gives the next job of a run to one of several executors, and a quarantined one to none", async () => {
      const { database, first, add, claim } = await open(setup);
      await add(["a", "b"]);
      const [job] = await claim("exe_0", { limit: 1 });
      const successors = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) => tx.jobs.claimSuccessor(job!, `exe_${caller}`)),
      );
      expect(successors.filter((successor) => successor !== undefined)).toHaveLength(1);
      for (let caller = 0; caller < 6; caller += 1)
        await first.transaction((tx) => tx.jobs.reclaim(`exe_${caller}`));
      expect(await claim("exe_7")).toHaveLength(2);
      await first.transaction((tx) => tx.jobs.reclaim("exe_7"));
      expect(await first.transaction((tx) => tx.jobs.claimSuccessor(job!, "exe_9"))).toBeUndefined();
    });

    it("accepts one end of a claim when several come at the same time", async () => {
      const { database, add, claim } = await open(setup);
      await add(["a"]);
      const [job] = await claim("exe_1");
      const ended = await concurrently(database, 6, ({ transaction }, caller) =>
        transaction((tx) =>
          caller % 2 === 0 ? tx.jobs.complete(job!, "exe_1") : tx.jobs.release(job!, "exe_1", RETRY),
        ),
      );
      expect(applied(ended)).toBe(1);
    });

    it("reports a lost claim to the executor that held it, even if it claims the job again", async () => {
      const { first, second, add, claim } = await open(setup);
      await add(["a"]);
      const [lost] = await claim("exe_1");
      await second.transaction((tx) => tx.jobs.reclaim("exe_1"));
      const [held] = await claim("exe_1");
      expect(held!.id).toBe(lost!.id);
      await first.transaction(async (tx) => {
        expect(await tx.jobs.lockClaim(lost!, "exe_1")).toBe(false);
        expect(await tx.jobs.complete(lost!, "exe_1")).toBe(false);
        expect(await tx.jobs.release(lost!, "exe_1", RETRY)).toBe(false);
        expect(await tx.jobs.lockClaim(held!, "exe_2")).toBe(false);
        expect(await tx.jobs.lockClaim(held!, "exe_1")).toBe(true);
      });
      expect(await second.transaction((tx) => tx.jobs.complete(held!, "exe_1"))).toBe(true);
    });

    it("makes claims ready again that their executor did not know, and no others", async () => {
      const { first, second, options, add, claim } = await open(setup);
      await add(["a", "b", "c", "d"]);
      const [lost, ended, known] = (await claim("exe_1", { limit: 4 })) as [Job, Job, Job];
      const [foreign] = (await claim("exe_2", { limit: 2 })) as [Job];
      expect(await second.read.jobs.claimedBy("exe_1")).toEqual(
        expect.arrayContaining([lost, ended, known].map(({ id, fence }) => ({ id, fence }))),
      );
      await first.transaction((tx) => tx.jobs.complete(ended, "exe_1"));
      const released = await first.transaction((tx) =>
        tx.jobs.releaseLost("exe_1", [lost, ended, foreign, { ...known, fence: known.fence - 1 }]),
      );
      expect(released).toBe(1);
      const [again, ...others] = await second.transaction((tx) =>
        tx.jobs.claim("exe_3", { now: options.now, limit: 4, limits: new Map(), quarantined: "isolate" }),
      );
      // Nothing was interrupted, so it is still its first attempt, and no crash.
      expect([again, others]).toMatchObject([{ id: lost.id, attempt: 1, retryCount: 1, crashCount: 0 }, []]);
      expect(await first.transaction((tx) => tx.jobs.lockClaim(lost, "exe_1"))).toBe(false);
    });

    it("keeps a locked claim until the transaction ends", async () => {
      const { first, second, add, claim } = await open(setup);
      await add(["a"]);
      const [job] = await claim("exe_1");
      const locked = Promise.withResolvers<void>();
      const order: string[] = [];
      const recording = first.transaction(async (tx) => {
        expect(await tx.jobs.lockClaim(job!, "exe_1")).toBe(true);
        locked.resolve();
        for (let turn = 0; turn < 20; turn += 1) await pause();
        expect(await tx.jobs.lockClaim(job!, "exe_1")).toBe(true);
        order.push("recorded");
      });
      await locked.promise;
      await second.transaction(async (tx) => {
        await tx.jobs.reclaim("exe_1");
        order.push("reclaimed");
      });
      await recording;
      expect(order).toEqual(["recorded", "reclaimed"]);
    });

    it("keeps the limit of a resource over all executors that claim at the same time", async () => {
      const { database, options, add } = await open(setup);
      await add(numbered(20), { resource: "database:shop" });
      await add(["free"]);
      // One of the four places stays free for another owner.
      const limits = new Map([["database:shop", 4]]);
      const claimed = await concurrently(database, 9, ({ transaction }, caller) =>
        transaction((tx) => tx.jobs.claim(`exe_${caller}`, { ...options, limit: 2, limits })),
      );
      const resources = claimed.flat().map(({ resource }) => resource);
      expect(resources.filter((resource) => resource !== null)).toHaveLength(3);
      expect(resources).toHaveLength(4);
    });

    it("starts one job for each slot of a rate, over all executors that claim at the same time", async () => {
      const { database, options, add } = await open(setup);
      const rate = { key: "step:w/a@2/s", intervalMs: 500 };
      await add(numbered(4), { rate });
      await add(["x", "y"], { resource: "model:m" });
      await add(["both"], { rate, resource: "model:m", priority: 1 });
      await add(["free"]);
      const rates = new Map([["model:m", 1_000]]);
      const claimAll = async () => {
        const claimed = await concurrently(database, 6, ({ transaction }, caller) =>
          transaction((tx) =>
            tx.jobs.claim(`exe_${caller}`, { ...options, now: iso(database.clock.now()), limit: 3, rates }),
          ),
        );
        return stepIds(claimed.flat()).toSorted();
      };
      expect(await claimAll()).toEqual(["both", "free"]);
      expect(await claimAll()).toEqual([]);
      database.clock.advance(499);
      expect(await claimAll()).toEqual([]);
      database.clock.advance(1);
      expect(await claimAll()).toEqual(["step_0"]);
      database.clock.advance(500);
      expect(await claimAll()).toEqual(["step_1", "x"]);
    });

    it("reports when the next slot of a rate is free, and claims nothing before", async () => {
      const { database, first, add, claim } = await open(setup);
      const rate = { key: "step:w/a@1/m", intervalMs: 60_000 };
      await add(["a", "b"], { rate });
      expect(stepIds(await claim("exe_1"))).toEqual(["a"]);
      const start = database.clock.now();
      const claimable = () => first.read.jobs.hasClaimable(iso(database.clock.now()));
      expect(await claimable()).toBe(false);
      expect(await first.read.jobs.nextDueAt(iso(start))).toBe(iso(start + 60_000));
      database.clock.advance(60_000);
      expect(await claimable()).toBe(true);
      expect(await first.read.jobs.nextDueAt(iso(database.clock.now()))).toBeNull();
    });

    it("gives a returned slot to the next job, but not one that a later claim has taken", async () => {
      const { database, first, add, claim } = await open(setup);
      const rate = { key: "step:w/a@1/s", intervalMs: 1_000 };
      await add(numbered(4), { rate });
      const [unused] = await claim("exe_1");
      await first.transaction((tx) => tx.jobs.returnRateSlots(unused!));
      const [next] = await claim("exe_1");
      expect(next!.stepId).toBe("step_1");
      database.clock.advance(1_000);
      expect(stepIds(await claim("exe_2"))).toEqual(["step_2"]);
      await first.transaction((tx) => tx.jobs.returnRateSlots(next!));
      expect(stepIds(await claim("exe_2"))).toEqual([]);
    });

    it("claims other jobs while a quarantined one waits for the slot of its rate", async () => {
      const { database, first, add, claim } = await open(setup);
      await add(["a"], { rate: { key: "step:w/a@1/h", intervalMs: 3_600_000 } });
      for (const wait of [0, 3_600_000]) {
        database.clock.advance(wait);
        expect(stepIds(await claim("exe_dead", { now: iso(database.clock.now()) }))).toEqual(["a"]);
        await first.transaction((tx) => tx.jobs.reclaim("exe_dead"));
      }
      await add(["b"]);
      expect(stepIds(await claim("exe_2"))).toEqual(["b"]);
      expect(stepIds(await claim("exe_2", { quarantined: "drain" }))).toEqual([]);
      database.clock.advance(3_600_000);
      expect(stepIds(await claim("exe_2"))).toEqual(["a"]);
    });

    it("ignores a slot that was taken before the clock was set back, and those of a rate that has changed", async () => {
      const { database, first, add, claim } = await open(setup);
      const rate = { key: "step:w/a@1/s", intervalMs: 1_000 };
      await add(["a", "b"], { rate });
      await claim("exe_1");
      database.clock.advance(-3_600_000);
      expect(stepIds(await claim("exe_1"))).toEqual(["b"]);
      await add(["c", "d"], { resource: "model:m" });
      expect(stepIds(await claim("exe_1", { rates: new Map([["model:m", 86_400_000]]) }))).toEqual(["c"]);
      const rates = new Map([["model:m", 200]]);
      await first.transaction((tx) => tx.jobs.dropChangedRates(rates));
      expect(stepIds(await claim("exe_1", { rates }))).toEqual(["d"]);
    });

    it("lets one of several observers reclaim a dead executor", async () => {
      const { database, first, add, claim, heartbeats } = await open(setup);
      await add(["a", "b"]);
      await first.transaction((tx) => tx.jobs.heartbeat("exe_dead", iso(database.clock.now())));
      await claim("exe_dead");
      const seen = (await heartbeats("exe_dead"))!;
      const counts = await concurrently(database, 6, ({ transaction }) =>
        transaction((tx) => tx.jobs.reclaim("exe_dead", { heartbeats: seen })),
      );
      expect(counts.filter((count) => count !== undefined)).toEqual([2]);
      const reclaimed = { attempt: 2, quarantined: false, crashCount: 1 };
      expect(await claim("exe_1")).toMatchObject([
        { stepId: "a", ...reclaimed },
        { stepId: "b", ...reclaimed },
      ]);
    });

    it("does not reclaim an executor that has sent a heartbeat since", async () => {
      const { database, first, second, add, claim, heartbeats } = await open(setup);
      await add(["a"]);
      const heartbeat = (): Promise<void> =>
        first.transaction((tx) => tx.jobs.heartbeat("exe_1", iso(database.clock.now())));
      await heartbeat();
      const [job] = await claim("exe_1");
      const seen = (await heartbeats("exe_1"))!;
      await heartbeat();
      expect(
        await second.transaction((tx) => tx.jobs.reclaim("exe_1", { heartbeats: seen })),
      ).toBeUndefined();
      expect(await first.transaction((tx) => tx.jobs.lockClaim(job!, "exe_1"))).toBe(true);
      expect(await heartbeats("exe_1")).toBe(seen + 1);
    });

    it("registers an executor with its first claim, so that it can be reclaimed", async () => {
      const { second, add, claim, heartbeats } = await open(setup);
      await add(["a"]);
      await claim("exe_1");
      const seen = (await heartbeats("exe_1"))!;
      expect(await second.transaction((tx) => tx.jobs.reclaim("exe_1", { heartbeats: seen }))).toBe(1);
    });

    it("deletes a job or lets one executor claim it when its run ends at the same time", async () => {
      const { database, first, second, options, add } = await open(setup);
      await add(numbered(15));
      const [claimed, dropped] = await Promise.all([
        concurrently(database, 6, ({ transaction }, caller) =>
          transaction((tx) => tx.jobs.claim(`exe_${caller}`, { ...options, limit: 2 })),
        ),
        second.transaction((tx) => tx.jobs.dropUnclaimed("run_1", { ended: true })),
      ]);
      const outcomes = [...stepIds(claimed.flat()), ...dropped.map(({ stepId }) => stepId)];
      expect(outcomes.toSorted()).toEqual(numbered(15).toSorted());
      expect((await first.read.jobs.depth()).ready).toBe(0);
    });

    it("shows neither the jobs nor the claims of a transaction that was rolled back", async () => {
      const { first, second, options, claim } = await open(setup);
      const failing = first.transaction(async (tx) => {
        await tx.jobs.add({ ...NEW_JOB, stepId: "never" });
        expect(await second.read.jobs.hasClaimable(options.now)).toBe(false);
        throw new Error("rolled back");
      });
      await expect(failing).rejects.toThrow("rolled back");
      expect(await claim("exe_1")).toEqual([]);
    });
  });
}
