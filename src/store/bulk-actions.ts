/** Reads and writes bulk actions. */
import { type ExpressionBuilder, type Kysely, type Selectable } from "kysely";
import type { SkippedRuns } from "../../schemas/bulk-action.ts";
import type {
  BulkActionFilter,
  BulkActionReader,
  BulkActionRecord,
  BulkActionWriter,
  BulkRunRecord,
  RunningBulkAction,
} from "../core/bulk-action-ports.ts";
import { addUpSkipped } from "../core/skipped-runs.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { cappedCount } from "./capped-count.ts";
import { forUpdate, lockName } from "./dialect.ts";
import { jsonText, parseJson } from "./json-column.ts";
import type { BulkActionRow, BulkActionRunRow, Schema } from "./schema.ts";
import { addStoredBytes, type StoredPart } from "./stored-bytes.ts";
import { visibleRows } from "./visibility.ts";

/** Maximum number of bulk actions purged per transaction, which limits how long others wait for the lock. */
const MAX_PURGED = 10;
/** What one of its runs counts as stored, in bytes: ids, and the message of one that is skipped (bulk-runner.ts limits it). */
const RUN_BYTES = 600;
/** All columns but the plan. */
const WITHOUT_PLAN = [
  "id",
  "action",
  "project",
  "workflow_id",
  "version",
  "rate",
  "concurrency",
  "status",
  "total",
  "digest",
  "reason",
  "message",
  "next_at",
  "owner",
  "key_name",
  "lineage",
  "key_limits",
  "surface",
  "client",
  "subject",
  "stored_bytes",
  "created_at",
  "finished_at",
  "cancelled_by",
] as const satisfies (keyof BulkActionRow)[];
/** Number of runs that are inserted in one statement, which has a maximum of parameters. */
const INSERTED_AT_ONCE = 500;

const toRecord = (row: BulkActionRow): BulkActionRecord => ({
  ...toRunning(row),
  plan: parseJson<BulkActionRecord["plan"]>(row.plan)!,
});

const toRunning = (row: Omit<BulkActionRow, "plan">): RunningBulkAction => ({
  id: row.id,
  action: row.action,
  project: row.project,
  workflowId: row.workflow_id,
  version: row.version,
  rate: row.rate,
  concurrency: row.concurrency,
  status: row.status,
  total: row.total,
  digest: row.digest,
  reason: row.reason,
  message: row.message,
  nextAt: row.next_at,
  actor: {
    owner: row.owner,
    keyName: row.key_name,
    lineage: row.lineage,
    surface: row.surface,
    client: row.client,
  },
  keyLimits: parseJson(row.key_limits),
  createdAt: row.created_at,
  finishedAt: row.finished_at,
  cancelledBy: row.cancelled_by,
});

const toRunRecord = (row: Selectable<BulkActionRunRow>): BulkRunRecord => ({
  position: row.position,
  run: row.run,
  planDigest: row.plan_digest,
  result: row.result,
  retry: row.retry,
  reason: row.reason,
  message: row.message,
});

const toSkipped = ({ run, reason, message }: BulkActionRunRow): SkippedRuns => ({
  reason: reason!,
  runs: 1,
  first: [run],
  message: message === null ? undefined : `${run}: ${message}`,
});

const matching = (
  eb: ExpressionBuilder<Schema, "bulk_actions">,
  { project, workflowId, visibility }: BulkActionFilter,
) =>
  eb.and([
    ...(project === undefined ? [] : [eb("project", "=", project)]),
    ...(workflowId === undefined ? [] : [eb("workflow_id", "=", workflowId)]),
    ...visibleRows(visibility, { project: "bulk_actions.project", workflow: "bulk_actions.workflow_id" }),
  ]);

export function bulkActionReader(db: Kysely<Schema>): BulkActionReader {
  const runsOf = (id: string) =>
    db.selectFrom("bulk_action_runs").selectAll().where("bulk_action_id", "=", id).orderBy("position");
  return {
    async find(id) {
      const row = await db.selectFrom("bulk_actions").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async status(id) {
      const row = await db
        .selectFrom("bulk_actions")
        .select("status")
        .where("id", "=", id)
        .executeTakeFirst();
      return row?.status;
    },

    async running(limit) {
      const running = db
        .selectFrom("bulk_actions")
        .select(WITHOUT_PLAN)
        .select((eb) =>
          eb.fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("subject").orderBy("next_at").orderBy("id"))
            .as("turn"),
        )
        .where("status", "=", "running");
      const rows = await db
        .selectFrom(running.as("running"))
        .selectAll()
        .orderBy("turn")
        .orderBy("next_at")
        .limit(limit)
        .execute();
      return rows.map(toRunning);
    },

    async page({ filter, after, limit }) {
      let query = db
        .selectFrom("bulk_actions")
        .select(WITHOUT_PLAN)
        .where((eb) => matching(eb, filter));
      if (after !== null)
        query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after[0], after[1])));
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(toRunning),
        next: rows.length > limit ? [last!.created_at, last!.id] : null,
      };
    },

    count: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("bulk_actions").where((eb) => matching(eb, filter)),
      ),

    async resultCounts(id) {
      const rows = await db
        .selectFrom("bulk_action_runs")
        .select(["result", (eb) => eb.fn.countAll<number>().as("count")])
        .where("bulk_action_id", "=", id)
        .where("result", "is not", null)
        .groupBy("result")
        .execute();
      return Object.fromEntries(rows.map(({ result, count }) => [result!, count]));
    },

    async skipped(id) {
      const rows = await runsOf(id).where("result", "=", "skipped").execute();
      return addUpSkipped(rows.map(toSkipped));
    },

    async retryCounts(id) {
      const rows = await db
        .selectFrom("bulk_action_runs as b")
        .innerJoin("runs", "runs.id", "b.retry")
        .select(["runs.status", (eb) => eb.fn.countAll<number>().as("count")])
        .where("b.bulk_action_id", "=", id)
        .groupBy("runs.status")
        .execute();
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },

    async runs(id, { result, after, limit }) {
      const rows = await runsOf(id)
        .$if(result !== undefined, (query) => query.where("result", "=", result!))
        .$if(after !== null, (query) => query.where("position", ">", after!))
        .limit(limit)
        .execute();
      return rows.map(toRunRecord);
    },

    async unfinishedRetries(id) {
      const rows = await db
        .selectFrom("bulk_action_runs as b")
        .innerJoin("runs", "runs.id", "b.retry")
        .select("runs.id")
        .where("b.bulk_action_id", "=", id)
        .where("runs.finished_at", "is", null)
        .execute();
      return rows.map((row) => row.id);
    },

    async next(id) {
      const row = await runsOf(id).where("result", "is", null).limit(1).executeTakeFirst();
      return row && toRunRecord(row);
    },
  };
}

export function bulkActionWriter(trx: Kysely<Schema>): BulkActionWriter {
  return {
    ...bulkActionReader(trx),

    async insert(bulkAction, runs) {
      const { id, actor, project } = bulkAction;
      const subject = usageSubjectOf(actor);
      const plan = jsonText(bulkAction.plan)!;
      const bytes = Buffer.byteLength(plan) + RUN_BYTES * runs.length;
      await trx
        .insertInto("bulk_actions")
        .values({
          id,
          action: bulkAction.action,
          project,
          workflow_id: bulkAction.workflowId,
          version: bulkAction.version,
          rate: bulkAction.rate,
          concurrency: bulkAction.concurrency,
          status: bulkAction.status,
          total: bulkAction.total,
          plan,
          digest: bulkAction.digest,
          reason: bulkAction.reason,
          message: bulkAction.message,
          next_at: bulkAction.nextAt,
          owner: actor.owner,
          key_name: actor.keyName,
          lineage: actor.lineage,
          key_limits: jsonText(bulkAction.keyLimits),
          surface: actor.surface,
          client: actor.client,
          subject,
          stored_bytes: bytes,
          created_at: bulkAction.createdAt,
          finished_at: bulkAction.finishedAt,
          cancelled_by: bulkAction.cancelledBy,
        })
        .execute();
      const rows = runs.map(({ run, planDigest }, position) => ({
        bulk_action_id: id,
        position,
        run,
        plan_digest: planDigest,
      }));
      for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE)
        await trx
          .insertInto("bulk_action_runs")
          .values(rows.slice(from, from + INSERTED_AT_ONCE))
          .execute();
      await addStoredBytes(trx, [{ subject, project, bytes }]);
    },

    async countRunning(subject) {
      await lockName(trx, "starts", subject);
      const { count } = await trx
        .selectFrom("bulk_actions")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("subject", "=", subject)
        .where("status", "=", "running")
        .executeTakeFirstOrThrow();
      return count;
    },

    async lock(id) {
      const row = await forUpdate(
        trx,
        trx.selectFrom("bulk_actions").select(WITHOUT_PLAN).where("id", "=", id),
      ).executeTakeFirst();
      return row && toRunning(row);
    },

    async setResult(id, position, { result, retry, reason, message }) {
      const { numUpdatedRows } = await trx
        .updateTable("bulk_action_runs")
        .set({ result, retry, reason, message })
        .where("bulk_action_id", "=", id)
        .where("position", "=", position)
        .where("result", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setNext(id, { nextAt, message }) {
      await trx
        .updateTable("bulk_actions")
        .set({ next_at: nextAt, message })
        .where("id", "=", id)
        .where("status", "=", "running")
        .execute();
    },

    async endRunning(id, { status, message, finishedAt, cancelledBy }) {
      const { numUpdatedRows } = await trx
        .updateTable("bulk_actions")
        .set({ status, message, finished_at: finishedAt, cancelled_by: cancelledBy })
        .where("id", "=", id)
        .where("status", "=", "running")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/**
 * Deletes bulk actions that ended before a time, with the runs of that time.
 * @param range.limit the number of rows of one bulk action that one call deletes: others can't write meanwhile
 * @returns whether there may be more
 */
export async function purgeBulkActions(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const ended = await trx
    .selectFrom("bulk_actions")
    .select(["id", "subject", "project", "stored_bytes"])
    .where("finished_at", "<", before)
    .orderBy("finished_at")
    .limit(MAX_PURGED)
    .execute();
  const parts: StoredPart[] = [];
  let isMore = ended.length === MAX_PURGED;
  for (const { id, subject, project, stored_bytes: bytes } of ended) {
    if (await purgeRows(trx, id, limit)) {
      isMore = true;
      break;
    }
    await trx.deleteFrom("bulk_actions").where("id", "=", id).execute();
    parts.push({ subject, project, bytes: -bytes });
  }
  // All at once, because counts are locked in one order.
  await addStoredBytes(trx, parts);
  return isMore;
}

/** Deletes up to `limit` rows of a bulk action's runs. @returns whether there may be more */
async function purgeRows(trx: Kysely<Schema>, id: string, limit: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("bulk_action_runs")
    .where("bulk_action_id", "=", id)
    .where("position", "in", (eb) =>
      eb
        .selectFrom("bulk_action_runs")
        .select("position")
        .where("bulk_action_id", "=", id)
        .orderBy("position")
        .limit(limit),
    )
    .executeTakeFirst();
  return numDeletedRows >= BigInt(limit);
}
