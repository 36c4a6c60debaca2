/** Claims jobs: in turns over owners and their workflows, within the limits of slots, resources and rates. */
import { type Kysely, sql } from "kysely";
import type { Clock } from "../core/clock.ts";
import { mayTakePlace } from "../core/fair-share.ts";
import type { ClaimOptions } from "../core/job-ports.ts";
import { type Job, type Rate, type RateSlot, STOP_PRIORITY } from "../core/model.ts";
import { againstDeletion, skippingLocked, writesConcurrently } from "./dialect.ts";
import { decodeItem, encodeItem } from "./item-column.ts";
import { prepared, preparedWrite } from "./prepared.ts";
import { promoteDueJobs } from "./promote-jobs.ts";
import { returnSlots, takeSlots, waitsForSlot } from "./rate-slots.ts";
import { type ReadyJob, type ReadyJobs, readyJobs } from "./ready-jobs.ts";
import { type ResourceShares, resourceShares } from "./resource-shares.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of jobs that stop work in one claim. They end within milliseconds. */
const MAX_STOPPING_JOBS = 16;

const nextQuarantined = prepared((db, now: number, lastOwner: string) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(1))
    .where((eb) => eb.not(waitsForSlot(now)))
    .orderBy((eb) => eb("subject", ">", lastOwner), "desc")
    .orderBy("subject")
    .orderBy("id")
    .limit(1),
);
/** Claims a job, unless another executor has claimed it since it was read, or is claiming it. */
const claimJob = prepared((db, executor: string, isolated: number, id: number, fence: number) => {
  const unclaimed = db
    .selectFrom("jobs")
    .select("id")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("state", "=", sql.lit("ready"));
  return db
    .updateTable("jobs")
    .set((eb) => ({ state: "claimed" as const, executor, alone: isolated, fence: eb("fence", "+", 1) }))
    .where("id", "=", skippingLocked(db, unclaimed))
    .returning("id");
});
/** Claims the oldest job of a run that needs no slot of a resource or a rate. */
const claimOfRun = prepared((db, executor: string, runId: string, priority: number) =>
  db
    .updateTable("jobs")
    .set((eb) => ({ state: "claimed" as const, executor, alone: 0, fence: eb("fence", "+", 1) }))
    .where("id", "=", (eb) =>
      skippingLocked(
        db,
        eb
          .selectFrom("jobs")
          .select("id")
          .where("run_id", "=", runId)
          .where("state", "=", sql.lit("ready"))
          // An equation would let SQLite search all ready jobs instead of those of the run.
          .where("suspect", "!=", sql.lit(1))
          .where("kind", "in", [sql.lit("step" as const), sql.lit("finish" as const)])
          .where("item", "=", sql.lit(encodeItem(null)))
          .where("priority", "=", priority)
          .where("resource", "is", null)
          .where("rate_key", "is", null)
          .orderBy("id")
          .limit(1),
      ),
    )
    .where("state", "=", sql.lit("ready"))
    .returningAll(),
);
const registerExecutor = preparedWrite((db, id: string, at: string) =>
  db
    .insertInto("executors")
    .values({ id, beat: 0, started_at: at })
    .onConflict((conflict) =>
      // The row is locked, so that the executor is not reclaimed before its claim is committed.
      writesConcurrently(db)
        ? // A column that is no key: changing a key would lock out all that end steps, which share the row.
          conflict.column("id").doUpdateSet((eb) => ({ started_at: eb.ref("executors.started_at") }))
        : conflict.column("id").doNothing(),
    ),
);

const lockExecutor = prepared((db, id: string) =>
  againstDeletion(db, db.selectFrom("executors").select("id").where("id", "=", id)),
);

/** Claims the next job of a run, see `JobWriter.claimSuccessor`. */
export async function claimSuccessor(
  trx: Kysely<Schema>,
  executor: string,
  { runId, priority }: Pick<Job, "runId" | "priority">,
): Promise<Job | undefined> {
  // One that is being reclaimed gets no more jobs.
  if (writesConcurrently(trx) && (await lockExecutor(trx, executor)).length === 0) return undefined;
  const [row] = await claimOfRun(trx, executor, runId, priority);
  return row === undefined ? undefined : claimedJob(row, []);
}

/** Claims due jobs, see `JobWriter.claim`. */
export async function claimJobs(
  trx: Kysely<Schema>,
  clock: Clock,
  executor: string,
  options: ClaimOptions,
): Promise<Job[]> {
  const { now, limits, rates = new Map<string, number>(), quarantined, turns, timed = true } = options;
  if (timed) await promoteDueJobs(trx, now);
  // The transaction may have waited for others, and slots are counted from the claim.
  const claimedAt = clock.now();
  const jobs: Job[] = [];

  /** @returns the rates whose slots the job has taken; undefined when it was not claimed */
  async function claim(row: ReadyJob, isolated: boolean): Promise<readonly RateSlot[] | undefined> {
    const slots = await takeSlots(trx, ratesOf(row, rates), claimedAt);
    if (slots === undefined) return undefined;
    // Only an executor with a row can be found dead, and this one may have been reclaimed while its process was frozen.
    if (jobs.length === 0) await registerExecutor(trx, executor, now);
    const updated = await claimJob(trx, executor, Number(isolated), row.id, row.fence);
    if (updated.length > 0) jobs.push(claimedJob({ ...row, fence: row.fence + 1 }, slots));
    else {
      await returnSlots(trx, slots, claimedAt);
      options.onLostRace?.();
    }
    return updated.length > 0 ? slots : undefined;
  }

  const [isolated] = quarantined === "skip" ? [] : await nextQuarantined(trx, claimedAt, turns?.owner ?? "");
  if (isolated !== undefined && quarantined === "isolate") {
    await claim(isolated, true);
    return jobs;
  }
  if (isolated !== undefined && quarantined === "beside") {
    const { limit, held } = options;
    const mayTake = mayTakePlace({ held: held?.get(isolated.subject) ?? 0, free: limit });
    if (mayTake && (await claim(isolated, false)) !== undefined) return jobs;
  }
  const ready = await readyJobs(
    trx,
    claimedAt,
    (row) => limits.has(row.resource ?? "") || ratesOf(row, rates).length > 0,
  );
  if (ready.priorities.length === 0) {
    if (isolated === undefined) options.onLostRace?.();
    return jobs;
  }
  await claimInTurns(ready, {
    ...options,
    limit: isolated !== undefined && quarantined === "drain" ? 0 : options.limit,
    shares: await resourceShares(trx, limits),
    claim: (row) => claim(row, false),
  });
  return jobs;
}

interface TurnOptions extends Pick<ClaimOptions, "limit" | "held" | "turns" | "maxPriority"> {
  shares: ResourceShares;
  /** @returns the rates whose slots the job has taken; undefined when it was not claimed */
  claim(row: ReadyJob): Promise<readonly RateSlot[] | undefined>;
}

async function claimInTurns(
  ready: ReadyJobs,
  { limit, held = new Map(), turns, maxPriority = 0, shares, claim }: TurnOptions,
): Promise<void> {
  const heldSlots = new Map(held);
  const lastWorkflows = new Map<string, string>();
  let lastOwner = turns?.owner ?? "";
  let free = limit;
  const mayTakeSlot = (owner: string): boolean => mayTakePlace({ held: heldSlots.get(owner) ?? 0, free });

  for (const priorities of levelsOf(ready.priorities, maxPriority)) await claimLevel(priorities);

  async function claimLevel(priorities: readonly number[]): Promise<void> {
    const stopping = priorities[0] === STOP_PRIORITY;
    /** Owners without a job that can start now. */
    const idle = new Set<string>();
    for (let count = 0; stopping ? count < MAX_STOPPING_JOBS : free > 0;) {
      const owner = await nextOwner(
        priorities,
        (candidate) => !idle.has(candidate) && (stopping || mayTakeSlot(candidate)),
      );
      if (owner === undefined) return;
      const row = await nextJob(priorities, owner);
      const slots = row === undefined ? undefined : await claim(row);
      if (row === undefined || slots === undefined) {
        if (row === undefined || !ready.skip(row)) idle.add(owner);
        continue;
      }
      count += 1;
      ready.remove(
        row,
        slots.map(({ key }) => key),
      );
      shares.take(owner, row.resource);
      lastOwner = owner;
      lastWorkflows.set(owner, row.workflow_id);
      if (stopping) continue;
      heldSlots.set(owner, (heldSlots.get(owner) ?? 0) + 1);
      free -= 1;
    }
  }

  /** The owner whose turn it is: the first one after the last one, or else the first one of all. */
  async function nextOwner(
    priorities: readonly number[],
    mayTake: (owner: string) => boolean,
  ): Promise<string | undefined> {
    const full = shares.full();
    let hasWrapped = lastOwner === "";
    for (let after = lastOwner; ;) {
      const found: (string | undefined)[] = [];
      for (const priority of priorities) found.push(await ready.nextOwner({ priority, full, after }));
      const owner = found.filter((candidate) => candidate !== undefined).toSorted()[0];
      if (owner !== undefined && mayTake(owner)) return owner;
      const isSeen = lastOwner !== "" && owner !== undefined && owner >= lastOwner;
      if (hasWrapped && (owner === undefined || isSeen)) return undefined;
      hasWrapped ||= owner === undefined;
      after = owner ?? "";
    }
  }

  async function nextJob(priorities: readonly number[], owner: string): Promise<ReadyJob | undefined> {
    const full = shares.full(owner);
    const last = lastWorkflows.get(owner) ?? turns?.workflows.get(owner) ?? "";
    for (const priority of priorities) {
      for (const after of last === "" ? [""] : [last, ""]) {
        const row = await ready.nextJob({ priority, full, owner, after });
        if (row !== undefined) return row;
      }
    }
    return undefined;
  }
}

/** Groups priorities, the highest first: owners take turns over the jobs of a group. */
function levelsOf(priorities: readonly number[], maxPriority: number): number[][] {
  const levels = new Map<number, number[]>();
  for (const priority of priorities) {
    const level = priority === STOP_PRIORITY ? priority : Math.min(priority, maxPriority);
    levels.set(level, [...(levels.get(level) ?? []), priority]);
  }
  return [...levels.values()];
}

const ratesOf = (
  { rate_key: key, rate_ms: ms, resource }: ReadyJob,
  rates: ReadonlyMap<string, number>,
): Rate[] => {
  const resourceMs = resource === null ? undefined : rates.get(resource);
  return [
    ...(key === null ? [] : [{ key, intervalMs: ms! }]),
    ...(resourceMs === undefined ? [] : [{ key: resource!, intervalMs: resourceMs }]),
  ];
};

/** @param row the job as it is after the claim */
const claimedJob = (row: ReadyJob, rateSlots: readonly RateSlot[]): Job => ({
  runId: row.run_id,
  stepId: row.step_id,
  item: decodeItem(row.item),
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  workflowId: row.workflow_id,
  priority: row.priority,
  resource: row.resource,
  attempt: row.attempt,
  retryCount: row.tries - 1,
  fence: row.fence,
  quarantined: row.suspect === 1,
  crashCount: row.kills,
  rateSlots,
});
