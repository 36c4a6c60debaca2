/** Bounds what triggers have received: by number, by bytes, by time. */
import type { Kysely, SelectQueryBuilder } from "kysely";
import { DAY, iso } from "../core/clock.ts";
import { forUpdate } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import { addStoredBytes, type StoredPart } from "./stored-bytes.ts";

/** Number of the newest deliveries of a trigger whose bodies are stored. */
const MAX_BODIES = 200;
/** Maximum bytes of these bodies together. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Number of the newest refused deliveries of a trigger that are listed. */
const MAX_REFUSED = 50;
/** How long bodies are stored, in milliseconds. */
const KEEP_BODIES_MS = 7 * DAY;
/** How long a delivery is listed, and a repetition of it recognized, in milliseconds. */
const KEEP_MS = 30 * DAY;

/**
 * Deletes the bodies that the newest deliveries of a trigger leave no room for, and the oldest refused deliveries.
 * @returns what is no longer stored, to be counted
 */
export async function pruneTriggerDeliveries(trx: Kysely<Schema>, triggerId: string): Promise<StoredPart[]> {
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
  const released =
    beyond === undefined
      ? []
      : await deleteBodies(
          trx,
          trx
            .selectFrom("trigger_deliveries")
            .select("id")
            .where("trigger_id", "=", triggerId)
            .where("received_at", "<=", beyond.received_at)
            .where("event", "is not", null)
            // One that has not ended is still needed.
            .where("next_at", "is", null),
        );
  const refused = await trx
    .selectFrom("trigger_deliveries")
    .select("received_at")
    .where("trigger_id", "=", triggerId)
    .where("status", "=", "refused")
    .orderBy("received_at", "desc")
    .offset(MAX_REFUSED)
    .limit(1)
    .executeTakeFirst();
  if (refused !== undefined)
    await trx
      .deleteFrom("trigger_deliveries")
      .where("trigger_id", "=", triggerId)
      .where("status", "=", "refused")
      .where("received_at", "<=", refused.received_at)
      .execute();
  return released;
}

/** Deletes the bodies of the deliveries that `ids` selects. @returns what is no longer stored */
async function deleteBodies(
  trx: Kysely<Schema>,
  ids: SelectQueryBuilder<Schema, "trigger_deliveries", { id: string }>,
): Promise<StoredPart[]> {
  const rows = await forUpdate(trx, ids).execute();
  if (rows.length === 0) return [];
  const deleted = trx
    .selectFrom("trigger_deliveries")
    .innerJoin("workflows", "workflows.id", "trigger_deliveries.workflow_id")
    .select(["subject", "project", "stored_bytes"])
    .where(
      "trigger_deliveries.id",
      "in",
      rows.map(({ id }) => id),
    );
  const parts = (await deleted.execute()).map(({ subject, project, stored_bytes }) => ({
    subject,
    project,
    bytes: -stored_bytes,
  }));
  await trx
    .updateTable("trigger_deliveries")
    .set({ event: null, stored_bytes: 0 })
    .where(
      "id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
  return parts;
}

/** Purges a batch of expired deliveries and bodies at `now` (milliseconds). @returns whether there may be more */
export async function purgeTriggerDeliveries(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const ended = trx.selectFrom("trigger_deliveries").select("id").where("next_at", "is", null).limit(limit);
  const parts = await deleteBodies(
    trx,
    ended.where("received_at", "<", iso(now - KEEP_BODIES_MS)).where("event", "is not", null),
  );
  await addStoredBytes(trx, parts);
  // Their bodies were deleted before, unless they were many.
  const expired = await trx
    .deleteFrom("trigger_deliveries")
    .where("id", "in", ended.where("received_at", "<", iso(now - KEEP_MS)).where("event", "is", null))
    .executeTakeFirst();
  return expired.numDeletedRows >= BigInt(limit) || parts.length >= limit;
}
