/** API keys: their digests and scopes, and their owners' roles. */
import { type ExpressionBuilder, type Kysely } from "kysely";
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import type {
  ApiKeyFilter,
  ApiKeyReader,
  ApiKeyStore,
  ApiKeyWriter,
  NewApiKey,
} from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import {
  ofOwner,
  keysWithOwners,
  toRecord,
  isUnknownToOlderReleases,
  toScopeColumns,
  toRow,
} from "./api-key-rows.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import { cappedCount } from "./capped-count.ts";
import type { Store } from "./store.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { preparedUntilCommit } from "./prepared.ts";
import type { Schema } from "./schema.ts";

// Every request with a key runs this query.
const byDigest = preparedUntilCommit(
  (db, digest: Buffer) => keysWithOwners(db).where("digest", "=", digest),
  (digest) => digest.toString("latin1"),
  toRecord,
);

const matching =
  ({ owner, application }: ApiKeyFilter) =>
  (eb: ExpressionBuilder<Schema, "api_keys">) =>
    eb.and([
      ...(owner === undefined ? [] : [eb("owner", "=", owner)]),
      ...(application === undefined ? [] : [eb("application", application ? "is not" : "is", null)]),
    ]);

/** Deletes up to `limit` authorizations of applications that ended by `before` (ISO 8601); returns whether there may be more. */
export async function purgeEndedApplications(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const ended = trx
    .selectFrom("api_keys")
    .select("id")
    .where("application", "is not", null)
    .where((eb) =>
      eb.or([
        eb("revoked_at", "<=", before),
        eb.and([eb("expires_at", "<=", before), eb("renewable_until", "<=", before)]),
      ]),
    )
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom("api_keys")
    .where("id", "in", ended)
    .executeTakeFirstOrThrow();
  return numDeletedRows >= BigInt(limit);
}

export function apiKeyReader(db: Kysely<Schema>) {
  return {
    findByDigest: (digest) => byDigest(db, digest),

    async find(id) {
      const row = await keysWithOwners(db).where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async page({ filter, after, limit }) {
      let query = keysWithOwners(db).where(matching(filter));
      if (after !== null) {
        query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after[0], after[1])));
      }
      // One row more than the limit shows whether there is a next page.
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(toRecord),
        next: rows.length > page.length && last ? [last.created_at, last.id] : null,
      };
    },

    count: (filter) => cappedCount(db, db.selectFrom("api_keys").where(matching(filter))),
  } satisfies ApiKeyReader;
}

export function apiKeyWriter(trx: Kysely<Schema>): ApiKeyWriter {
  const insert = async (key: NewApiKey): Promise<void> => {
    if (isUnknownToOlderReleases(key)) await assertNoOlderCopies(trx);
    await trx.insertInto("api_keys").values(toRow(key)).execute();
  };
  return {
    ...apiKeyReader(trx),
    insert,

    async countActive(owner, at) {
      const { count } = await trx
        .selectFrom("api_keys")
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .where("owner", "=", owner)
        .where("revoked_at", "is", null)
        .where((eb) =>
          eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at), eb("renewable_until", ">", at)]),
        )
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async revoke(id, at) {
      const { numUpdatedRows } = await trx
        .updateTable("api_keys")
        .set({ revoked_at: at })
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async rotate(oldId, oldExpiresAt, next) {
      // Another process has just revoked it, so it gets no successor.
      const { numUpdatedRows } = await trx
        .updateTable("api_keys")
        .set({ expires_at: oldExpiresAt })
        .where("id", "=", oldId)
        .where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">=", oldExpiresAt)]))
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return false;
      await insert(next);
      return true;
    },

    async leaveProject(project) {
      const rows = await trx
        .selectFrom("api_keys")
        .select(["id", "projects"])
        .where("projects", "like", `%${JSON.stringify(project)}%`)
        .execute();
      for (const { id, projects } of rows) {
        const left = (JSON.parse(projects!) as string[]).filter((one) => one !== project);
        await trx
          .updateTable("api_keys")
          .set({ projects: JSON.stringify(left) })
          .where("id", "=", id)
          .execute();
      }
    },
  };
}

/** Keys for the command line and authentication. Every change but the last use is audited in the same transaction. */
export function apiKeyStore(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  clock: Clock,
): ApiKeyStore {
  /** Runs a change, and audits it unless it returns false, which means that nothing was changed. */
  const audited = <T>(
    operation: string,
    target: string,
    actor: string,
    change: (keys: ApiKeyWriter) => Promise<T>,
  ): Promise<T> =>
    transaction(async (trx) => {
      const result = await change(apiKeyWriter(trx));
      if (result === false) return result;
      await appendAuditEntry(trx, {
        at: iso(clock.now()),
        operation,
        target,
        owner: actor,
        keyName: null,
        lineage: COMMAND_LINE,
        surface: "cli",
        client: "millrace",
        requestId: null,
      });
      return result;
    });

  return {
    findByDigest: apiKeyReader(read).findByDigest,
    find: apiKeyReader(read).find,

    async list() {
      const rows = await keysWithOwners(read).orderBy("created_at").orderBy("id").execute();
      return rows.map(toRecord);
    },

    insert: (key, actor) => audited("create_api_key", key.id, actor, (keys) => keys.insert(key)),

    revoke: (id, at, actor) => audited("revoke_api_key", id, actor, (keys) => keys.revoke(id, at)),

    rotate: (oldId, oldExpiresAt, next, actor) =>
      audited("rotate_api_key", oldId, actor, (keys) => keys.rotate(oldId, oldExpiresAt, next)),

    renew: (id, { digest, lastFour, scopes, expiresAt }) =>
      transaction(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("api_keys")
          .set({ digest, last_four: lastFour, expires_at: expiresAt, ...toScopeColumns(scopes) })
          .where("id", "=", id)
          .where("application", "is not", null)
          .where("revoked_at", "is", null)
          .executeTakeFirstOrThrow();
        return numUpdatedRows > 0n;
      }),

    setRenewableUntil: (id, until) =>
      transaction(async (trx) => {
        await trx
          .updateTable("api_keys")
          .set({ renewable_until: until })
          .where("id", "=", id)
          .where("application", "is not", null)
          .execute();
      }),

    touch: (uses, notAfter) =>
      transaction(async (trx) => {
        for (const [id, at] of uses) {
          // Another process may have written a later use.
          const latest = at < notAfter ? at : notAfter;
          await trx
            .updateTable("api_keys")
            .set({ last_used_at: at })
            .where("id", "=", id)
            .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<=", latest)]))
            .execute();
        }
      }),

    async findInvalid(ids, at) {
      const rows = await read
        .selectFrom("api_keys")
        .select("id")
        .where("id", "in", ids)
        .where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
        .where((eb) => eb.or([eb("owner", "=", OPERATOR), eb(ofOwner(eb, "status"), "=", "active")]))
        .execute();
      const valid = new Set(rows.map((row) => row.id));
      return ids.filter((id) => !valid.has(id));
    },
  };
}
