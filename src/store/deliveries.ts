/** The queue of deliveries to subscriptions. */
import { type Kysely, sql } from "kysely";
import {
  MAIL_QUEUE,
  type DeliveryQueueReader,
  type DeliveryQueueWriter,
} from "../core/subscription-ports.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import { claimDue } from "./due-deliveries.ts";
import { forUpdate } from "./dialect.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { type ByteCounter, lengthOf, STORED } from "./stored-bytes.ts";
import { deliveriesWithEvents, toDelivery } from "./subscriptions.ts";

/** One look at the index for each subscription, however many deliveries there are. */
const dueSubscriptions = prepared((db, now: string) =>
  db
    .selectFrom("subscriptions")
    .select(["id", "subject"])
    .where("paused_at", "is", null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("deliveries")
          .select("deliveries.id")
          .whereRef("deliveries.queue", "=", "subscriptions.id")
          .where("deliveries.state", "=", sql.lit("pending" as const))
          .where("deliveries.due_at", "<=", now),
      ),
    ),
);
const dueMail = prepared((db, now: string) =>
  db
    .selectFrom("deliveries")
    .select("id")
    .where("queue", "=", sql.lit(MAIL_QUEUE))
    .where("state", "=", sql.lit("pending" as const))
    .where("due_at", "<=", now)
    .limit(1),
);

export function deliveryQueueReader(db: Kysely<Schema>): DeliveryQueueReader {
  return {
    async dueQueues(now) {
      const queues = (await dueSubscriptions(db, now)).map(({ id, subject }) => ({ queue: id, subject }));
      if ((await dueMail(db, now)).length > 0) queues.push({ queue: MAIL_QUEUE, subject: MAIL_QUEUE });
      return queues;
    },

    async countByState() {
      const rows = await db
        .selectFrom("deliveries")
        .select((eb) => ["state" as const, eb.fn.countAll<number>().as("count")])
        .where("state", "in", ["pending", "failed"])
        .groupBy("state")
        .execute();
      const countOf = (state: string): number => rows.find((row) => row.state === state)?.count ?? 0;
      return { pending: countOf("pending"), failed: countOf("failed") };
    },
  };
}

export function deliveryQueueWriter(trx: Kysely<Schema>, bytes: ByteCounter): DeliveryQueueWriter {
  return {
    async claim(queue, claim) {
      const ids = await claimDue(trx, "deliveries", queue, claim);
      if (ids.length === 0) return [];
      const rows = await deliveriesWithEvents(trx)
        .where("deliveries.id", "in", ids)
        .orderBy("deliveries.created_at")
        .orderBy("deliveries.id")
        .execute();
      return rows.map(toDelivery);
    },

    async recordAttempt({ id, fence }, { state, dueAt, at, status, response, error, ms, uncounted }) {
      const claimed = trx
        .selectFrom("deliveries")
        .select([...STORED, "response", "error", "queue"])
        .where("id", "=", id)
        .where("fence", "=", fence)
        .where("state", "=", "pending");
      const delivery = await forUpdate(trx, claimed).executeTakeFirst();
      if (delivery === undefined) return false;
      const { subject, project, stored_bytes: before } = delivery;
      const added =
        delivery.queue === MAIL_QUEUE
          ? 0
          : lengthOf(response, error) - lengthOf(delivery.response, delivery.error);
      bytes.addPart({ subject, project, bytes: added });
      await trx
        .updateTable("deliveries")
        .set((eb) => ({
          state,
          stored_bytes: before + added,
          due_at: dueAt,
          claimed_by: null,
          ended_at: state === "pending" ? null : at,
          status,
          response,
          error,
          ms,
          ...(uncounted === true && { attempts: eb("attempts", "-", 1) }),
        }))
        .where("id", "=", id)
        .execute();
      return true;
    },

    async succeeded(id, at) {
      await trx
        .updateTable("subscriptions")
        .set({ failing_since: null, succeeded_at: at })
        .where("id", "=", id)
        .execute();
    },

    async failed(id, at) {
      const [row] = await trx
        .updateTable("subscriptions")
        .set((eb) => ({ failing_since: eb.fn.coalesce("failing_since", eb.val(at)) }))
        .where("id", "=", id)
        .returning("failing_since")
        .execute();
      return row?.failing_since ?? undefined;
    },

    async pauseSubscription(id, at, reason) {
      const paused = await trx
        .updateTable("subscriptions")
        .set({ paused_at: at, pause_reason: reason })
        .where("id", "=", id)
        .where("paused_at", "is", null)
        .returning(["project", "created_by"])
        .executeTakeFirst();
      if (paused === undefined) return false;
      await appendAuditEntry(trx, {
        at,
        operation: "pause_subscription",
        target: id,
        project: paused.project,
        owner: paused.created_by,
        keyName: "executor",
        lineage: "executor",
        surface: "cli",
        client: "executor",
        requestId: null,
        details: { reason },
      });
      return true;
    },

    async countPending(queue, max) {
      const { count } = await trx
        .selectFrom((eb) =>
          eb
            .selectFrom("deliveries")
            .select("id")
            .where("queue", "=", queue)
            .where("state", "=", "pending")
            .limit(max)
            .as("some"),
        )
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}
