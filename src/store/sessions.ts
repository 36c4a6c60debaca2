/**
 * Browsers that are signed in. One that ended is gone from the table, so nothing can bring it back; a login kept elsewhere
 * shows itself again, so its row stays until it would be over anyway, and says that it was ended.
 */
import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import { type Clock, iso } from "../core/clock.ts";
import type { SessionReader, SessionRecord, SessionStore, SessionWriter } from "../core/account-ports.ts";
import type { Store } from "./database.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { userReader } from "./users.ts";

/** How many that are over are cleared away at once. */
const CLEARED_AT_ONCE = 500;

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
});

// Every request of a browser asks this. Not joined with users: SQLite takes several times as long for that.
const byDigest = prepared((db, digest: Buffer) =>
  db
    .selectFrom("sessions")
    .select([...columns, "claims_at"])
    .where("digest", "=", digest),
);

/** Over from its last moment on, and when it was not used since `idleSince`. */
const isAlive = (eb: ExpressionBuilder<Schema, "sessions">, at: string, idleSince: string) =>
  eb.and([eb("expires_at", ">", at), eb("seen_at", ">=", idleSince), eb("ended_at", "is", null)]);

/** Reads sessions through `db`: a connection, or a transaction. */
export function sessionReader(db: Kysely<Schema>): SessionReader {
  const users = userReader(db);
  return {
    async findByDigest(digest) {
      const [row] = await byDigest(db, digest);
      // Read second: who was deactivated in between is told as such.
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
        .where((eb) => isAlive(eb, at, idleSince))
        .orderBy("seen_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return rows.map(toSession);
    },
  };
}

/** Begins and ends sessions inside a transaction. */
export function sessionWriter(trx: Kysely<Schema>, clock: Clock): SessionWriter {
  /** Ends those of a user, or one, but for `except`. */
  async function end(of: { id: string } | { user_id: string }, except?: string): Promise<number> {
    const [column, value] = Object.entries(of)[0] as ["id" | "user_id", string];
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
        })
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

/** Sessions for the door, each write in a transaction of its own. */
export function sessionStore({ read, transaction }: Pick<Store, "read" | "transaction">): SessionStore {
  return {
    ...sessionReader(read),

    async touch(uses) {
      if (uses.size === 0) return;
      await transaction(async (trx) => {
        for (const [id, at] of uses) {
          // Another copy may have written a later use already.
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
      const alive = await read
        .selectFrom("sessions")
        .select("id")
        .where("id", "in", ids)
        .where((eb) => isAlive(eb, at, idleSince))
        .where("user_id", "in", (eb) => eb.selectFrom("users").select("id").where("status", "=", "active"))
        .execute();
      const living = new Set(alive.map((row) => row.id));
      return ids.filter((id) => !living.has(id));
    },

    async purge(at, idleSince) {
      const over = (db: Kysely<Schema>) =>
        db
          .selectFrom("sessions")
          .select("id")
          .where((eb) =>
            eb.or([
              eb("expires_at", "<=", at),
              eb.and([eb("external", "=", 0), eb("seen_at", "<", idleSince)]),
            ]),
          )
          .limit(CLEARED_AT_ONCE);
      // Looking costs no lock.
      if ((await over(read).limit(1).execute()).length === 0) return;
      await transaction(async (trx) => {
        await trx.deleteFrom("sessions").where("id", "in", over(trx)).execute();
      });
    },
  };
}
