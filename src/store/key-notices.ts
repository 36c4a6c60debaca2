/** The notices of API keys that expire. */
import { type Kysely, sql } from "kysely";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { DAY, iso } from "../core/clock.ts";
import type { KeyNoticeReader, KeyNoticeWriter } from "../core/subscription-ports.ts";
import { parseJson } from "./json-column.ts";
import type { Schema } from "./schema.ts";

export function keyNoticeReader(db: Kysely<Schema>): KeyNoticeReader {
  return {
    async due(now, days, limit) {
      const until = iso(now + days * DAY);
      const rows = await db
        .selectFrom("api_keys")
        .select(["id", "name", "owner", "created_at", "expires_at", "projects"])
        .where("expires_at", ">", iso(now))
        .where("expires_at", "<=", until)
        .where("revoked_at", "is", null)
        .where("application", "is", null)
        // One that was rotated has a successor, and its end is intended.
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("api_keys as later")
                .select(sql.lit(1).as("one"))
                .whereRef("later.lineage", "=", "api_keys.lineage")
                .whereRef("later.created_at", ">", "api_keys.created_at"),
            ),
          ),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("key_notices")
                .select(sql.lit(1).as("one"))
                .whereRef("key_notices.key_id", "=", "api_keys.id")
                .whereRef("key_notices.expires_at", "=", "api_keys.expires_at")
                .where("key_notices.days", "=", days),
            ),
          ),
        )
        .orderBy("expires_at")
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        keyId: row.id,
        name: row.name,
        owner: row.owner,
        createdAt: row.created_at,
        expiresAt: row.expires_at!,
        projects: parseJson<string[]>(row.projects) ?? [DEFAULT_PROJECT],
      }));
    },
  };
}

export function keyNoticeWriter(trx: Kysely<Schema>): KeyNoticeWriter {
  return {
    async recordNotice({ keyId, expiresAt, days }) {
      const inserted = await trx
        .insertInto("key_notices")
        .values({ key_id: keyId, expires_at: expiresAt, days })
        .onConflict((conflict) => conflict.doNothing())
        .returning("key_id")
        .executeTakeFirst();
      return inserted !== undefined;
    },
  };
}

/** Deletes the notices of keys that have expired. @returns whether there may be more */
export async function purgeKeyNotices(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("key_notices")
    .where((eb) =>
      eb(
        eb.refTuple("key_id", "expires_at", "days"),
        "in",
        eb
          .selectFrom("key_notices")
          .select(["key_id", "expires_at", "days"])
          .where("expires_at", "<=", before)
          .limit(limit)
          .$asTuple("key_id", "expires_at", "days"),
      ),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}
