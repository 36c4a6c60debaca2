/** Reads and writes change requests. */
import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import type { ReviewExample, ReviewPlan, ReviewStatus } from "../../schemas/review.ts";
import type { ListPosition } from "../core/model.ts";
import type { ReviewFilter, ReviewReader, ReviewRecord, ReviewWriter } from "../core/review-ports.ts";
import { cappedCount } from "./capped-count.ts";
import { jsonText, parseJson } from "./json-column.ts";
import type { Schema } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

const toRecord = (row: Selectable<Schema["reviews"]>): ReviewRecord => ({
  id: row.id,
  project: row.project,
  workflowId: row.workflow_id,
  version: row.version,
  baseVersion: row.base_version,
  digest: row.digest,
  status: row.status as ReviewStatus,
  plan: JSON.parse(row.plan) as ReviewPlan,
  examples: parseJson<ReviewExample[]>(row.examples) ?? [],
  backtest: parseJson<PassedBacktest>(row.backtest),
  reason: row.reason,
  requestedAt: row.requested_at,
  requestedBy: row.requested_by,
  keyName: row.key_name,
  lineage: row.lineage,
  subject: row.subject,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  comment: row.comment,
});

const matching = (eb: ExpressionBuilder<Schema, "reviews">, filter: ReviewFilter) =>
  eb.and([
    ...(filter.status === undefined ? [] : [eb("status", "=", filter.status)]),
    ...(filter.workflowId === undefined ? [] : [eb("workflow_id", "=", filter.workflowId)]),
    ...(filter.project === undefined ? [] : [eb("project", "=", filter.project)]),
    ...visibleRows(filter.visibility, { project: "reviews.project", workflow: "reviews.workflow_id" }),
  ]);

export function reviewReader(db: Kysely<Schema>): ReviewReader {
  return {
    async find(id) {
      const row = await db.selectFrom("reviews").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async findPending(workflowId) {
      const row = await db
        .selectFrom("reviews")
        .selectAll()
        .where("workflow_id", "=", workflowId)
        .where("status", "=", "pending")
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async page({ filter, after, limit }) {
      let query = db
        .selectFrom("reviews")
        .selectAll()
        .where((eb) => matching(eb, filter));
      if (after !== null)
        query = query.where((eb) => eb(eb.refTuple("requested_at", "id"), "<", eb.tuple(after[0], after[1])));
      const rows = await query
        .orderBy("requested_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next: ListPosition | null = rows.length > limit ? [last!.requested_at, last!.id] : null;
      return { items: page.map(toRecord), next };
    },

    async count(filter) {
      return cappedCount(
        db,
        db.selectFrom("reviews").where((eb) => matching(eb, filter)),
      );
    },
  };
}

export function reviewWriter(trx: Kysely<Schema>): ReviewWriter {
  return {
    ...reviewReader(trx),

    async insert(review) {
      await trx
        .insertInto("reviews")
        .values({
          id: review.id,
          project: review.project,
          workflow_id: review.workflowId,
          version: review.version,
          base_version: review.baseVersion,
          digest: review.digest,
          status: review.status,
          plan: JSON.stringify(review.plan),
          examples: JSON.stringify(review.examples),
          backtest: jsonText(review.backtest),
          reason: review.reason,
          requested_at: review.requestedAt,
          requested_by: review.requestedBy,
          key_name: review.keyName,
          lineage: review.lineage,
          subject: review.subject,
          decided_at: review.decidedAt,
          decided_by: review.decidedBy,
          comment: review.comment,
        })
        .execute();
    },

    async setReason(id, reason) {
      const { numUpdatedRows } = await trx
        .updateTable("reviews")
        .set({ reason })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async endPending(id, { status, decidedAt, decidedBy, comment }, decidedOn) {
      const { numUpdatedRows } = await trx
        .updateTable("reviews")
        .set({
          status,
          decided_at: decidedAt,
          decided_by: decidedBy,
          comment,
          ...(decidedOn !== undefined && {
            digest: decidedOn.digest,
            plan: JSON.stringify(decidedOn.plan),
            base_version: decidedOn.baseVersion,
          }),
        })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/** Ends the pending request of a workflow that was unpublished, archived or moved. */
export async function endOutdatedReview(trx: Kysely<Schema>, workflowId: string, at: string): Promise<void> {
  await trx
    .updateTable("reviews")
    .set({ status: "outdated", decided_at: at })
    .where("workflow_id", "=", workflowId)
    .where("status", "=", "pending")
    .execute();
}
