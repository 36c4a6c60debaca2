/** Bounds what triggers have received: by number, by bytes, by time. */
import type { Kysely } from "kysely";
import { DAY, iso } from "../core/clock.ts";
import type { Schema } from "./schema.ts";

/** Number of the newest deliveries of a trigger whose bodies are stored. */
const MAX_BODIES = 200;
/** Maximum bytes of these bodies together. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Number of the newest deliveries of a trigger that are listed of those refused with one code. */
const MAX_REFUSED = 50;
/** How long bodies are stored, in milliseconds. */
const KEEP_BODIES_MS = 7 * DAY;
/** How long a delivery is listed, and a repetition of it recognized, in milliseconds. */
const KEEP_MS = 30 * DAY;

/** Deletes the bodies that the newest deliveries of a trigger leave no room for. */
export async function pruneTriggerBodies(trx: Kysely<Schema>, triggerId: string): Promise<void> {
  const newest = await trx
    .selectFrom("trigger_deliveries")
    .select(["received_at", "bytes"])
    .where("trigger_id", "=", triggerId)
    .where("event", "is not", null)
    .orderBy("received_at", "desc")
    .orderBy("id", "desc")
    .limit(MAX_BODIES + 1)
    .execute();
  let total = 0;
  const beyond = newest.find(({ bytes }, index) => {
    total += bytes;
    return index === MAX_BODIES || (index > 0 && total > MAX_BODY_BYTES);
  });
  if (beyond !== undefined)
    await trx
      .updateTable("trigger_deliveries")
      .set({ event: null })
      .where("trigger_id", "=", triggerId)
      .where("received_at", "<=", beyond.received_at)
      .where("event", "is not", null)
      // One that has not ended is still needed.
      .where("next_at", "is", null)
      .execute();
}

/** Deletes the oldest deliveries of a trigger that were refused with a code: there are few codes, and anybody causes some. */
export async function pruneRefusedDeliveries(
  trx: Kysely<Schema>,
  triggerId: string,
  code: string,
): Promise<void> {
  const refused = await trx
    .selectFrom("trigger_deliveries")
    .select("received_at")
    .where("trigger_id", "=", triggerId)
    .where("status", "=", "refused")
    .where("code", "=", code)
    .orderBy("received_at", "desc")
    .offset(MAX_REFUSED)
    .limit(1)
    .executeTakeFirst();
  if (refused !== undefined)
    await trx
      .deleteFrom("trigger_deliveries")
      .where("trigger_id", "=", triggerId)
      .where("status", "=", "refused")
      .where("code", "=", code)
      .where("received_at", "<=", refused.received_at)
      .execute();
}

/** Purges a batch of expired deliveries and bodies at `now` (milliseconds). @returns whether there may be more */
export async function purgeTriggerDeliveries(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const expired = await trx
    .deleteFrom("trigger_deliveries")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("trigger_deliveries")
        .select("id")
        .where("received_at", "<", iso(now - KEEP_MS))
        .where("next_at", "is", null)
        .limit(limit),
    )
    .executeTakeFirst();
  const old = await trx
    .updateTable("trigger_deliveries")
    .set({ event: null })
    .where("id", "in", (eb) =>
      eb
        .selectFrom("trigger_deliveries")
        .select("id")
        .where("received_at", "<", iso(now - KEEP_BODIES_MS))
        .where("event", "is not", null)
        .where("next_at", "is", null)
        .limit(limit),
    )
    .executeTakeFirst();
  return expired.numDeletedRows >= BigInt(limit) || old.numUpdatedRows >= BigInt(limit);
}
