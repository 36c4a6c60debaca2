/**
 * Claims deliveries that are due: those that triggers have received, and those to subscriptions. A claim is a due time in the
 * future, so that it ends by itself if its process dies; each claim raises the fence of the delivery.
 */
import { type Kysely, sql } from "kysely";
import type { DeliveryClaim } from "../core/delivery-queue-ports.ts";
import { skipLockedClause } from "./dialect.ts";
import type { Schema } from "./schema.ts";

/** The columns of each table: its queue, its due time, and what a claim sets besides. */
const TABLES = {
  deliveries: {
    queue: "queue",
    dueAt: "due_at",
    isOpen: sql`state = 'pending'`,
    times: (now: string) => sql`, attempted_at = ${now}`,
  },
  trigger_deliveries: {
    queue: "subject",
    dueAt: "next_at",
    isOpen: sql`next_at is not null`,
    times: () => sql``,
  },
} as const;

type DeliveryTable = keyof typeof TABLES;

/** @returns the ids of the deliveries that were claimed, in the order in which they were due */
export async function claimDue(
  trx: Kysely<Schema>,
  table: DeliveryTable,
  queue: string,
  { now, until, by, limit }: DeliveryClaim,
): Promise<string[]> {
  const columns = TABLES[table];
  const dueAt = sql.ref(columns.dueAt);
  // Two statements: PostgreSQL may run a subquery with a limit more than once, and then lock more rows than that.
  const { rows } = await sql<{ id: string }>`select id from ${sql.table(table)}
    where ${sql.ref(columns.queue)} = ${queue} and ${columns.isOpen} and ${dueAt} <= ${now}
    order by ${dueAt}, id limit ${limit} ${skipLockedClause(trx)}`.execute(trx);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0)
    await sql`update ${sql.table(table)}
      set ${dueAt} = ${until}, claimed_by = ${by}, attempts = attempts + 1, fence = fence + 1${columns.times(now)}
      where id in (${sql.join(ids)})`.execute(trx);
  return ids;
}

/** Makes the claimed deliveries of a dead executor due at once. */
export async function releaseDeliveries(trx: Kysely<Schema>, executor: string, at: string): Promise<void> {
  for (const table of Object.keys(TABLES) as DeliveryTable[]) {
    const { dueAt, isOpen } = TABLES[table];
    await sql`update ${sql.table(table)}
      set ${sql.ref(dueAt)} = ${at}, claimed_by = null, fence = fence + 1
      where claimed_by = ${executor} and ${isOpen}`.execute(trx);
  }
}
