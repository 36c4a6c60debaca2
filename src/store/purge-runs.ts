/** Purges old runs and expired cached outputs. */
import { deleteApprovalDelivery } from "./approval-delivery.ts";
import type { Kysely } from "kysely";
import { skippingLocked } from "./dialect.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { releaseValues } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import { addStoredBytes, type StoredPart } from "./stored-bytes.ts";

/** Maximum number of runs purged per transaction, which limits how long others wait for the lock. */
const MAX_PURGED_RUNS = 10;

/** Purges a batch, see `RunWriter.purge`. @returns whether there is more to purge */
export async function purgeRuns(
  trx: Kysely<Schema>,
  { before, now, limit }: { before: string; now: string; limit: number },
): Promise<boolean> {
  const expired = await trx
    .deleteFrom("step_cache")
    .where("key", "in", (eb) =>
      eb.selectFrom("step_cache").select("key").where("expires_at", "<=", now).limit(limit),
    )
    // Meanwhile it may have been stored again.
    .where("expires_at", "<=", now)
    .executeTakeFirst();
  // Other processes may purge at the same time.
  const ended = await skippingLocked(
    trx,
    trx
      .selectFrom("runs")
      .select("id")
      .where("finished_at", "is not", null)
      .where("finished_at", "<", before)
      .orderBy("finished_at")
      .limit(MAX_PURGED_RUNS),
  ).execute();
  const ids = ended.map((row) => row.id);
  // The run's row goes last, because its other rows are deleted in batches: there may be hundreds of thousands.
  const parts: StoredPart[] = [];
  let isMore = ids.length === MAX_PURGED_RUNS || expired.numDeletedRows >= BigInt(limit);
  for (const id of ids) {
    if (await purgeRowsOfRun(trx, id, limit)) {
      isMore = true;
      break;
    }
    const run = await trx
      .deleteFrom("runs")
      .where("id", "=", id)
      .returning(["owner", "lineage", "project", "stored_bytes"])
      .executeTakeFirst();
    if (run === undefined) continue;
    parts.push({ subject: usageSubjectOf(run), project: run.project, bytes: -run.stored_bytes });
  }
  // All at once, because counts are locked in one order.
  await addStoredBytes(trx, parts);
  return isMore;
}

/** Deletes up to `limit` of a run's rows from each table. @returns whether there may be more */
async function purgeRowsOfRun(trx: Kysely<Schema>, runId: string, limit: number): Promise<boolean> {
  const deleted = [
    await trx
      .deleteFrom("run_steps")
      .where((eb) =>
        eb(
          eb.refTuple("run_id", "step_id", "item"),
          "in",
          eb
            .selectFrom("run_steps")
            .select(["run_id", "step_id", "item"])
            .where("run_id", "=", runId)
            .limit(limit)
            .$asTuple("run_id", "step_id", "item"),
        ),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom("run_attempts")
      .where((eb) =>
        eb(
          eb.refTuple("run_id", "step_id", "item", "attempt"),
          "in",
          eb
            .selectFrom("run_attempts")
            .select(["run_id", "step_id", "item", "attempt"])
            .where("run_id", "=", runId)
            .limit(limit)
            .$asTuple("run_id", "step_id", "item", "attempt"),
        ),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom("run_values")
      .where("id", "in", (eb) =>
        eb.selectFrom("run_values").select("id").where("run_id", "=", runId).limit(limit),
      )
      .executeTakeFirst(),
  ];
  if (deleted.some(({ numDeletedRows }) => numDeletedRows >= BigInt(limit))) return true;
  if (await releaseValues(trx, runId, limit)) return true;
  await trx.deleteFrom("fan_outs").where("run_id", "=", runId).execute();
  await trx.deleteFrom("approval_decisions").where("run_id", "=", runId).execute();
  await trx.deleteFrom("approval_events").where("run_id", "=", runId).execute();
  await deleteApprovalDelivery(trx, runId);
  await trx.deleteFrom("approvals").where("run_id", "=", runId).execute();
  await trx.deleteFrom("events").where("run_id", "=", runId).execute();
  await trx.deleteFrom("interruptions").where("run_id", "=", runId).execute();
  return false;
}
