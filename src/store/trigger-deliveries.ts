/** Reads and writes what triggers have received. */
import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import { ENDED_WITHOUT_RUN } from "../../schemas/trigger-delivery.ts";
import type { ReceivedEvent } from "../core/event-path.ts";
import type {
  TriggerDeliveryFilter,
  TriggerDeliveryReader,
  TriggerDeliveryRecord,
  TriggerDeliveryWriter,
  NewTriggerDelivery,
} from "../core/trigger-ports.ts";
import { cappedCount } from "./capped-count.ts";
import { skippingLocked } from "./dialect.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { pruneRefusedDeliveries, pruneTriggerBodies } from "./prune-trigger-deliveries.ts";
import type { Schema } from "./schema.ts";
import type { NewWork } from "./store.ts";
import type { TriggerDeliveryRow } from "./trigger-schema.ts";

const COLUMNS = [
  "id",
  "trigger_id",
  "workflow_id",
  "received_at",
  "status",
  "run_id",
  "key",
  "sender_id",
  "code",
  "reason",
  "bytes",
  "repeats",
  "redelivery_of",
  "redelivered_by",
  "signed",
  "attempts",
] as const satisfies (keyof TriggerDeliveryRow)[];

type Row = Pick<TriggerDeliveryRow, (typeof COLUMNS)[number]> & { has_event: number };

const toRecord = (row: Row): TriggerDeliveryRecord => ({
  id: row.id,
  triggerId: row.trigger_id,
  workflowId: row.workflow_id,
  receivedAt: row.received_at,
  status: row.status,
  runId: row.run_id,
  key: row.key,
  senderId: row.sender_id,
  code: row.code,
  reason: row.reason,
  bytes: row.bytes,
  repeats: row.repeats,
  redeliveryOf: row.redelivery_of,
  redeliveredBy: parseJson(row.redelivered_by),
  isSigned: row.signed === null ? null : row.signed === 1,
  attempts: row.attempts,
  hasEvent: row.has_event === 1,
});

const HAS_EVENT = sql<number>`case when event is null then 0 else 1 end`.as("has_event");

const select = (db: Kysely<Schema>) => db.selectFrom("trigger_deliveries").select(COLUMNS).select(HAS_EVENT);

const matching = (
  eb: ExpressionBuilder<Schema, "trigger_deliveries">,
  { workflowId, triggerId, status }: TriggerDeliveryFilter,
) =>
  eb.and([
    triggerId === undefined ? eb("workflow_id", "=", workflowId) : eb("trigger_id", "=", triggerId),
    ...(status === undefined ? [] : [eb("status", "=", status)]),
  ]);

const firstDue = prepared((db, now: string) =>
  db.selectFrom("trigger_deliveries").select("next_at").where("next_at", "<=", now).limit(1),
);

export function triggerDeliveryReader(db: Kysely<Schema>): TriggerDeliveryReader {
  return {
    async find(id) {
      const row = await select(db).where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async event(id) {
      const row = await db
        .selectFrom("trigger_deliveries")
        .select("event")
        .where("id", "=", id)
        .executeTakeFirst();
      return typeof row?.event === "string" ? (JSON.parse(row.event) as ReceivedEvent) : undefined;
    },

    async page({ filter, after, limit }) {
      let query = select(db).where((eb) => matching(eb, filter));
      if (after !== null)
        query = query.where((eb) => eb(eb.refTuple("received_at", "id"), "<", eb.tuple(after[0], after[1])));
      const rows = await query
        .orderBy("received_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(toRecord),
        next: rows.length > limit ? [last!.received_at, last!.id] : null,
      };
    },

    count: (filter) =>
      cappedCount(
        db,
        db.selectFrom("trigger_deliveries").where((eb) => matching(eb, filter)),
      ),

    hasDue: async (now) => (await firstDue(db, now)).length > 0,

    async unended(triggerId) {
      const row = await db
        .selectFrom("trigger_deliveries")
        .select((eb) => [
          eb.fn.countAll<number | string>().as("count"),
          eb.fn.coalesce(eb.fn.sum<number | string>("bytes"), eb.lit(0)).as("bytes"),
        ])
        .where("trigger_id", "=", triggerId)
        .where("next_at", "is not", null)
        .executeTakeFirstOrThrow();
      return { count: Number(row.count), bytes: Number(row.bytes) };
    },
  };
}

/** @param left counts the deliveries that were recorded for executors to handle */
export function triggerDeliveryWriter(
  trx: Kysely<Schema>,
  left: Pick<NewWork, "deliveries">,
): TriggerDeliveryWriter {
  return {
    ...triggerDeliveryReader(trx),

    async record(delivery) {
      const row = newRow(delivery);
      // Of several repetitions at the same time one gets the key; the next round finds that one.
      for (;;) {
        if (await isInserted(row)) return undefined;
        const repeated = await countRepetition(delivery);
        if (repeated !== undefined) return repeated;
        const released = await releaseKey(delivery);
        if (released !== undefined) row.redelivery_of ??= released.id;
      }
    },

    async claim({ now, until, limit }) {
      const rows = await trx
        .updateTable("trigger_deliveries")
        .set((eb) => ({ next_at: until, attempts: eb("attempts", "+", 1) }))
        .where("id", "in", (eb) =>
          skippingLocked(
            trx,
            eb
              .selectFrom("trigger_deliveries")
              .select("id")
              .where("next_at", "<=", now)
              .orderBy("next_at")
              .limit(limit),
          ),
        )
        .returning(COLUMNS)
        .returning(HAS_EVENT)
        .execute();
      return rows
        .map(toRecord)
        .toSorted((a, b) => (`${a.receivedAt} ${a.id}` < `${b.receivedAt} ${b.id}` ? -1 : 1));
    },

    async endClaimed({ id, attempts }, { status, code, reason }, at) {
      const { numUpdatedRows } = await trx
        .updateTable("trigger_deliveries")
        .set({ status, code, reason, next_at: null, ended_at: at })
        .where("id", "=", id)
        .where("attempts", "=", attempts)
        .where("next_at", "is not", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async postponeClaimed({ id, attempts }, nextAt, why) {
      const { numUpdatedRows } = await trx
        .updateTable("trigger_deliveries")
        .set({ next_at: nextAt, ...(why !== undefined && { code: why.code, reason: why.reason }) })
        .where("id", "=", id)
        .where("attempts", "=", attempts)
        .where("next_at", "is not", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    prune: (triggerId) => pruneTriggerBodies(trx, triggerId),
    pruneRefused: (triggerId, code) => pruneRefusedDeliveries(trx, triggerId, code),
  };

  /** @returns false where another delivery has the key */
  async function isInserted(row: TriggerDeliveryRow): Promise<boolean> {
    const inserted = await trx
      .insertInto("trigger_deliveries")
      .values(row)
      .onConflict((conflict) => conflict.columns(["trigger_id", "key"]).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (inserted === undefined) return false;
    left.deliveries += 1;
    return true;
  }

  /** Counts a delivery as a repetition of the one with its key. @returns undefined where that one has started no run */
  async function countRepetition({
    triggerId,
    key,
  }: NewTriggerDelivery): Promise<TriggerDeliveryRecord | undefined> {
    const found = await trx
      .updateTable("trigger_deliveries")
      .set((eb) => ({ repeats: eb("repeats", "+", 1) }))
      .where("trigger_id", "=", triggerId)
      .where("key", "=", key)
      .where("status", "not in", ENDED_WITHOUT_RUN)
      .returning(COLUMNS)
      .returning(HAS_EVENT)
      .executeTakeFirst();
    return found && toRecord(found);
  }

  /** Takes the key from a delivery that has started no run, so that a repetition is evaluated. */
  function releaseKey({ triggerId, key }: NewTriggerDelivery): Promise<{ id: string } | undefined> {
    return trx
      .updateTable("trigger_deliveries")
      .set({ key: null })
      .where("trigger_id", "=", triggerId)
      .where("key", "=", key)
      .where("status", "in", ENDED_WITHOUT_RUN)
      .returning("id")
      .executeTakeFirst();
  }
}

function newRow(delivery: NewTriggerDelivery): TriggerDeliveryRow {
  const { event, receivedAt } = delivery;
  const isPending = delivery.status === "received";
  return {
    id: delivery.id,
    trigger_id: delivery.triggerId,
    workflow_id: delivery.workflowId,
    received_at: receivedAt,
    status: delivery.status,
    run_id: delivery.runId,
    key: delivery.key,
    sender_id: delivery.senderId,
    code: delivery.code,
    reason: delivery.reason,
    event: event === null ? null : JSON.stringify(event),
    bytes: delivery.bytes,
    repeats: 0,
    redelivery_of: delivery.redeliveryOf,
    redelivered_by: jsonText(delivery.redeliveredBy),
    signed: delivery.isSigned === null ? null : Number(delivery.isSigned),
    attempts: 0,
    next_at: isPending ? receivedAt : null,
    ended_at: isPending ? null : receivedAt,
  };
}
