/** Reads and writes interruptions: attempts of steps with effects that ended without an answer. */
import type { ExpressionBuilder, Kysely } from "kysely";
import type {
  InterruptionFilter,
  InterruptionReader,
  InterruptionRecord,
  InterruptionWriter,
} from "../core/interruption-ports.ts";
import { EncodedJson } from "../core/encoded-json.ts";
import { cappedCount } from "./capped-count.ts";
import { forUpdate } from "./dialect.ts";
import { encodeItem, stepRefOf } from "./item-column.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { storedJson } from "./run-values.ts";
import type { InterruptionRow, Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";
import { visibleRows } from "./visibility.ts";

/** Maximum number of interruptions of one effect that are read. */
const MAX_OF_KEY = 100;

/** All columns but the output. */
const COLUMNS = [
  "id",
  "run_id",
  "step_id",
  "item",
  "attempt",
  "project",
  "workflow_id",
  "reason",
  "idempotency_key",
  "started_at",
  "interrupted_at",
  "asked",
  "lookup",
  "outcome",
  "settled_at",
  "settled_by",
  "settler",
  "comment",
] as const satisfies (keyof InterruptionRow)[];

const toRecord = (row: Omit<InterruptionRow, "output">): InterruptionRecord => ({
  ...stepRefOf(row),
  id: row.id,
  project: row.project,
  workflowId: row.workflow_id,
  attempt: row.attempt,
  reason: row.reason,
  idempotencyKey: row.idempotency_key,
  startedAt: row.started_at,
  interruptedAt: row.interrupted_at,
  isAsked: row.asked === 1,
  lookup: parseJson(row.lookup),
  outcome: row.outcome,
  settledAt: row.settled_at,
  settledBy: row.settled_by,
  settler: parseJson(row.settler),
  comment: row.comment,
});

/** Whether it is open, or only a lookup has said that its effect did not happen. */
const isUnsettled = (eb: ExpressionBuilder<Schema, "interruptions">) =>
  eb.or([
    eb("outcome", "is", null),
    eb.and([eb("outcome", "=", "not_happened"), eb("settled_by", "is", null)]),
  ]);

const matching = (
  eb: ExpressionBuilder<Schema, "interruptions">,
  { isOpen, runId, workflowId, project, visibility }: InterruptionFilter,
) =>
  eb.and([
    ...(isOpen === undefined ? [] : [eb("outcome", isOpen ? "is" : "is not", null)]),
    ...(runId === undefined ? [] : [eb("run_id", "=", runId)]),
    ...(workflowId === undefined ? [] : [eb("workflow_id", "=", workflowId)]),
    ...(project === undefined ? [] : [eb("project", "=", project)]),
    ...visibleRows(visibility, { project: "interruptions.project", workflow: "interruptions.workflow_id" }),
  ]);

export function interruptionReader(db: Kysely<Schema>): InterruptionReader {
  const select = () => db.selectFrom("interruptions").select(COLUMNS);
  return {
    async find(id) {
      const row = await select().where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async latest({ runId, stepId, item }) {
      const row = await select()
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", "=", encodeItem(item))
        .orderBy("attempt", "desc")
        .limit(1)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async ofKey(idempotencyKey) {
      const rows = await select()
        .where("idempotency_key", "=", idempotencyKey)
        .orderBy("interrupted_at", "desc")
        .orderBy("attempt", "desc")
        .limit(MAX_OF_KEY)
        .execute();
      return rows.toReversed().map(toRecord);
    },

    async output(id) {
      const row = await db
        .selectFrom("interruptions")
        .select("output")
        .where("id", "=", id)
        .executeTakeFirst();
      return row === undefined || row.output === null
        ? null
        : new EncodedJson(await storedJson(db, row.output));
    },

    async page({ filter, after, limit }) {
      let query = select().where((eb) => matching(eb, filter));
      if (after !== null)
        query = query.where((eb) =>
          eb(eb.refTuple("interrupted_at", "id"), "<", eb.tuple(after[0], after[1])),
        );
      const rows = await query
        .orderBy("interrupted_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(toRecord),
        next: rows.length > limit ? [last!.interrupted_at, last!.id] : null,
      };
    },

    count: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("interruptions").where((eb) => matching(eb, filter)),
      ),

    async openCounts(runIds) {
      if (runIds.length === 0) return new Map();
      const rows = await db
        .selectFrom("interruptions")
        .select(["run_id", (eb) => eb.fn.countAll<number>().as("count")])
        .where("run_id", "in", runIds)
        .where("outcome", "is", null)
        .groupBy("run_id")
        .execute();
      return new Map(rows.map(({ run_id: id, count }) => [id, count]));
    },
  };
}

export function interruptionWriter(trx: Kysely<Schema>, bytes: ByteCounter): InterruptionWriter {
  const encode = valueEncoder(trx, bytes);
  return {
    ...interruptionReader(trx),

    async open({ runId, stepId, item, ...interruption }) {
      const inserted = await trx
        .insertInto("interruptions")
        .values({
          id: interruption.id,
          run_id: runId,
          step_id: stepId,
          item: encodeItem(item),
          attempt: interruption.attempt,
          project: interruption.project,
          workflow_id: interruption.workflowId,
          reason: interruption.reason,
          idempotency_key: interruption.idempotencyKey,
          started_at: interruption.startedAt,
          interrupted_at: interruption.interruptedAt,
          asked: 0,
          lookup: null,
          outcome: null,
          output: null,
          settled_at: null,
          settled_by: null,
          settler: null,
          comment: null,
        })
        .onConflict((conflict) => conflict.columns(["run_id", "step_id", "item", "attempt"]).doNothing())
        .returning("id")
        .executeTakeFirst();
      return inserted !== undefined;
    },

    async lock(id) {
      const row = await forUpdate(
        trx,
        trx.selectFrom("interruptions").select(COLUMNS).where("id", "=", id),
      ).executeTakeFirst();
      return row && toRecord(row);
    },

    async setAsked(id) {
      await assertNoOlderCopies(trx);
      await trx.updateTable("interruptions").set({ asked: 1 }).where("id", "=", id).execute();
    },

    async setLookup(id, lookup) {
      await trx
        .updateTable("interruptions")
        .set({ lookup: jsonText(lookup) })
        .where("id", "=", id)
        .execute();
    },

    async settle(id, { outcome, output, settledAt, settledBy, settler, comment }) {
      const row = await trx
        .selectFrom("interruptions")
        .select("run_id")
        .where("id", "=", id)
        .where(isUnsettled)
        .executeTakeFirst();
      if (row === undefined) return false;
      const { numUpdatedRows } = await trx
        .updateTable("interruptions")
        .set({
          outcome,
          output: output === null ? null : await encode(row.run_id, output),
          settled_at: settledAt,
          settled_by: settledBy,
          settler: jsonText(settler),
          comment,
        })
        .where("id", "=", id)
        .where(isUnsettled)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}
