/** The state of the OAuth protocol: registrations, requests, codes, grants and refresh tokens, by their digests. */
import type { Kysely } from "kysely";
import type { Clock } from "../core/clock.ts";
import type { OauthStateStore } from "../core/oauth-port.ts";
import type { Store } from "./store.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of expired states purged per new one, so that no request purges all of them. */
const PURGE_LIMIT = 50;

/** Deletes up to `limit` states that have expired; returns whether there may be more. */
export async function purgeOauthStates(trx: Kysely<Schema>, now: number, limit: number): Promise<boolean> {
  const expired = trx
    .selectFrom("oauth_states")
    .select(["model", "digest"])
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom("oauth_states")
    .where(({ eb, refTuple }) => eb(refTuple("model", "digest"), "in", expired.$asTuple("model", "digest")))
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

/** Of the states of a model that end by a time, deletes those that end first, until there are at most so many. */
async function removeBeyond(
  trx: Kysely<Schema>,
  { model, expiresAt, atMost }: { model: string; expiresAt: number; atMost: number },
): Promise<void> {
  const ending = () =>
    trx.selectFrom("oauth_states").where("model", "=", model).where("expires_at", "<=", expiresAt);
  const { count } = await ending()
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) <= atMost) return;
  const first = ending()
    .select("digest")
    .orderBy("expires_at")
    .limit(Number(count) - atMost);
  await trx.deleteFrom("oauth_states").where("model", "=", model).where("digest", "in", first).execute();
}

export function oauthStateStore(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  clock: Clock,
): OauthStateStore {
  return {
    async find(model, digest) {
      const row = await read
        .selectFrom("oauth_states")
        .select(["payload", "consumed_at"])
        .where("model", "=", model)
        .where("digest", "=", digest)
        .where("expires_at", ">", clock.now())
        .executeTakeFirst();
      return (
        row && {
          payload: JSON.parse(row.payload) as Record<string, unknown>,
          consumedAt: row.consumed_at,
        }
      );
    },

    save: (model, digest, { payload, grantId, expiresAt, atMost }) =>
      transaction(async (trx) => {
        await purgeOauthStates(trx, clock.now(), PURGE_LIMIT);
        const values = { payload: JSON.stringify(payload), grant_id: grantId, expires_at: expiresAt };
        await trx
          .insertInto("oauth_states")
          .values({ model, digest, consumed_at: null, ...values })
          .onConflict((conflict) => conflict.columns(["model", "digest"]).doUpdateSet(values))
          .execute();
        if (atMost !== undefined) await removeBeyond(trx, { model, expiresAt, atMost });
      }),

    consume: (model, digest, keepUntil) =>
      transaction(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("oauth_states")
          .set((eb) => ({
            consumed_at: clock.now(),
            expires_at: eb
              .case()
              .when("expires_at", "<", keepUntil)
              .then(eb.ref("expires_at"))
              .else(keepUntil)
              .end(),
          }))
          .where("model", "=", model)
          .where("digest", "=", digest)
          .where("consumed_at", "is", null)
          .executeTakeFirstOrThrow();
        return numUpdatedRows > 0n;
      }),

    extend: (model, digest, expiresAt) =>
      transaction(async (trx) => {
        await trx
          .updateTable("oauth_states")
          .set({ expires_at: expiresAt })
          .where("model", "=", model)
          .where("digest", "=", digest)
          .where("expires_at", "<", expiresAt)
          .execute();
      }),

    remove: (model, digest) =>
      transaction(async (trx) => {
        await trx
          .deleteFrom("oauth_states")
          .where("model", "=", model)
          .where("digest", "=", digest)
          .execute();
      }),

    removeByGrant: (model, grantId) =>
      transaction(async (trx) => {
        await trx
          .deleteFrom("oauth_states")
          .where("model", "=", model)
          .where("grant_id", "=", grantId)
          .execute();
      }),
  };
}
