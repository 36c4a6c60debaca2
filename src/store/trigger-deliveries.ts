/** Reads and writes what triggers have received. */
import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type { ReceivedEvent } from "../core/event-path.ts";
import type {
  TriggerDeliveryFilter,
  TriggerDeliveryReader,
  TriggerDeliveryRecord,
  TriggerDeliveryWriter,
  NewTriggerDelivery,
} from "../core/trigger-ports.ts";
import { cappedCount } from "./capped-count.ts";
import { claimDue } from "./due-deliveries.ts";
import { projectOf } from "./workflow-states.ts";
import { prepared } from "./prepared.ts";
import { pruneTriggerDeliveries } from "./prune-trigger-deliveries.ts";
import type { Schema } from "./schema.ts";
import type { NewWork } from "./store.ts";
import type { ByteCounter } from "./stored-bytes.ts";
import type { TriggerDeliveryRow } from "./trigger-schema.ts";

/** Number of later deliveries among which those of one by hand are: after that many, its body is no longer stored. */
const MAX_LATER = 1_500;
/** Maximum number of deliveries by hand of one that are named. */
const MAX_REDELIVERIES = 20;

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
  "body_digest",
  "repeats",
  "redelivery_of",
  "attempts",
  "fence",
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
  bodyDigest: row.body_digest,
  repeats: row.repeats,
  redeliveryOf: row.redelivery_of,
  attempts: row.attempts,
  fence: row.fence,
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

/** The owners of the deliveries that are due: one look at the index for each owner, however many deliveries there are. */
const dueSubjects = prepared((db, now: string) =>
  db
    .withRecursive("owners(subject)", (cte) =>
      cte
        .selectFrom("trigger_deliveries")
        .select((eb) => eb.fn.min<string | null>("subject").as("subject"))
        .where("next_at", "is not", null)
        .unionAll(
          cte
            .selectFrom("owners")
            .select((eb) =>
              eb
                .selectFrom("trigger_deliveries as d")
                .select((one) => one.fn.min<string | null>("d.subject").as("subject"))
                .where("d.next_at", "is not", null)
                .whereRef("d.subject", ">", "owners.subject")
                .as("subject"),
            )
            .where("owners.subject", "is not", null),
        ),
    )
    .selectFrom("owners")
    .select("subject")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("trigger_deliveries as d")
          .select("d.id")
          .whereRef("d.subject", "=", "owners.subject")
          .where("d.next_at", "<=", now),
      ),
    ),
);

export function triggerDeliveryReader(db: Kysely<Schema>): TriggerDeliveryReader {
  return {
    async find(id) {
      const row = await select(db).where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async ofRun(runId) {
      const row = await select(db)
        .where("run_id", "=", runId)
        .where("status", "=", "started")
        .executeTakeFirst();
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

    async redeliveries({ id, triggerId, receivedAt }) {
      const later = db
        .selectFrom("trigger_deliveries")
        .select(["id", "redelivery_of"])
        .where("trigger_id", "=", triggerId)
        .where((eb) => eb(eb.refTuple("received_at", "id"), ">", eb.tuple(receivedAt, id)))
        .orderBy("received_at")
        .orderBy("id")
        .limit(MAX_LATER)
        .as("later");
      const rows = await db
        .selectFrom(later)
        .select("later.id")
        .where("later.redelivery_of", "=", id)
        .limit(MAX_REDELIVERIES)
        .execute();
      return rows.map((row) => row.id);
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

    dueQueues: async (now) =>
      (await dueSubjects(db, now)).flatMap(({ subject }) =>
        subject === null ? [] : [{ queue: subject, subject }],
      ),

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

export function triggerDeliveryWriter(
  trx: Kysely<Schema>,
  bytes: ByteCounter,
  left: Pick<NewWork, "deliveries">,
): TriggerDeliveryWriter {
  return {
    ...triggerDeliveryReader(trx),

    async record(delivery) {
      const row = newRow(delivery);
      const inserted = await trx
        .insertInto("trigger_deliveries")
        .values(row)
        .onConflict((conflict) => conflict.columns(["trigger_id", "key"]).doNothing())
        .returning("id")
        .executeTakeFirst();
      if (inserted !== undefined) {
        left.deliveries += 1;
        const { subject, workflow_id, stored_bytes } = row;
        if (stored_bytes > 0)
          bytes.addPart({ subject, project: await projectOf(trx, workflow_id), bytes: stored_bytes });
        return undefined;
      }
      const repeated = await trx
        .updateTable("trigger_deliveries")
        .set((eb) => ({ repeats: eb("repeats", "+", 1) }))
        .where("trigger_id", "=", delivery.triggerId)
        .where("key", "=", delivery.key)
        .returning(COLUMNS)
        .returning(HAS_EVENT)
        .executeTakeFirstOrThrow();
      return toRecord(repeated);
    },

    async addRepeats(id, count) {
      const { numUpdatedRows } = await trx
        .updateTable("trigger_deliveries")
        .set((eb) => ({ repeats: eb("repeats", "+", count) }))
        .where("id", "=", id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async claim(queue, claim) {
      const ids = await claimDue(trx, "trigger_deliveries", queue, claim);
      if (ids.length === 0) return [];
      const rows = await select(trx).where("id", "in", ids).orderBy("received_at").orderBy("id").execute();
      return rows.map(toRecord);
    },

    async endClaimed({ id, fence }, { status, code, reason }, at) {
      const { numUpdatedRows } = await trx
        .updateTable("trigger_deliveries")
        .set({ status, code, reason, next_at: null, ended_at: at, claimed_by: null })
        .where("id", "=", id)
        .where("fence", "=", fence)
        .where("next_at", "is not", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async postponeClaimed({ id, fence }, nextAt, why) {
      const { numUpdatedRows } = await trx
        .updateTable("trigger_deliveries")
        .set({
          next_at: nextAt,
          ...(why !== undefined && { code: why.code, reason: why.reason, claimed_by: null }),
        })
        .where("id", "=", id)
        .where("fence", "=", fence)
        .where("next_at", "is not", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    prune: async (triggerId) => {
      for (const part of await pruneTriggerDeliveries(trx, triggerId)) bytes.addPart(part);
    },
  };
}

function newRow(delivery: NewTriggerDelivery): TriggerDeliveryRow {
  const { event, receivedAt } = delivery;
  const text = event === null ? null : JSON.stringify(event);
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
    event: text,
    bytes: delivery.bytes,
    body_digest: delivery.bodyDigest,
    repeats: 0,
    redelivery_of: delivery.redeliveryOf,
    attempts: 0,
    fence: 0,
    next_at: isPending ? receivedAt : null,
    ended_at: isPending ? null : receivedAt,
    subject: delivery.subject,
    claimed_by: null,
    stored_bytes: Buffer.byteLength(text ?? ""),
  };
}
