/** Second factors, their recovery codes, and what browsers have begun. */
import { type Kysely, type Selectable, sql } from "kysely";
import type {
  FactorChallenge,
  FactorReader,
  FactorWriter,
  SecondFactorRecord,
} from "../core/factor-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import { assertNoOlderCopies, SECOND_FACTORS_MIGRATION } from "./older-copies.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of expired challenges purged per new one, so that no request purges all of them. */
const PURGE_LIMIT = 50;
/** Maximum number of challenges of one kind that a user has from one origin at a time; with more, the oldest ones of it end. */
const MAX_FROM_ORIGIN = 20;
/** Maximum number of challenges of one kind that a user has at a time: only from 50 addresses can somebody end those of others. */
const MAX_CHALLENGES = 1_000;
/** More than the challenges that a user can have beyond a limit. */
const BEYOND_LIMIT = 10_000;

const toFactor = (row: Selectable<Schema["second_factors"]>): SecondFactorRecord => ({
  id: row.id,
  userId: row.user_id,
  kind: row.kind,
  name: row.name,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  counter: row.counter,
  sealedSecret: row.sealed,
  passkey:
    row.credential_id === null
      ? null
      : {
          credentialId: row.credential_id,
          publicKey: row.public_key!,
          transports: JSON.parse(row.transports!) as string[],
        },
});

const toChallenge = (row: Selectable<Schema["factor_challenges"]>): FactorChallenge => ({
  digest: row.digest,
  kind: row.kind,
  userId: row.user_id,
  holder: row.holder,
  sealed: row.sealed,
  expiresAt: row.expires_at,
});

export function factorReader(db: Kysely<Schema>): FactorReader {
  return {
    async list(userId) {
      const rows = await db
        .selectFrom("second_factors")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toFactor);
    },

    async countRecoveryCodes(userId) {
      const { count } = await db
        .selectFrom("recovery_codes")
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .where("user_id", "=", userId)
        .where("used_at", "is", null)
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async findChallenge(kind, digest) {
      const row = await db
        .selectFrom("factor_challenges")
        .selectAll()
        .where("digest", "=", digest)
        .where("kind", "=", kind)
        .executeTakeFirst();
      return row && toChallenge(row);
    },
  };
}

/** Deletes up to `limit` expired challenges; returns whether there may be more. */
export async function purgeFactorChallenges(
  trx: Kysely<Schema>,
  now: number,
  limit: number,
): Promise<boolean> {
  const expired = trx
    .selectFrom("factor_challenges")
    .select("digest")
    .where("expires_at", "<=", iso(now))
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom("factor_challenges")
    .where("digest", "in", expired)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

export function factorWriter(trx: Kysely<Schema>, clock: Clock): FactorWriter {
  const removeFrom = (table: "recovery_codes" | "factor_challenges", userId: string) =>
    trx.deleteFrom(table).where("user_id", "=", userId).execute();

  return {
    ...factorReader(trx),

    async insertFactor(factor) {
      // An older release would let people in with the password alone.
      await assertNoOlderCopies(trx, SECOND_FACTORS_MIGRATION);
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto("second_factors")
        .values({
          id: factor.id,
          user_id: factor.userId,
          kind: factor.kind,
          name: factor.name,
          created_at: factor.createdAt,
          last_used_at: factor.lastUsedAt,
          counter: factor.counter,
          sealed: factor.sealedSecret,
          credential_id: factor.passkey?.credentialId ?? null,
          public_key: factor.passkey?.publicKey ?? null,
          transports: factor.passkey === null ? null : JSON.stringify(factor.passkey.transports),
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },

    async removeFactor(userId, id) {
      const { numDeletedRows } = await trx
        .deleteFrom("second_factors")
        .where("id", "=", id)
        .where("user_id", "=", userId)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    },

    async removeAll(userId) {
      await removeFrom("recovery_codes", userId);
      await removeFrom("factor_challenges", userId);
      const { numDeletedRows } = await trx
        .deleteFrom("second_factors")
        .where("user_id", "=", userId)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },

    async useFactor(id, counter) {
      const { numUpdatedRows } = await trx
        .updateTable("second_factors")
        .set({ counter, last_used_at: iso(clock.now()) })
        .where("id", "=", id)
        .where((eb) =>
          eb.or([
            eb("counter", "<", counter),
            ...(counter === 0 ? [eb.and([eb("kind", "=", "passkey"), eb("counter", "=", 0)])] : []),
          ]),
        )
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async replaceRecoveryCodes(userId, digests) {
      await removeFrom("recovery_codes", userId);
      await trx
        .insertInto("recovery_codes")
        .values(digests.map((digest) => ({ digest, user_id: userId, used_at: null })))
        .execute();
    },

    async useRecoveryCode(userId, digest) {
      const { numUpdatedRows } = await trx
        .updateTable("recovery_codes")
        .set({ used_at: iso(clock.now()) })
        .where("digest", "=", digest)
        .where("user_id", "=", userId)
        .where("used_at", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async insertChallenge({ digest, kind, userId, holder, sealed, expiresAt }) {
      await purgeFactorChallenges(trx, clock.now(), PURGE_LIMIT);
      const beyond = (max: number) =>
        trx
          .selectFrom("factor_challenges")
          .select("digest")
          .where("user_id", "=", userId)
          .where("kind", "=", kind)
          .orderBy("expires_at", "desc")
          .limit(BEYOND_LIMIT)
          .offset(max - 1);
      const [origin = ""] = holder.split(".");
      const prefix = sql<string>`substr(holder, 1, ${sql.lit(origin.length)})`;
      await trx
        .deleteFrom("factor_challenges")
        .where((eb) =>
          eb.or([
            eb("digest", "=", digest),
            eb("digest", "in", beyond(MAX_FROM_ORIGIN).where(prefix, "=", origin)),
            eb("digest", "in", beyond(MAX_CHALLENGES)),
          ]),
        )
        .execute();
      await trx
        .insertInto("factor_challenges")
        .values({ digest, kind, user_id: userId, holder, sealed, expires_at: expiresAt })
        .execute();
    },

    async takeChallenge({ digest, kind, userId, holder }) {
      const { numDeletedRows } = await trx
        .deleteFrom("factor_challenges")
        .where("digest", "=", digest)
        .where("kind", "=", kind)
        .where("user_id", "=", userId)
        .where("holder", "=", holder)
        .where("expires_at", ">", iso(clock.now()))
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    },
  };
}
