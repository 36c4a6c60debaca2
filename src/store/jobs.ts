/** Reads and writes the queue of jobs. A completed job is deleted. Claiming is in claim-jobs.ts. */
import { type Kysely, sql } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import type { JobReader, JobWriter } from "../core/job-ports.ts";
import { type JobKind, STOP_PRIORITY, STOPPING_KINDS } from "../core/model.ts";
import { claimJobs, claimSuccessor } from "./claim-jobs.ts";
import { forUpdate } from "./dialect.ts";
import { encodeItem, stepRefOf } from "./item-column.ts";
import { releaseDeliveries } from "./outbox.ts";
import { prepared, preparedInsert, statement } from "./prepared.ts";
import { dropChangedRates, earliestSlot, returnSlots } from "./rate-slots.ts";
import { hasReadyJob, queueHeads } from "./ready-jobs.ts";
import type { JobRow, Schema } from "./schema.ts";
import type { NewWork } from "./store.ts";
import packageJson from "../../package.json" with { type: "json" };

/** Before every time. */
const NEVER = "";

/** Executors of releases that know no projects record none (older-copies.ts). */
const RELEASE = packageJson.version;

// States are literals in the statements, because SQLite uses a partial index only if the statement contains its state.

const stoppingJobs = prepared((db, now: string) =>
  db
    .selectFrom("jobs")
    .select("id")
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(0))
    .where("priority", "=", sql.lit(STOP_PRIORITY))
    .unionAll(
      db
        .selectFrom("jobs")
        .select("id")
        .where("state", "=", sql.lit("later"))
        .where("priority", "=", sql.lit(STOP_PRIORITY))
        .where("due_at", "<=", now),
    )
    .limit(1),
);
/** A job belongs to the owner and the workflow of its run. */
const insertJob = preparedInsert("jobs", ({ run_id: runId }) => ({
  subject: sql`coalesce((select subject from runs where id = ${runId}), '?')`,
  workflow_id: sql`coalesce((select workflow_id from runs where id = ${runId}), '?')`,
}));
const deleteJob = prepared((db, id: number, fence: number, executor: string) =>
  db
    .deleteFrom("jobs")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("executor", "=", executor)
    .returning("id"),
);
const findClaim = prepared((db, id: number, fence: number, executor: string) =>
  forUpdate(
    db,
    db
      .selectFrom("jobs")
      .select("id")
      .where("id", "=", id)
      .where("fence", "=", fence)
      .where("executor", "=", executor),
  ),
);

const claimsOf = prepared((db, executor: string) =>
  db
    .selectFrom("jobs")
    .select(["id", "fence"])
    .where("executor", "=", executor)
    .where("state", "=", sql.lit("claimed")),
);

const firstLater = prepared((db, now: number) =>
  statement<{ dueAt: string | null; slot: number | null }>(
    db,
    sql`select (select due_at from jobs where state = 'later' order by due_at limit 1) as "dueAt",
      ${earliestSlot(now)} as slot`,
  ),
);

async function countByState(db: Kysely<Schema>, state: JobRow["state"]): Promise<number> {
  const { count } = await db
    .selectFrom("jobs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("state", "=", sql.lit(state))
    .executeTakeFirstOrThrow();
  return count;
}

export function jobReader(db: Kysely<Schema>): JobReader {
  return {
    async hasClaimable(now, { stopping = false, timed = true } = {}) {
      if (stopping) return (await stoppingJobs(db, timed ? now : NEVER)).length > 0;
      return hasReadyJob(db, Date.parse(now), timed ? now : NEVER);
    },

    claimedBy: (executor) => claimsOf(db, executor),

    async nextDueAt(now) {
      const { dueAt, slot } = (await firstLater(db, Date.parse(now)))[0]!;
      return [dueAt, slot === null ? null : iso(slot)].filter((at) => at !== null).toSorted()[0] ?? null;
    },

    executors: () =>
      db
        .selectFrom("executors")
        .select(["id", "beat as heartbeats", "clock_offset as clockOffset"])
        .execute(),

    async oldestReadyAt() {
      const row = await db
        .selectFrom("jobs")
        .select((eb) => eb.fn.min("due_at").as("since"))
        .where("state", "=", sql.lit("ready"))
        .executeTakeFirst();
      return row?.since ?? null;
    },

    queueHeads: () => queueHeads(db),

    async depth() {
      // One query per state, because each state has its own index; one query for all would scan the table.
      return {
        ready: await countByState(db, "ready"),
        later: await countByState(db, "later"),
        claimed: await countByState(db, "claimed"),
      };
    },
  };
}

/** The kinds of jobs that run after the end of a run. */
const AFTER_END: JobKind[] = ["cancel", "on_failure", "notify", "announce"];
/** The kinds of jobs that a stopped run may still need in order to end. */
const UNTIL_END: JobKind[] = ["child_done", "run_timeout", "undo"];

/** @param left counts the jobs that are ready and that nobody has claimed in this transaction */
export function jobWriter(trx: Kysely<Schema>, clock: Clock, left: Pick<NewWork, "jobs">): JobWriter {
  return {
    ...jobReader(trx),

    async add({ runId, stepId, item, dueAt, rate, ...job }) {
      if (dueAt === null) left.jobs += 1;
      await insertJob(trx, {
        kind: job.kind,
        state: dueAt === null ? "ready" : "later",
        priority: STOPPING_KINDS.includes(job.kind) ? STOP_PRIORITY : job.priority,
        due_at: dueAt ?? iso(clock.now()),
        run_id: runId,
        step_id: stepId,
        item: encodeItem(item),
        resource: job.resource,
        rate_key: rate?.key ?? null,
        rate_ms: rate?.intervalMs ?? null,
        attempt: job.attempt,
        tries: job.retryCount + 1,
        fence: 0,
        executor: null,
        suspect: 0,
        kills: 0,
        alone: 0,
      });
    },

    claim: (executor, options) => claimJobs(trx, clock, executor, options),

    async claimSuccessor(job, executor) {
      const successor = await claimSuccessor(trx, executor, job);
      if (successor !== undefined) left.jobs -= 1;
      return successor;
    },

    readyLeft: () => left.jobs,

    returnRateSlots: ({ rateSlots = [] }) => returnSlots(trx, rateSlots, clock.now()),

    dropChangedRates: (rates) => dropChangedRates(trx, rates),

    lockClaim: async ({ id, fence }, executor) => (await findClaim(trx, id, fence, executor)).length > 0,

    async complete({ id, fence, resource }, executor) {
      const isCompleted = (await deleteJob(trx, id, fence, executor)).length > 0;
      // Others may wait for its place.
      if (isCompleted && resource !== null) left.jobs += 1;
      return isCompleted;
    },

    async release(job, executor, { dueAt, attempt, retryCount }) {
      const result = await trx
        .updateTable("jobs")
        .set({
          state: dueAt === null ? "ready" : "later",
          due_at: dueAt ?? iso(clock.now()),
          executor: null,
          attempt,
          tries: retryCount + 1,
          alone: 0,
        })
        .where("id", "=", job.id)
        .where("fence", "=", job.fence)
        .where("executor", "=", executor)
        .executeTakeFirst();
      const isReleased = result.numUpdatedRows > 0n;
      if (isReleased) left.jobs += 1;
      return isReleased;
    },

    async releaseLost(executor, claims) {
      let count = 0;
      for (const { id, fence } of claims) {
        const { numUpdatedRows } = await trx
          .updateTable("jobs")
          .set((eb) => ({
            state: "ready",
            due_at: iso(clock.now()),
            executor: null,
            alone: 0,
            fence: eb("fence", "+", 1),
          }))
          .where("id", "=", id)
          .where("fence", "=", fence)
          .where("executor", "=", executor)
          .where("state", "=", sql.lit("claimed"))
          .executeTakeFirstOrThrow();
        count += Number(numUpdatedRows);
      }
      left.jobs += count;
      return count;
    },

    async dropUnclaimed(runId, { ended }) {
      const rows = await trx
        .deleteFrom("jobs")
        .where("run_id", "=", runId)
        .where("state", "!=", "claimed")
        .where("kind", "not in", ended ? AFTER_END : [...AFTER_END, ...UNTIL_END])
        .returning(["run_id", "step_id", "item"])
        .execute();
      return rows.map(stepRefOf);
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

    async startAttemptsNow({ runId, stepId, item }) {
      const { numUpdatedRows } = await trx
        .updateTable("jobs")
        .set({ state: "ready", due_at: iso(clock.now()) })
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", "=", encodeItem(item))
        .where("kind", "=", "step")
        .where("state", "=", "later")
        .executeTakeFirst();
      left.jobs += Number(numUpdatedRows);
    },

    async claimedSteps(runId) {
      const rows = await trx
        .selectFrom("jobs")
        .select(["run_id", "step_id", "item"])
        .where("run_id", "=", runId)
        .where("state", "=", sql.lit("claimed"))
        .where("kind", "in", ["step", "wake", "decided", "child_done"])
        .execute();
      return rows.map(stepRefOf);
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

    async heartbeat(executor, at, { clockOffset, running = [] } = {}) {
      const reported = {
        clock_offset: clockOffset === undefined ? null : Math.round(clockOffset),
        running: JSON.stringify(running.map(({ id, fence }) => [id, fence])),
      };
      await trx
        .insertInto("executors")
        .values({ id: executor, beat: 0, started_at: at, release: RELEASE, ...reported })
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet((eb) => ({ beat: eb("executors.beat", "+", 1), ...reported })),
        )
        .execute();
    },

    async reclaim(executor, expected) {
      let removal = trx.deleteFrom("executors").where("id", "=", executor);
      if (expected !== undefined) removal = removal.where("beat", "=", expected.heartbeats);
      const { numDeletedRows } = await removal.executeTakeFirstOrThrow();
      if (expected !== undefined && numDeletedRows === 0n) return undefined;
      await releaseDeliveries(trx, executor, iso(clock.now()));
      const { numUpdatedRows } = await trx
        .updateTable("jobs")
        .set((eb) => ({
          state: "ready" as const,
          due_at: iso(clock.now()),
          executor: null,
          // One crash says nothing about a job that ran beside others, two may be its doing.
          suspect: eb.case().when("kills", ">", 0).then(1).else(eb.ref("suspect")).end(),
          // From then on only a crash counts during which it was isolated.
          kills: eb
            .case()
            .when(eb.or([eb("suspect", "=", 0), eb("alone", "=", 1)]))
            .then(eb("kills", "+", 1))
            .else(eb.ref("kills"))
            .end(),
          alone: 0,
          fence: eb("fence", "+", 1),
          attempt: eb("attempt", "+", 1),
        }))
        .where("executor", "=", executor)
        .where("state", "=", sql.lit("claimed"))
        .executeTakeFirstOrThrow();
      left.jobs += Number(numUpdatedRows);
      return Number(numUpdatedRows);
    },
  };
}
