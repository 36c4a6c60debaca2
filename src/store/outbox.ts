/** Records events with their deliveries, in the transaction of what they report. */
import type { Kysely } from "kysely";
import { sql } from "kysely";
import { newDeliveryId, newEventId } from "../core/ids.ts";
import { foldText } from "../../schemas/fold-text.ts";
import {
  MAIL_QUEUE,
  type OutboxWriter,
  type OutgoingEvent,
  type SubscriptionRecord,
} from "../core/subscription-ports.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { toSubscription } from "./subscriptions.ts";

/** Every end of a run asks this. */
const activeSubscriptions = prepared((db, project: string) =>
  db.selectFrom("subscriptions").selectAll().where("project", "=", project).where("paused_at", "is", null),
);

export function outboxWriter(trx: Kysely<Schema>): OutboxWriter {
  return {
    async record(event) {
      const active = (await activeSubscriptions(trx, event.project)).map(toSubscription);
      const named = active.filter((subscription) => wants(subscription, event));
      if (named.length === 0) return 0;
      const tags = named.some((subscription) => subscription.tags !== null)
        ? await tagsOf(event)
        : new Set<string>();
      const wanting: SubscriptionRecord[] = [];
      for (const subscription of named)
        if (
          subscription.tags?.some((tag) => tags.has(foldText(tag))) !== false &&
          (await mayKnow(event, subscription))
        )
          wanting.push(subscription);
      if (wanting.length > 0)
        await insert(
          event,
          wanting.map(({ id }) => ({ queue: id, recipient: null })),
        );
      return wanting.length;
    },

    async recordFor(subscriptionId, event) {
      return (await insert(event, [{ queue: subscriptionId, recipient: null }]))[0]!;
    },

    async recordMail(event, recipients) {
      if (recipients.length > 0)
        await insert(
          event,
          recipients.map((recipient) => ({ queue: MAIL_QUEUE, recipient })),
        );
    },
  };

  /** The tags of the workflow of an event, folded. */
  async function tagsOf({ workflowId }: OutgoingEvent): Promise<ReadonlySet<string>> {
    if (workflowId === null) return new Set();
    const row = await trx
      .selectFrom("workflows")
      .select("tags")
      .where("id", "=", workflowId)
      .executeTakeFirst();
    return new Set(row === undefined ? [] : (JSON.parse(row.tags) as string[]).map(foldText));
  }

  async function insert(
    { onlyNamed: _named, mayKnow: _mayKnow, workflowId, runId, data, ...event }: OutgoingEvent,
    deliveries: readonly { queue: string; recipient: string | null }[],
  ): Promise<string[]> {
    const eventId = newEventId();
    await trx
      .insertInto("outgoing_events")
      .values({ ...event, id: eventId, workflow_id: workflowId, run_id: runId, data: JSON.stringify(data) })
      .execute();
    const rows = deliveries.map((delivery) => ({
      ...delivery,
      id: newDeliveryId(),
      event_id: eventId,
      project: event.project,
      state: "pending" as const,
      attempts: 0,
      fence: 0,
      due_at: event.at,
      created_at: event.at,
    }));
    await trx.insertInto("deliveries").values(rows).execute();
    return rows.map(({ id }) => id);
  }
}

/** Whether who set where a subscription delivers to may know of an event. */
const mayKnow = async (event: OutgoingEvent, { confirmedBy }: SubscriptionRecord): Promise<boolean> =>
  event.mayKnow === undefined || (confirmedBy !== null && (await event.mayKnow(confirmedBy)));

/** Whether a subscription wants an event, apart from its tags. */
function wants(
  { events, workflows }: SubscriptionRecord,
  { type, workflowId, onlyNamed }: OutgoingEvent,
): boolean {
  if (!events.includes(type)) return false;
  if (workflows === null) return onlyNamed !== true;
  return workflowId !== null && workflows.includes(workflowId);
}

/** Deletes ended deliveries, and events without any. @returns whether there may be more */
export async function purgeDeliveries(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("deliveries")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("deliveries")
        .select("id")
        .where("ended_at", "<=", before)
        .orderBy("ended_at")
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  const { numDeletedRows: events } = await trx
    .deleteFrom("outgoing_events")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("outgoing_events")
        .select("outgoing_events.id")
        .where("outgoing_events.at", "<=", before)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("deliveries")
                .select(sql.lit(1).as("one"))
                .whereRef("deliveries.event_id", "=", "outgoing_events.id"),
            ),
          ),
        )
        .orderBy("outgoing_events.at")
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit) || events >= BigInt(limit);
}

/** Makes the claimed deliveries of a dead executor due at once. */
export async function releaseDeliveries(trx: Kysely<Schema>, executor: string, at: string): Promise<void> {
  await trx
    .updateTable("deliveries")
    .set((eb) => ({ due_at: at, claimed_by: null, fence: eb("fence", "+", 1) }))
    .where("claimed_by", "=", executor)
    .where("state", "=", "pending")
    .execute();
}
