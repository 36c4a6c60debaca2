/**
 * Sessions of signed-in browsers. The row of an ended session is deleted. A login of an identity provider can present itself
 * again, so its row stays until it would expire, and says that the session was ended.
 */
import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import type { SessionReader, SessionRecord, SessionStore, SessionWriter } from "../core/session-ports.ts";
import type { Store } from "./store.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { userReader } from "./users.ts";

/** Maximum number of expired sessions purged per transaction. */
const PURGE_LIMIT = 500;

const columns = [
  "id",
  "user_id",
  "created_at",
  "seen_at",
  "expires_at",
  "client",
  "address",
  "external",
  "ended_at",
  "confirmed_at",
] as const;

const toSession = (row: Pick<Selectable<Schema["sessions"]>, (typeof columns)[number]>): SessionRecord => ({
  id: row.id,
  userId: row.user_id,
  createdAt: row.created_at,
  lastSeenAt: row.seen_at,
  expiresAt: row.expires_at,
  client: row.client,
  address: row.address,
  external: row.external === 1,
  endedAt: row.ended_at,
  confirmedAt: row.confirmed_at,
});

// Every request of a browser runs this query. It has no join with users, for which SQLite takes several times as long.
const byDigest = prepared((db, digest: Buffer) =>
  db
    .selectFrom("sessions")
    .select([...columns, "claims_at"])
    .where("digest", "=", digest),
);

/** Whether a session has neither ended nor expired, and was used since `idleSince`. */
const isValid = (eb: ExpressionBuilder<Schema, "sessions">, at: string, idleSince: string) =>
  eb.and([eb("expires_at", ">", at), eb("seen_at", ">=", idleSince), eb("ended_at", "is", null)]);

export function sessionReader(db: Kysely<Schema>): SessionReader {
  const users = userReader(db);
  return {
    async findByDigest(digest) {
      const [row] = await byDigest(db, digest);
      // Read after the session, so that a deactivation in between is noticed.
      const user = row && (await users.find(row.user_id));
      return user && { ...toSession(row), claimsAt: row.claims_at, user };
    },

    async find(id) {
      const row = await db.selectFrom("sessions").select(columns).where("id", "=", id).executeTakeFirst();
      return row && toSession(row);
    },

    async claims(id) {
      const row = await db
        .selectFrom("sessions")
        .select(["sealed", "claims_at"])
        .where("id", "=", id)
        .executeTakeFirst();
      return row && { sealed: row.sealed, claimsAt: row.claims_at };
    },

    async listByUser(userId, at, idleSince) {
      const rows = await db
        .selectFrom("sessions")
        .select(columns)
        .where("user_id", "=", userId)
        .where((eb) => isValid(eb, at, idleSince))
        .orderBy("seen_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return rows.map(toSession);
    },
  };
}

export function sessionWriter(trx: Kysely<Schema>, clock: Clock): SessionWriter {
  /** Ends one session, or all sessions of a user but `except`. @returns how many it ended */
  async function end(key: { id: string } | { user_id: string }, except?: string): Promise<number> {
    const [column, value] = Object.entries(key)[0] as ["id" | "user_id", string];
    const { numDeletedRows } = await trx
      .deleteFrom("sessions")
      .where(column, "=", value)
      .where("external", "=", 0)
      .$if(except !== undefined, (query) => query.where("id", "!=", except!))
      .executeTakeFirstOrThrow();
    const { numUpdatedRows } = await trx
      .updateTable("sessions")
      .set({ ended_at: iso(clock.now()), sealed: null })
      .where(column, "=", value)
      .where("external", "=", 1)
      .where("ended_at", "is", null)
      .$if(except !== undefined, (query) => query.where("id", "!=", except!))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows + numUpdatedRows);
  }

  return {
    ...sessionReader(trx),

    async insert(session) {
      await trx
        .insertInto("sessions")
        .values({
          id: session.id,
          digest: session.digest,
          user_id: session.userId,
          created_at: session.createdAt,
          seen_at: session.lastSeenAt,
          expires_at: session.expiresAt,
          client: session.client,
          address: session.address,
          external: session.external ? 1 : 0,
          ended_at: session.endedAt,
          confirmed_at: session.confirmedAt,
        })
        .execute();
    },

    async confirm(id) {
      await trx
        .updateTable("sessions")
        .set({ confirmed_at: iso(clock.now()) })
        .where("id", "=", id)
        .execute();
    },

    end: async (id) => (await end({ id })) > 0,
    endAllForUser: (userId, except) => end({ user_id: userId }, except),

    async saveClaims(id, { sealed, claimsAt }, expected) {
      const { numUpdatedRows } = await trx
        .updateTable("sessions")
        .set({ sealed, claims_at: claimsAt })
        .where("id", "=", id)
        .where("claims_at", expected === null ? "is" : "=", expected)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  };
}

/** Sessions for authentication; each write is a transaction. */
export function sessionStore({ read, transaction }: Pick<Store, "read" | "transaction">): SessionStore {
  return {
    ...sessionReader(read),

    async touch(uses) {
      if (uses.size === 0) return;
      await transaction(async (trx) => {
        for (const [id, at] of uses) {
          // Another process may have written a later use.
          await trx
            .updateTable("sessions")
            .set({ seen_at: at })
            .where("id", "=", id)
            .where("seen_at", "<", at)
            .execute();
        }
      });
    },

    async findInvalid(ids, at, idleSince) {
      if (ids.length === 0) return [];
      const rows = await read
        .selectFrom("sessions")
        .select("id")
        .where("id", "in", ids)
        .where((eb) => isValid(eb, at, idleSince))
        .where("user_id", "in", (eb) => eb.selectFrom("users").select("id").where("status", "=", "active"))
        .execute();
      const valid = new Set(rows.map((row) => row.id));
      return ids.filter((id) => !valid.has(id));
    },

    async purge(at, idleSince) {
      const expired = (db: Kysely<Schema>) =>
        db
          .selectFrom("sessions")
          .select("id")
          .where((eb) =>
            eb.or([
              eb("expires_at", "<=", at),
              eb.and([eb("external", "=", 0), eb("seen_at", "<", idleSince)]),
            ]),
          )
          .limit(PURGE_LIMIT);
      // The read takes no lock.
      if ((await expired(read).limit(1).execute()).length === 0) return;
      await transaction(async (trx) => {
        await trx.deleteFrom("sessions").where("id", "in", expired(trx)).execute();
      });
    },
  };
}
