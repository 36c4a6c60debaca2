/** Reads and writes subscriptions, and reads their deliveries. */
import type { ExpressionBuilder, Insertable, Kysely, Selectable } from "kysely";
import type { EventType } from "../../schemas/subscription.ts";
import type { ListPosition } from "../core/model.ts";
import {
  type DeliveryFilter,
  type DeliveryRecord,
  MAIL_QUEUE,
  type SubscriptionFilter,
  type SubscriptionReader,
  type SubscriptionRecord,
  type SubscriptionWriter,
} from "../core/subscription-ports.ts";
import { cappedCount } from "./capped-count.ts";
import { jsonText, parseJson } from "./json-column.ts";
import type { Schema } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

export const toSubscription = (row: Selectable<Schema["subscriptions"]>): SubscriptionRecord => ({
  id: row.id,
  project: row.project,
  name: row.name,
  format: row.format,
  url: row.url,
  urlSecret: row.url_secret,
  events: JSON.parse(row.events) as EventType[],
  workflows: parseJson<string[]>(row.workflows),
  tags: parseJson<string[]>(row.tags),
  includeValues: row.include_values === 1,
  generation: row.generation,
  previousUntil: row.previous_until,
  pausedAt: row.paused_at,
  pauseReason: row.pause_reason,
  failingSince: row.failing_since,
  succeededAt: row.succeeded_at,
  createdAt: row.created_at,
  createdBy: row.created_by,
  subject: row.subject,
  confirmedBy: row.confirmed_by,
  confirmedLineage: row.confirmed_lineage,
  confirmedAt: row.confirmed_at,
});

/** The columns of the fields that are given. */
const columnsOf = (change: Partial<SubscriptionRecord>): Partial<Insertable<Schema["subscriptions"]>> => ({
  ...(change.name !== undefined && { name: change.name }),
  ...(change.format !== undefined && { format: change.format }),
  ...(change.url !== undefined && { url: change.url }),
  ...(change.urlSecret !== undefined && { url_secret: change.urlSecret }),
  ...(change.events !== undefined && { events: JSON.stringify(change.events) }),
  ...(change.workflows !== undefined && { workflows: jsonText(change.workflows) }),
  ...(change.tags !== undefined && { tags: jsonText(change.tags) }),
  ...(change.includeValues !== undefined && { include_values: Number(change.includeValues) }),
  ...(change.generation !== undefined && { generation: change.generation }),
  ...(change.previousUntil !== undefined && { previous_until: change.previousUntil }),
  ...(change.pausedAt !== undefined && { paused_at: change.pausedAt }),
  ...(change.pauseReason !== undefined && { pause_reason: change.pauseReason }),
  ...(change.failingSince !== undefined && { failing_since: change.failingSince }),
  ...(change.confirmedBy !== undefined && { confirmed_by: change.confirmedBy }),
  ...(change.confirmedLineage !== undefined && { confirmed_lineage: change.confirmedLineage }),
  ...(change.confirmedAt !== undefined && { confirmed_at: change.confirmedAt }),
});

/** The deliveries with their events. */
export const deliveriesWithEvents = (db: Kysely<Schema>) =>
  db
    .selectFrom("deliveries")
    .innerJoin("outgoing_events", "outgoing_events.id", "deliveries.event_id")
    .selectAll("deliveries")
    .select([
      "outgoing_events.type",
      "outgoing_events.workflow_id",
      "outgoing_events.run_id",
      "outgoing_events.at",
      "outgoing_events.data",
    ]);

type DeliveryRow = Selectable<Schema["deliveries"]> &
  Pick<Selectable<Schema["outgoing_events"]>, "type" | "workflow_id" | "run_id" | "at" | "data">;

export const toDelivery = (row: DeliveryRow): DeliveryRecord & { project: string } => ({
  id: row.id,
  project: row.project,
  event: {
    id: row.event_id,
    type: row.type,
    project: row.project,
    workflowId: row.workflow_id,
    runId: row.run_id,
    at: row.at,
    data: JSON.parse(row.data) as Record<string, unknown>,
  },
  subscriptionId: row.queue === MAIL_QUEUE ? null : row.queue,
  recipient: row.recipient,
  state: row.state,
  attempts: row.attempts,
  fence: row.fence,
  createdAt: row.created_at,
  dueAt: row.due_at,
  attemptedAt: row.attempted_at,
  status: row.status,
  response: row.response,
  error: row.error,
  ms: row.ms,
});

/** Subscriptions belong to no workflow, so no key that is limited to some finds any. */
const ofVisible = ({ project, visibility }: SubscriptionFilter, table: "subscriptions" | "deliveries") => [
  ...visibleRows(
    visibility && { projects: visibility.workflows === null ? visibility.projects : [], workflows: null },
    {
      project: `${table}.project`,
      workflow: "",
    },
  ),
  ...visibleRows(project === undefined ? null : { projects: [project], workflows: null }, {
    project: `${table}.project`,
    workflow: "",
  }),
];

const matching = (eb: ExpressionBuilder<Schema, "subscriptions">, filter: SubscriptionFilter) =>
  eb.and(ofVisible(filter, "subscriptions"));

const matchingDeliveries = (eb: ExpressionBuilder<Schema, "deliveries">, filter: DeliveryFilter) =>
  eb.and([
    filter.subscriptionId === undefined
      ? eb("deliveries.queue", "!=", MAIL_QUEUE)
      : eb("deliveries.queue", "=", filter.subscriptionId),
    ...(filter.state === undefined ? [] : [eb("deliveries.state", "=", filter.state)]),
    ...ofVisible(filter, "deliveries"),
  ]);

const nextOf = (last: { created_at: string; id: string }): ListPosition => [last.created_at, last.id];

export function subscriptionReader(db: Kysely<Schema>): SubscriptionReader {
  return {
    async find(id) {
      const row = await db.selectFrom("subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toSubscription(row);
    },

    async page({ filter, after, limit }) {
      let query = db
        .selectFrom("subscriptions")
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
      return { items: page.map(toSubscription), next: rows.length > limit ? nextOf(page.at(-1)!) : null };
    },

    count: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("subscriptions").where((eb) => matching(eb, filter)),
      ),

    countDeliveries: async (id, state) =>
      cappedCount(db, db.selectFrom("deliveries").where("queue", "=", id).where("state", "=", state)),

    async findDelivery(id) {
      const row = await deliveriesWithEvents(db).where("deliveries.id", "=", id).executeTakeFirst();
      return row && toDelivery(row);
    },

    async deliveries({ filter, after, limit }) {
      let query = deliveriesWithEvents(db).where((eb) =>
        matchingDeliveries(eb as unknown as ExpressionBuilder<Schema, "deliveries">, filter),
      );
      if (after !== null)
        query = query.where((eb) =>
          eb(eb.refTuple("deliveries.created_at", "deliveries.id"), "<", eb.tuple(after[0], after[1])),
        );
      const rows = await query
        .orderBy("deliveries.created_at", "desc")
        .orderBy("deliveries.id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      return { items: page.map(toDelivery), next: rows.length > limit ? nextOf(page.at(-1)!) : null };
    },

    countAll: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("deliveries").where((eb) => matchingDeliveries(eb, filter)),
      ),
  };
}

export function subscriptionWriter(trx: Kysely<Schema>): SubscriptionWriter {
  return {
    ...subscriptionReader(trx),

    async insert(subscription) {
      const { id, project, createdAt, createdBy, subject } = subscription;
      const columns = columnsOf(subscription) as Insertable<Schema["subscriptions"]>;
      await trx
        .insertInto("subscriptions")
        .values({ ...columns, id, project, created_at: createdAt, created_by: createdBy, subject })
        .execute();
    },

    async update(id, change) {
      const columns = columnsOf(change);
      if (Object.keys(columns).length > 0)
        await trx.updateTable("subscriptions").set(columns).where("id", "=", id).execute();
    },

    async remove(id) {
      await trx.deleteFrom("deliveries").where("queue", "=", id).execute();
      await trx.deleteFrom("subscriptions").where("id", "=", id).execute();
    },

    async redeliver(id, at) {
      const { numUpdatedRows } = await trx
        .updateTable("deliveries")
        .set({ state: "pending", attempts: 0, due_at: at, ended_at: null })
        .where("id", "=", id)
        .where("state", "!=", "pending")
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  };
}
