/** Claims jobs: due ones, by priority and age, within the limits of their resources and their rates. */
import { type Kysely, type Selectable, sql } from "kysely";
import type { Clock } from "../core/clock.ts";
import type { ClaimOptions } from "../core/job-ports.ts";
import type { Job, Rate, RateSlot } from "../core/model.ts";
import { decodeItem } from "./item-column.ts";
import { prepared } from "./prepared.ts";
import { exhaustedRates, returnSlots, takeSlots, waitsForSlot } from "./rate-slots.ts";
import type { JobRow, Schema } from "./schema.ts";

/** Maximum number of due jobs that one claim makes ready; thousands may become due at the same time. */
const PROMOTION_LIMIT = 500;

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
        .limit(PROMOTION_LIMIT),
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
const oldestQuarantined = prepared((db, now: number) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(1))
    .where((eb) => eb.not(waitsForSlot(now)))
    .orderBy("id")
    .limit(1),
);
/** Claims a job, unless another executor has claimed it since it was read. */
const claimJob = prepared((db, executor: string, isolated: number, id: number, fence: number) =>
  db
    .updateTable("jobs")
    .set((eb) => ({ state: "claimed" as const, executor, alone: isolated, fence: eb("fence", "+", 1) }))
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("state", "=", sql.lit("ready"))
    .returning("id"),
);
const registerExecutor = prepared((db, id: string, at: string) =>
  db
    .insertInto("executors")
    .values({ id, beat: 0, started_at: at })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/** Claims due jobs, see `JobWriter.claim`. */
export async function claimJobs(
  trx: Kysely<Schema>,
  clock: Clock,
  executor: string,
  { now, limit, limits, rates = new Map(), quarantined }: ClaimOptions,
): Promise<Job[]> {
  await promoteJobs(trx, now);
  // The transaction may have waited for others, and slots are counted from the claim.
  const claimedAt = clock.now();
  const [isolated] = quarantined === "skip" ? [] : await oldestQuarantined(trx, claimedAt);
  if (isolated !== undefined && quarantined === "drain") return [];
  const exhausted = await exhaustedRates(trx, claimedAt);
  const candidates =
    isolated === undefined ? await readyJobsWithCapacity(trx, limit, limits, exhausted) : [isolated];
  // Only an executor with a row can be found dead, and this one may have been reclaimed while its process was frozen.
  if (candidates.length > 0) await registerExecutor(trx, executor, now);
  const jobs: Job[] = [];
  for (const row of candidates) {
    // Of the jobs of one rate, one gets its slot; the others wait for the next one.
    const slots = await takeSlots(trx, ratesOf(row, rates), claimedAt);
    if (slots === undefined) continue;
    const updated = await claimJob(trx, executor, Number(isolated !== undefined), row.id, row.fence);
    if (updated.length > 0) jobs.push(claimedJob(row, slots));
    else await returnSlots(trx, slots, claimedAt);
  }
  return jobs;
}

const ratesOf = (
  { rate_key: key, rate_ms: ms, resource }: Selectable<JobRow>,
  rates: ReadonlyMap<string, number>,
): Rate[] => {
  const resourceMs = resource === null ? undefined : rates.get(resource);
  return [
    ...(key === null ? [] : [{ key, intervalMs: ms! }]),
    ...(resourceMs === undefined ? [] : [{ key: resource!, intervalMs: resourceMs }]),
  ];
};

const claimedJob = (row: Selectable<JobRow>, rateSlots: readonly RateSlot[]): Job => ({
  runId: row.run_id,
  stepId: row.step_id,
  item: decodeItem(row.item),
  id: row.id,
  kind: row.kind,
  priority: row.priority,
  resource: row.resource,
  attempt: row.attempt,
  retryCount: row.tries - 1,
  fence: row.fence + 1,
  quarantined: row.suspect === 1,
  crashCount: row.kills,
  rateSlots,
});

/** The condition that a column holds none of some values. */
const without = (column: "resource" | "rate_key", values: readonly string[]) =>
  sql<boolean>`(${sql.ref(column)} is null or ${sql.ref(column)} not in (${sql.join(values.length > 0 ? values : [""])}))`;

/** The next ready jobs, without those whose resource has no free capacity, or whose rate has no free slot. */
async function readyJobsWithCapacity(
  trx: Kysely<Schema>,
  limit: number,
  limits: ReadonlyMap<string, number>,
  exhausted: ReadonlySet<string>,
): Promise<Selectable<JobRow>[]> {
  if (limits.size === 0 && exhausted.size === 0) return readyJobs(trx, limit);
  const free = await freeCapacity(trx, limits);
  const full = [...free].filter(([, capacity]) => capacity <= 0).map(([resource]) => resource);
  const rows = await trx
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", 0)
    .where(without("resource", [...full, ...exhausted]))
    .where(without("rate_key", [...exhausted]))
    .orderBy("priority", "desc")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.filter(({ resource }) => {
    const capacity = resource === null ? undefined : free.get(resource);
    if (capacity === undefined) return true;
    free.set(resource!, capacity - 1);
    return capacity > 0;
  });
}

/** How many more jobs each limited resource can take. */
async function freeCapacity(
  trx: Kysely<Schema>,
  limits: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const used = await trx
    .selectFrom("jobs")
    .select((eb) => ["resource" as const, eb.fn.countAll<number>().as("count")])
    .where("state", "=", sql.lit("claimed"))
    .where("resource", "is not", null)
    .groupBy("resource")
    .execute();
  const free = new Map(limits);
  for (const { resource, count } of used) {
    const max = limits.get(resource!);
    if (max !== undefined) free.set(resource!, max - count);
  }
  return free;
}
