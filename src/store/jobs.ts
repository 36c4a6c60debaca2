/** Jobs: pending work, claimed by executors under a fence. What is done is deleted. */
import { type Kysely, sql } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import type { Job, JobKind, JobReader, JobWriter, StepRef } from "../core/run-ports.ts";
import { decodeItem, encodeItem } from "./item-column.ts";
import { prepared, preparedInsert } from "./prepared.ts";
import type { JobRow, Schema } from "./schema.ts";

// States are written into the statements, not bound: only so SQLite knows that a partial index covers them.

/** So many jobs at most become ready at once: thousands may be due at the same moment. */
const PROMOTED_AT_ONCE = 500;

const pendingJobs = prepared((db, now: string) =>
  db
    .selectFrom("jobs")
    .select("id")
    .where("state", "=", sql.lit("ready"))
    .unionAll(
      db.selectFrom("jobs").select("id").where("state", "=", sql.lit("later")).where("due_at", "<=", now),
    )
    .limit(1),
);
const insertJob = preparedInsert("jobs");
const deleteJob = prepared((db, id: number, fence: number, executor: string) =>
  db
    .deleteFrom("jobs")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("executor", "=", executor)
    .returning("id"),
);
const heldJob = prepared((db, id: number, fence: number, executor: string) =>
  db
    .selectFrom("jobs")
    .select("id")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("executor", "=", executor),
);
const claimJob = prepared((db, executor: string, alone: number, id: number) =>
  db
    .updateTable("jobs")
    .set((eb) => ({ state: "claimed" as const, executor, alone, fence: eb("fence", "+", 1) }))
    .where("id", "=", id),
);
const promoteJobs = prepared((db, now: string) =>
  db
    .updateTable("jobs")
    .set({ state: "ready" })
    .where("id", "in", (eb) =>
      eb
        .selectFrom("jobs")
        .select("id")
        .where("state", "=", sql.lit("later"))
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .limit(PROMOTED_AT_ONCE),
    )
    .returning("id"),
);
const readyJobs = prepared((db, limit: number) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(0))
    .orderBy("priority", "desc")
    .orderBy("id")
    .limit(limit),
);
const firstSuspect = prepared((db) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(1))
    .orderBy("id")
    .limit(1),
);
const noteExecutor = prepared((db, id: string, at: string) =>
  db
    .insertInto("executors")
    .values({ id, beat: 0, started_at: at })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

async function countIn(db: Kysely<Schema>, state: JobRow["state"]): Promise<number> {
  const { count } = await db
    .selectFrom("jobs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("state", "=", sql.lit(state))
    .executeTakeFirstOrThrow();
  return count;
}

/** Reads the queue. */
export function jobReader(db: Kysely<Schema>): JobReader {
  return {
    hasClaimable: async (now) => (await pendingJobs(db, now)).length > 0,

    async nextDueAt() {
      const row = await db
        .selectFrom("jobs")
        .select("due_at")
        .where("state", "=", sql.lit("later"))
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst();
      return row?.due_at ?? null;
    },

    executors: () => db.selectFrom("executors").select(["id", "beat"]).execute(),

    async oldestReadyAt() {
      const row = await db
        .selectFrom("jobs")
        .select((eb) => eb.fn.min("due_at").as("since"))
        .where("state", "=", sql.lit("ready"))
        .executeTakeFirst();
      return row?.since ?? null;
    },

    async depth() {
      // One by one: each has an index of its own, and together they would be read from the table.
      return {
        ready: await countIn(db, "ready"),
        later: await countIn(db, "later"),
        claimed: await countIn(db, "claimed"),
      };
    },
  };
}

/** What is done after a run has ended, and what its end may wait for. */
const AFTER_END: JobKind[] = ["cancel", "on_failure", "notify"];
const UNTIL_END: JobKind[] = ["child_done", "run_timeout"];

const unitOf = (row: Pick<JobRow, "run_id" | "step_id" | "item">): StepRef => ({
  runId: row.run_id,
  stepId: row.step_id,
  item: decodeItem(row.item),
});

/** Works on the queue inside a transaction. */
export function jobWriter(trx: Kysely<Schema>, clock: Clock): JobWriter {
  return {
    ...jobReader(trx),

    async add({ runId, stepId, item, dueAt, ...job }) {
      await insertJob(trx, {
        kind: job.kind,
        state: dueAt === null ? "ready" : "later",
        priority: job.priority,
        due_at: dueAt ?? iso(clock.now()),
        run_id: runId,
        step_id: stepId,
        item: encodeItem(item),
        resource: job.resource,
        attempt: job.attempt,
        tries: job.retryCount,
        fence: 0,
        executor: null,
        suspect: 0,
        kills: 0,
        alone: 0,
      });
    },

    async claim(executor, { now, limit, limits, suspects }) {
      await promoteJobs(trx, now);
      const [suspect] = suspects === "skip" ? [] : await firstSuspect(trx);
      if (suspect !== undefined && suspects === "drain") return [];
      const chosen = suspect === undefined ? await readyWithin(trx, limit, limits) : [suspect];
      // Only who has a row can be seen to be dead: it may have been taken over while its process was frozen.
      if (chosen.length > 0) await noteExecutor(trx, executor, now);
      const jobs: Job[] = [];
      for (const row of chosen) {
        await claimJob(trx, executor, Number(suspect !== undefined), row.id);
        jobs.push({
          ...unitOf(row),
          id: row.id,
          kind: row.kind,
          priority: row.priority,
          resource: row.resource,
          attempt: row.attempt,
          retryCount: row.tries,
          fence: row.fence + 1,
          quarantined: row.suspect === 1,
          crashCount: row.kills,
        });
      }
      return jobs;
    },

    isClaimedBy: async (job, executor) => (await heldJob(trx, job.id, job.fence, executor)).length > 0,

    complete: async (job, executor) => (await deleteJob(trx, job.id, job.fence, executor)).length > 0,

    async release(job, executor, { dueAt, attempt, retryCount }) {
      const result = await trx
        .updateTable("jobs")
        .set({
          state: dueAt === null ? "ready" : "later",
          due_at: dueAt ?? iso(clock.now()),
          executor: null,
          attempt,
          tries: retryCount,
          alone: 0,
        })
        .where("id", "=", job.id)
        .where("fence", "=", job.fence)
        .where("executor", "=", executor)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    async dropUnclaimed(runId, { ended }) {
      const rows = await trx
        .deleteFrom("jobs")
        .where("run_id", "=", runId)
        .where("state", "!=", "claimed")
        .where("kind", "not in", ended ? AFTER_END : [...AFTER_END, ...UNTIL_END])
        .returning(["run_id", "step_id", "item"])
        .execute();
      return rows.map(unitOf);
    },

    async dropStepJobs({ runId, stepId, item }) {
      await trx
        .deleteFrom("jobs")
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", "=", encodeItem(item))
        .where("state", "!=", "claimed")
        .execute();
    },

    async claimedSteps(runId) {
      const rows = await trx
        .selectFrom("jobs")
        .select(["run_id", "step_id", "item"])
        .where("run_id", "=", runId)
        .where("state", "=", sql.lit("claimed"))
        .where("kind", "in", ["step", "wake", "decided", "child_done"])
        .execute();
      return rows.map(unitOf);
    },

    async hasJobForStep(runId, stepId) {
      const row = await trx
        .selectFrom("jobs")
        .select("id")
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("kind", "=", "step")
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async heartbeat(executor, at) {
      await trx
        .insertInto("executors")
        .values({ id: executor, beat: 0, started_at: at })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet((eb) => ({ beat: eb("executors.beat", "+", 1) })),
        )
        .execute();
    },

    async reclaim(executor) {
      await trx.deleteFrom("executors").where("id", "=", executor).execute();
      // One that ran alone was the cause; who only stood beside it was not.
      const result = await trx
        .updateTable("jobs")
        .set((eb) => ({
          state: "ready" as const,
          due_at: iso(clock.now()),
          executor: null,
          suspect: 1,
          kills: eb("kills", "+", eb.ref("alone")),
          alone: 0,
          fence: eb("fence", "+", 1),
          attempt: eb("attempt", "+", 1),
        }))
        .where("executor", "=", executor)
        .where("state", "=", sql.lit("claimed"))
        .executeTakeFirst();
      return Number(result.numUpdatedRows);
    },
  };
}

/** The next ready jobs whose resources have room. */
async function readyWithin(trx: Kysely<Schema>, limit: number, limits: ReadonlyMap<string, number>) {
  if (limits.size === 0) return readyJobs(trx, limit);
  const used = await trx
    .selectFrom("jobs")
    .select((eb) => ["resource" as const, eb.fn.countAll<number>().as("count")])
    .where("state", "=", sql.lit("claimed"))
    .where("resource", "is not", null)
    .groupBy("resource")
    .execute();
  const room = new Map(limits);
  for (const { resource, count } of used) {
    if (room.has(resource!)) room.set(resource!, room.get(resource!)! - count);
  }
  const full = [...room].filter(([, left]) => left <= 0).map(([name]) => name);
  const rows = await trx
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", 0)
    .where((eb) =>
      eb.or([
        eb("resource", "is", null),
        ...(full.length > 0 ? [eb("resource", "not in", full)] : [eb.lit(true)]),
      ]),
    )
    .orderBy("priority", "desc")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.filter(({ resource }) => {
    const left = resource === null ? undefined : room.get(resource);
    if (left === undefined) return true;
    room.set(resource!, left - 1);
    return left > 0;
  });
}
