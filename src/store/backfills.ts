/** Reads and writes backfills. */
import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type {
  BackfillFilter,
  BackfillReader,
  BackfillRecord,
  BackfillWriter,
  SlotRun,
} from "../core/backfill-ports.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { cappedCount } from "./capped-count.ts";
import { forUpdate, isOneOf, lockName } from "./dialect.ts";
import { jsonText, parseJson } from "./json-column.ts";
import type { BackfillRow, Schema } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

const toRecord = (row: BackfillRow): BackfillRecord => ({
  id: row.id,
  workflowId: row.workflow_id,
  project: row.project,
  version: row.version,
  cron: row.cron,
  timezone: row.timezone,
  from: row.from_at,
  to: row.to_at,
  concurrency: row.concurrency,
  existing: row.existing,
  status: row.status,
  nextAt: row.next_at,
  total: row.total,
  started: row.started,
  skipped: row.skipped,
  reason: row.reason,
  message: row.message,
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

const matching = (eb: ExpressionBuilder<Schema, "backfills">, { workflowId, visibility }: BackfillFilter) =>
  eb.and([
    eb("workflow_id", "=", workflowId),
    ...visibleRows(visibility, { project: "backfills.project", workflow: "backfills.workflow_id" }),
  ]);

export function backfillReader(db: Kysely<Schema>): BackfillReader {
  return {
    async find(id) {
      const row = await db.selectFrom("backfills").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async running(limit) {
      const running = db
        .selectFrom("backfills")
        .selectAll()
        .select((eb) =>
          eb.fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("subject").orderBy("created_at").orderBy("id"))
            .as("turn"),
        )
        .where("status", "=", "running");
      const rows = await db
        .selectFrom(running.as("running"))
        .selectAll()
        .orderBy("turn")
        .orderBy("created_at")
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },

    async page({ filter, after, limit }) {
      let query = db
        .selectFrom("backfills")
        .selectAll()
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
        items: page.map(toRecord),
        next: rows.length > limit ? [last!.created_at, last!.id] : null,
      };
    },

    count: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("backfills").where((eb) => matching(eb, filter)),
      ),

    async runCounts(id) {
      const rows = await db
        .selectFrom("runs")
        .select(["status", (eb) => eb.fn.countAll<number>().as("count")])
        .where("backfill", "=", id)
        .groupBy("status")
        .execute();
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },

    async unfinishedRuns(id) {
      const rows = await db
        .selectFrom("runs")
        .select("id")
        .where("backfill", "=", id)
        .where("finished_at", "is", null)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map((row) => row.id);
    },

    async slotRuns({ workflowId, project }, times) {
      const rows = await db
        .selectFrom("runs")
        .select(["id", "status", "scheduled_for"])
        .where("workflow_id", "=", workflowId)
        .where("project", "=", project)
        .where("scheduled_for", "is not", null)
        .where("trial", "is", null)
        .where((eb) => isOneOf(eb.ref("scheduled_for"), JSON.stringify(times)))
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return new Map<string, SlotRun>(
        rows.map((row) => [row.scheduled_for!, { runId: row.id, status: row.status }]),
      );
    },
  };
}

export function backfillWriter(trx: Kysely<Schema>): BackfillWriter {
  return {
    ...backfillReader(trx),

    async insert(backfill) {
      const { actor } = backfill;
      await trx
        .insertInto("backfills")
        .values({
          id: backfill.id,
          workflow_id: backfill.workflowId,
          project: backfill.project,
          version: backfill.version,
          cron: backfill.cron,
          timezone: backfill.timezone,
          from_at: backfill.from,
          to_at: backfill.to,
          concurrency: backfill.concurrency,
          existing: backfill.existing,
          status: backfill.status,
          next_at: backfill.nextAt,
          total: backfill.total,
          started: backfill.started,
          skipped: backfill.skipped,
          reason: backfill.reason,
          message: backfill.message,
          owner: actor.owner,
          key_name: actor.keyName,
          lineage: actor.lineage,
          key_limits: jsonText(backfill.keyLimits),
          surface: actor.surface,
          client: actor.client,
          subject: usageSubjectOf(actor),
          created_at: backfill.createdAt,
          finished_at: backfill.finishedAt,
          cancelled_by: backfill.cancelledBy,
        })
        .execute();
    },

    async countRunning(subject) {
      await lockName(trx, "starts", subject);
      const { count } = await trx
        .selectFrom("backfills")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("subject", "=", subject)
        .where("status", "=", "running")
        .executeTakeFirstOrThrow();
      return count;
    },

    async lock(id) {
      const row = await forUpdate(
        trx,
        trx.selectFrom("backfills").selectAll().where("id", "=", id),
      ).executeTakeFirst();
      return row && toRecord(row);
    },

    async advance(id, from, { nextAt, started, skipped }) {
      const { numUpdatedRows } = await trx
        .updateTable("backfills")
        .set({
          next_at: nextAt,
          started: sql`started + ${started}`,
          skipped: sql`skipped + ${skipped}`,
          message: null,
        })
        .where("id", "=", id)
        .where("status", "=", "running")
        .where("next_at", "=", from)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setMessage(id, message) {
      await trx
        .updateTable("backfills")
        .set({ message })
        .where("id", "=", id)
        .where("status", "=", "running")
        .execute();
    },

    async endRunning(id, { status, message, finishedAt, cancelledBy }) {
      const { numUpdatedRows } = await trx
        .updateTable("backfills")
        .set({ status, message, finished_at: finishedAt, cancelled_by: cancelledBy })
        .where("id", "=", id)
        .where("status", "=", "running")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/** Deletes backfills that ended before a time, with the runs of that time. @returns whether there may be more */
export async function purgeBackfills(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const deleted = await trx
    .deleteFrom("backfills")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("backfills")
        .select("id")
        .where("finished_at", "<", before)
        .orderBy("finished_at")
        .limit(limit),
    )
    .returning("id")
    .execute();
  return deleted.length >= limit;
}
