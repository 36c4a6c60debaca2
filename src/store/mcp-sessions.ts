/** MCP sessions that any copy can go on with, and the messages that pass from copy to copy. */
import type { Kysely } from "kysely";
import { type Clock, HOUR, iso, MINUTE } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { McpSessionStore } from "../core/ports.ts";
import type { Store } from "./database.ts";
import type { Schema } from "./schema.ts";

/** A client's session is forgotten when nobody used it for so long. */
const HTTP_IDLE = 24 * HOUR;
/** A stream whose holder stopped naming it is gone: the holder died. */
const SSE_IDLE = 5 * MINUTE;
/** What may wait for one stream. */
const MAX_WAITING = 100;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** A statement takes so many variables and no more (SQLite: 32,766). */
const IDS_AT_ONCE = 1_000;

/** At most so many are cleared by one that begins, so that none pays for all of them. */
const CLEARED_AT_ONCE = 500;

/**
 * Deletes sessions that nobody used and messages that nobody fetched, `limit` at most of each; gives whether there may
 * be more.
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
        eb.and([eb("kind", "=", "http"), eb("seen_at", "<", iso(now - HTTP_IDLE))]),
        eb.and([eb("kind", "=", "sse"), eb("seen_at", "<", iso(now - SSE_IDLE))]),
      ]),
    )
    .limit(limit);
  const unfetched = trx
    .selectFrom("mcp_messages")
    .select("id")
    .where("created_at", "<", iso(now - SSE_IDLE))
    .limit(limit);
  const deleted = [
    await trx.deleteFrom("mcp_sessions").where("id", "in", idle).executeTakeFirstOrThrow(),
    await trx.deleteFrom("mcp_messages").where("id", "in", unfetched).executeTakeFirstOrThrow(),
  ];
  return deleted.some(({ numDeletedRows }) => numDeletedRows >= BigInt(limit));
}

export function mcpSessionStore(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  clock: Clock,
): McpSessionStore {
  return {
    async find(id) {
      const row = await read.selectFrom("mcp_sessions").selectAll().where("id", "=", id).executeTakeFirst();
      return row && { id: row.id, keyId: row.key_id, kind: row.kind, initialize: row.initialize };
    },

    async insert({ id, keyId, kind, initialize }) {
      const seen_at = iso(clock.now());
      await transaction(async (trx) => {
        await trx
          .insertInto("mcp_sessions")
          .values({ id, key_id: keyId, kind, initialize, seen_at })
          .execute();
        await purgeIdleMcpSessions(trx, clock.now(), CLEARED_AT_ONCE);
      });
    },

    async remove(id) {
      await transaction(async (trx) => {
        await trx.deleteFrom("mcp_sessions").where("id", "=", id).execute();
        await trx.deleteFrom("mcp_messages").where("session_id", "=", id).execute();
      });
    },

    async keepAlive(ids) {
      const seen_at = iso(clock.now());
      const unfetched = iso(clock.now() - SSE_IDLE);
      const stale = read.selectFrom("mcp_messages").select("id").where("created_at", "<", unfetched).limit(1);
      // Called by idle copies too: looking costs no lock.
      if (ids.length === 0 && (await stale.executeTakeFirst()) === undefined) return;
      await transaction(async (trx) => {
        for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
          const some = ids.slice(from, from + IDS_AT_ONCE);
          await trx.updateTable("mcp_sessions").set({ seen_at }).where("id", "in", some).execute();
        }
        await trx.deleteFrom("mcp_messages").where("created_at", "<", unfetched).execute();
      });
    },

    async enqueueMessage(sessionId, body) {
      const created_at = iso(clock.now());
      await transaction(async (trx) => {
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
          throw new AppError("busy", "Too much waits for this stream already. Read it, then send again.", {
            headers: { "Retry-After": "1" },
          });
        }
        await trx.insertInto("mcp_messages").values({ session_id: sessionId, body, created_at }).execute();
      });
    },

    async dequeueMessages(sessionIds, limit) {
      const waiting = () => read.selectFrom("mcp_messages").where("session_id", "in", sessionIds);
      // Looking costs no lock; only what is there is taken.
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
