/** MCP sessions that any process can continue, and the messages that processes pass to each other. */
import type { Kysely } from "kysely";
import { type Clock, HOUR, iso, MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { McpSessionStore } from "../core/mcp-session-port.ts";
import type { Store } from "./store.ts";
import type { Schema } from "./schema.ts";

/** How long an unused session is kept, in milliseconds. */
const HTTP_IDLE_MS = 24 * HOUR;
/** How long a stream is kept after its process last renewed it, in milliseconds; the process has died then. */
const SSE_IDLE_MS = 5 * MINUTE;
/** Maximum number of messages waiting for one stream. */
const MAX_WAITING = 100;
/** Maximum total size of these messages, in bytes. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Maximum number of ids per statement, which may have 32,766 variables in SQLite. */
const MAX_IDS = 1_000;

/** Maximum number of sessions purged per new session, so that none purges all of them. */
const PURGE_LIMIT = 500;

/**
 * Deletes up to `limit` unused sessions and up to `limit` unfetched messages; returns whether there may be more.
 */
export async function purgeIdleMcpSessions(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const idle = trx
    .selectFrom("mcp_sessions")
    .select("id")
    .where((eb) =>
      eb.or([
        eb.and([eb("kind", "=", "http"), eb("seen_at", "<", iso(now - HTTP_IDLE_MS))]),
        eb.and([eb("kind", "=", "sse"), eb("seen_at", "<", iso(now - SSE_IDLE_MS))]),
      ]),
    )
    .limit(limit);
  const unfetched = trx
    .selectFrom("mcp_messages")
    .select("id")
    .where("created_at", "<", iso(now - SSE_IDLE_MS))
    .limit(limit);
  const deleted = [
    await trx.deleteFrom("mcp_sessions").where("id", "in", idle).executeTakeFirstOrThrow(),
    await trx.deleteFrom("mcp_messages").where("id", "in", unfetched).executeTakeFirstOrThrow(),
  ];
  // A process without streams registers again when it opens one.
  await trx
    .deleteFrom("mcp_holders")
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("mcp_sessions").select("holder").whereRef("holder", "=", "mcp_holders.id"))),
    )
    .execute();
  return deleted.some(({ numDeletedRows }) => numDeletedRows >= BigInt(limit));
}

const heartbeatsIn = async (db: Kysely<Schema>, holder: string): Promise<number | undefined> => {
  const row = await db
    .selectFrom("mcp_holders")
    .select("heartbeats")
    .where("id", "=", holder)
    .executeTakeFirst();
  return row?.heartbeats;
};
const isQueuedIn = async (db: Kysely<Schema>, messageId: number): Promise<boolean> =>
  (await db.selectFrom("mcp_messages").select("id").where("id", "=", messageId).executeTakeFirst()) !==
  undefined;

export function mcpSessionStore(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  clock: Clock,
): McpSessionStore {
  return {
    async find(id) {
      const row = await read.selectFrom("mcp_sessions").selectAll().where("id", "=", id).executeTakeFirst();
      return (
        row && {
          id: row.id,
          keyId: row.key_id,
          kind: row.kind,
          initialize: row.initialize,
          holder: row.holder,
        }
      );
    },

    async insert({ id, keyId, kind, initialize, holder }) {
      const seen_at = iso(clock.now());
      await transaction(async (trx) => {
        await trx
          .insertInto("mcp_sessions")
          .values({ id, key_id: keyId, kind, initialize, seen_at, holder })
          .execute();
        if (holder !== null) {
          await trx
            .insertInto("mcp_holders")
            .values({ id: holder, heartbeats: 0 })
            .onConflict((conflict) => conflict.doNothing())
            .execute();
        }
        await purgeIdleMcpSessions(trx, clock.now(), PURGE_LIMIT);
      });
    },

    async remove(id) {
      await transaction(async (trx) => {
        await trx.deleteFrom("mcp_sessions").where("id", "=", id).execute();
        await trx.deleteFrom("mcp_messages").where("session_id", "=", id).execute();
      });
    },

    async heartbeat(holder) {
      const { numUpdatedRows } = await transaction((trx) =>
        trx
          .updateTable("mcp_holders")
          .set((eb) => ({ heartbeats: eb("heartbeats", "+", 1) }))
          .where("id", "=", holder)
          .executeTakeFirstOrThrow(),
      );
      return numUpdatedRows > 0n;
    },

    heartbeatsOf: (holder) => heartbeatsIn(read, holder),

    async removeHolder(holder) {
      await transaction((trx) => trx.deleteFrom("mcp_holders").where("id", "=", holder).execute());
    },

    removeDeadHolder: ({ id, holder }, { messageId, heartbeats }) =>
      transaction(async (trx) => {
        if (!(await isQueuedIn(trx, messageId))) return false;
        if (holder !== null && (await heartbeatsIn(trx, holder)) !== heartbeats) return false;
        const streams = () => {
          const query = trx.selectFrom("mcp_sessions").select("id");
          return holder === null ? query.where("id", "=", id) : query.where("holder", "=", holder);
        };
        await trx
          .deleteFrom("mcp_messages")
          .where((eb) => eb.or([eb("id", "=", messageId), eb("session_id", "in", streams())]))
          .execute();
        await trx.deleteFrom("mcp_sessions").where("id", "in", streams()).execute();
        if (holder !== null) await trx.deleteFrom("mcp_holders").where("id", "=", holder).execute();
        return true;
      }),

    async keepAlive(ids) {
      const seen_at = iso(clock.now());
      const unfetched = iso(clock.now() - SSE_IDLE_MS);
      const stale = read.selectFrom("mcp_messages").select("id").where("created_at", "<", unfetched).limit(1);
      // Idle processes call this too, so it reads before it takes the lock.
      if (ids.length === 0 && (await stale.executeTakeFirst()) === undefined) return;
      await transaction(async (trx) => {
        for (let from = 0; from < ids.length; from += MAX_IDS) {
          const batch = ids.slice(from, from + MAX_IDS);
          await trx.updateTable("mcp_sessions").set({ seen_at }).where("id", "in", batch).execute();
        }
        await trx.deleteFrom("mcp_messages").where("created_at", "<", unfetched).execute();
      });
    },

    async enqueueMessage(sessionId, body) {
      const created_at = iso(clock.now());
      return transaction(async (trx) => {
        const waiting = await trx
          .selectFrom("mcp_messages")
          .select((eb) => [
            eb.fn.countAll<number>().as("messages"),
            eb.fn
              .coalesce(eb.fn.sum<number | string>(eb.fn<number>("octet_length", ["body"])), eb.lit(0))
              .as("bytes"),
          ])
          .where("session_id", "=", sessionId)
          .executeTakeFirstOrThrow();
        if (
          waiting.messages >= MAX_WAITING ||
          Number(waiting.bytes) + Buffer.byteLength(body) > MAX_WAITING_BYTES
        ) {
          throw new AppError("busy", "Too many messages wait for this stream. Read them, then send again.", {
            headers: { "Retry-After": "1" },
          });
        }
        const { id } = await trx
          .insertInto("mcp_messages")
          .values({ session_id: sessionId, body, created_at })
          .returning("id")
          .executeTakeFirstOrThrow();
        return id;
      });
    },

    isQueued: (messageId) => isQueuedIn(read, messageId),

    async dequeueMessages(sessionIds, limit) {
      const waiting = () => read.selectFrom("mcp_messages").where("session_id", "in", sessionIds);
      // The read takes no lock; only existing messages are deleted.
      if ((await waiting().select("id").limit(1).executeTakeFirst()) === undefined) return [];
      return transaction(async (trx) => {
        const rows = await trx
          .selectFrom("mcp_messages")
          .selectAll()
          .where("session_id", "in", sessionIds)
          .orderBy("id")
          .limit(limit)
          .execute();
        await trx
          .deleteFrom("mcp_messages")
          .where(
            "id",
            "in",
            rows.map((row) => row.id),
          )
          .execute();
        return rows.map((row) => ({ sessionId: row.session_id, body: row.body }));
      });
    },
  };
}
