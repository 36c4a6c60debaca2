/** Reads and writes approvals. */
import { type Expression, type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import { isAssignedRole } from "../../schemas/approval-rules.ts";
import { type ApprovalRules, FIRST_DECIDES } from "../core/approval-rules.ts";
import type { ApprovalDelivery, ApprovalRecord, ListPosition } from "../core/model.ts";
import type { ApprovalFilter, ApprovalReader, ApprovalWriter } from "../core/approval-ports.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { type ApprovalHistory, approvalHistories, approvalHistoryWriter } from "./approval-history.ts";
import { cappedCount } from "./capped-count.ts";
import { forUpdate } from "./dialect.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { decodeItem, encodeItem } from "./item-column.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { decodeValue } from "./run-values.ts";
import type { ApprovalRow } from "./approval-schema.ts";
import type { Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";
import { visibleRows } from "./visibility.ts";

/** Selects the project by a subquery: SQLite takes longer for the join. */
const approvalsWithProject = (db: Kysely<Schema>) =>
  db
    .selectFrom("approvals")
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom("runs")
        .select("runs.project")
        .whereRef("runs.id", "=", "approvals.run_id")
        .$asScalar()
        .$notNull()
        .as("project"),
    );

type Row = ApprovalRow & { project: string };

async function approvalRecords(db: Kysely<Schema>, rows: readonly Row[]): Promise<ApprovalRecord[]> {
  const histories = await approvalHistories(
    db,
    rows.map(({ id }) => id),
  );
  return Promise.all(rows.map(async (row) => approvalRecord(db, row, histories(row.id))));
}

async function approvalRecord(
  db: Kysely<Schema>,
  row: Row,
  history: ApprovalHistory,
): Promise<ApprovalRecord> {
  return {
    ...history,
    rules: parseJson<ApprovalRules>(row.rules) ?? FIRST_DECIDES,
    id: row.id,
    project: row.project,
    runId: row.run_id,
    workflowId: row.workflow_id,
    stepId: row.step_id,
    item: decodeItem(row.item),
    status: row.status,
    message: row.message,
    form: row.form === null ? null : (JSON.parse(row.form) as Record<string, unknown>),
    assignees: JSON.parse(row.assignees) as string[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    comment: row.comment,
    answer: row.answer === null ? null : ((await decodeValue(db, row.answer)) as Record<string, unknown>),
    plan: parseJson<string[]>(row.plan),
    evidence:
      row.evidence === null ? null : ((await decodeValue(db, row.evidence)) as Record<string, unknown>),
    delivery: parseJson<ApprovalDelivery>(row.delivery) ?? { byLink: false, chat: [] },
    decidedVia: row.decided_via,
  };
}

/** Whether the run of an approval matches the project and the visibility of the filter. */
const ofMatchingRun = (
  eb: ExpressionBuilder<Schema, "approvals">,
  { project, visibility }: ApprovalFilter,
): Expression<SqlBool>[] => {
  const conditions = [
    ...visibleRows(visibility, { project: "runs.project", workflow: "runs.workflow_id" }),
    ...visibleRows(project === undefined ? null : { projects: [project], workflows: null }, {
      project: "runs.project",
      workflow: "runs.workflow_id",
    }),
  ];
  if (conditions.length === 0) return [];
  const run = eb.selectFrom("runs").select("runs.id").whereRef("runs.id", "=", "approvals.run_id");
  return [eb.exists(run.where((of) => of.and(conditions)))];
};

const matching = (eb: ExpressionBuilder<Schema, "approvals">, filter: ApprovalFilter) =>
  eb.and([
    ...(filter.status === undefined ? [] : [eb("status", "=", filter.status)]),
    ...(filter.runId === undefined ? [] : [eb("run_id", "=", filter.runId)]),
    ...ofMatchingRun(eb, filter),
  ]);

const equalRules = (a: ApprovalRules, b: ApprovalRules): boolean => canonicalJson(a) === canonicalJson(b);

export function approvalReader(db: Kysely<Schema>): ApprovalReader {
  const recordOf = async (row: Row | undefined): Promise<ApprovalRecord | undefined> =>
    row === undefined ? undefined : (await approvalRecords(db, [row]))[0];
  return {
    find: async (id) =>
      recordOf(await approvalsWithProject(db).where("approvals.id", "=", id).executeTakeFirst()),

    findByStep: async ({ runId, stepId, item }) =>
      recordOf(
        await approvalsWithProject(db)
          .where("run_id", "=", runId)
          .where("step_id", "=", stepId)
          .where("item", "=", encodeItem(item))
          .executeTakeFirst(),
      ),

    async decisionsOf({ runId, stepId, item }) {
      const { rows } = await sql<{ plan: string | null; depth: number }>`
        with recursive below (id, depth) as (
          select id, 1 from runs
          where parent_run = ${runId} and parent_step = ${stepId}
            ${item === undefined ? sql`` : sql`and parent_item = ${encodeItem(item)}`}
          union all
          select runs.id, below.depth + 1 from runs join below on runs.parent_run = below.id
        )
        select plan, 0 as depth from approvals
        where run_id = ${runId} and step_id = ${stepId} and status in ('approved', 'declined')
          ${item === undefined ? sql`` : sql`and item = ${encodeItem(item)}`}
        union all
        select approvals.plan, below.depth from approvals join below on approvals.run_id = below.id
        where approvals.status in ('approved', 'declined')`.execute(db);
      return rows.map(({ plan, depth }) => ({ plan: parseJson<string[]>(plan), depth }));
    },

    async page({ filter, after, limit }) {
      let query = approvalsWithProject(db).where((eb) => matching(eb, filter));
      if (after !== null) {
        query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after[0], after[1])));
      }
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next: ListPosition | null = rows.length > limit ? [last!.created_at, last!.id] : null;
      return { items: await approvalRecords(db, page), next };
    },

    async count(filter) {
      return cappedCount(
        db,
        db.selectFrom("approvals").where((eb) => matching(eb, filter)),
      );
    },
  };
}

export function approvalWriter(trx: Kysely<Schema>, bytes: ByteCounter): ApprovalWriter {
  const encode = valueEncoder(trx, bytes);
  const reader = approvalReader(trx);
  return {
    ...reader,
    ...approvalHistoryWriter(trx, bytes, encode),

    async lock(id) {
      await forUpdate(trx, trx.selectFrom("approvals").select("id").where("id", "=", id)).execute();
      return reader.find(id);
    },

    async insert(approval) {
      const rules = equalRules(approval.rules, FIRST_DECIDES) ? null : JSON.stringify(approval.rules);
      if (rules !== null || approval.assignees.some(isAssignedRole)) await assertNoOlderCopies(trx);
      const form = approval.form === null ? null : JSON.stringify(approval.form);
      bytes.add(approval.runId, approval.message + (form ?? ""));
      await trx
        .insertInto("approvals")
        .values({
          id: approval.id,
          run_id: approval.runId,
          workflow_id: approval.workflowId,
          step_id: approval.stepId,
          item: encodeItem(approval.item),
          status: approval.status,
          message: approval.message,
          form,
          assignees: JSON.stringify(approval.assignees),
          created_at: approval.createdAt,
          expires_at: approval.expiresAt,
          decided_at: null,
          decided_by: null,
          comment: null,
          answer: null,
          plan: jsonText(approval.plan),
          rules,
          evidence: approval.evidence === null ? null : await encode(approval.runId, approval.evidence),
          delivery: jsonText(approval.delivery),
          decided_via: null,
        })
        .execute();
    },

    async decide(id, { status, decidedAt, decidedBy, comment, answer, plan, decidedVia = null }) {
      const row = await trx.selectFrom("approvals").select("run_id").where("id", "=", id).executeTakeFirst();
      if (row === undefined) return false;
      const result = await trx
        .updateTable("approvals")
        .set({
          status,
          decided_at: decidedAt,
          decided_by: decidedBy,
          comment,
          decided_via: decidedVia,
          answer: answer === null ? null : await encode(row.run_id, answer),
          ...(plan !== undefined && { plan: jsonText(plan) }),
        })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    async cancelForRun(runId, at) {
      const cancelled = await trx
        .updateTable("approvals")
        .set({ status: "cancelled", decided_at: at })
        .where("run_id", "=", runId)
        .where("status", "=", "pending")
        .returning("delivery")
        .execute();
      return cancelled.some(({ delivery }) => (parseJson<ApprovalDelivery>(delivery)?.chat.length ?? 0) > 0);
    },
  };
}
