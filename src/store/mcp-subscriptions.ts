/** The resources of which sessions of MCP clients are notified: rows, because any process can continue a session. */
import type { Kysely } from "kysely";
import { AppError } from "../core/errors.ts";
import {
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_PER_OWNER,
  type McpSubscriptionStore,
} from "../core/mcp-subscription-port.ts";
import { forUpdate, isOneOf } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import type { Store } from "./store.ts";

const countOf = async (db: Kysely<Schema>, column: "session_id" | "owner", value: string): Promise<number> =>
  Number(
    (
      await db
        .selectFrom("mcp_subscriptions")
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .where(column, "=", value)
        .executeTakeFirstOrThrow()
    ).count,
  );

export function mcpSubscriptionStore({
  read,
  transaction,
}: Pick<Store, "read" | "transaction">): McpSubscriptionStore {
  return {
    insert: ({ sessionId, uri, mark }, owner) =>
      transaction(async (trx) => {
        // Locked, so that requests of one session are counted one after the other, and it does not end meanwhile.
        const session = trx.selectFrom("mcp_sessions").select("id").where("id", "=", sessionId);
        if ((await forUpdate(trx, session).executeTakeFirst()) === undefined)
          throw new AppError("session_not_found", "The session has ended. Start a new one with initialize.");
        await trx
          .insertInto("mcp_subscriptions")
          .values({ session_id: sessionId, uri, owner, mark })
          .onConflict((conflict) => conflict.columns(["session_id", "uri"]).doUpdateSet({ mark }))
          .execute();
        if ((await countOf(trx, "session_id", sessionId)) > MAX_SUBSCRIPTIONS)
          throw new AppError(
            "too_many_subscriptions",
            `The session is subscribed to ${MAX_SUBSCRIPTIONS} resources, the maximum. Unsubscribe from one first.`,
          );
        if ((await countOf(trx, "owner", owner)) > MAX_SUBSCRIPTIONS_PER_OWNER)
          throw new AppError(
            "too_many_subscriptions",
            `Your sessions are subscribed to ${MAX_SUBSCRIPTIONS_PER_OWNER} resources in all, the maximum. ` +
              "Unsubscribe from one, or end a session, first.",
          );
      }),

    async remove(sessionId, uri) {
      await transaction((trx) =>
        trx
          .deleteFrom("mcp_subscriptions")
          .where("session_id", "=", sessionId)
          .where("uri", "=", uri)
          .execute(),
      );
    },

    async of(sessionIds) {
      if (sessionIds.length === 0) return [];
      const rows = await read
        .selectFrom("mcp_subscriptions")
        .select(["session_id", "uri", "mark"])
        .where((eb) => isOneOf(eb.ref("session_id"), JSON.stringify(sessionIds)))
        .execute();
      return rows.map(({ session_id: sessionId, uri, mark }) => ({ sessionId, uri, mark }));
    },
  };
}
