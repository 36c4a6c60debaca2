/** Claims jobs: due ones, by priority and age, within the limits of their resources. */
import { type Kysely, type Selectable, sql } from "kysely";
import type { ClaimOptions } from "../core/job-ports.ts";
import type { Job } from "../core/model.ts";
import { decodeItem } from "./item-column.ts";
import { prepared } from "./prepared.ts";
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
const oldestQuarantined = prepared((db) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(1))
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
  executor: string,
  { now, limit, limits, quarantined }: ClaimOptions,
): Promise<Job[]> {
  await promoteJobs(trx, now);
  const [isolated] = quarantined === "skip" ? [] : await oldestQuarantined(trx);
  if (isolated !== undefined && quarantined === "drain") return [];
  const candidates = isolated === undefined ? await readyJobsWithCapacity(trx, limit, limits) : [isolated];
  // Only an executor with a row can be found dead, and this one may have been reclaimed while its process was frozen.
  if (candidates.length > 0) await registerExecutor(trx, executor, now);
  const jobs: Job[] = [];
  for (const row of candidates) {
    const updated = await claimJob(trx, executor, Number(isolated !== undefined), row.id, row.fence);
    if (updated.length > 0) jobs.push(claimedJob(row));
  }
  return jobs;
}

const claimedJob = (row: Selectable<JobRow>): Job => ({
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
});

/** The next ready jobs, without those whose resource has no free capacity. */
async function readyJobsWithCapacity(
  trx: Kysely<Schema>,
  limit: number,
  limits: ReadonlyMap<string, number>,
): Promise<Selectable<JobRow>[]> {
  if (limits.size === 0) return readyJobs(trx, limit);
  const free = await freeCapacity(trx, limits);
  const full = [...free].filter(([, capacity]) => capacity <= 0).map(([resource]) => resource);
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
