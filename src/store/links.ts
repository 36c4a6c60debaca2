/** Links that work once: for setup, invitations, password resets and verification of addresses. */
import type { Kysely } from "kysely";
import type { LinkReader, LinkWriter } from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of expired links purged per new link, so that no request purges all of them. */
const PURGE_LIMIT = 50;

export function linkReader(db: Kysely<Schema>): LinkReader {
  return {
    async find(digest) {
      const row = await db
        .selectFrom("account_links")
        .select(["kind", "user_id", "created_at", "expires_at"])
        .where("digest", "=", digest)
        .where("used_at", "is", null)
        .executeTakeFirst();
      return (
        row && {
          kind: row.kind,
          userId: row.user_id,
          createdAt: row.created_at,
          expiresAt: row.expires_at,
        }
      );
    },
  };
}

/** Deletes up to `limit` expired links, used or not; returns whether there may be more. */
export async function purgeExpiredLinks(trx: Kysely<Schema>, now: number, limit: number): Promise<boolean> {
  const expired = trx
    .selectFrom("account_links")
    .select("digest")
    .where("expires_at", "<=", iso(now))
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom("account_links")
    .where("digest", "in", expired)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

export function linkWriter(trx: Kysely<Schema>, clock: Clock): LinkWriter {
  return {
    ...linkReader(trx),

    async insert(link) {
      await purgeExpiredLinks(trx, clock.now(), PURGE_LIMIT);
      await trx
        .insertInto("account_links")
        .values({
          digest: link.digest,
          kind: link.kind,
          user_id: link.userId,
          created_at: link.createdAt,
          expires_at: link.expiresAt,
          used_at: null,
        })
        .execute();
    },

    async consume(digest) {
      const { numUpdatedRows } = await trx
        .updateTable("account_links")
        .set({ used_at: iso(clock.now()) })
        .where("digest", "=", digest)
        .where("used_at", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async removeForUser(userId, kinds) {
      await trx
        .deleteFrom("account_links")
        .where("user_id", userId === null ? "is" : "=", userId)
        .where("kind", "in", kinds)
        .execute();
    },
  };
}
