/** API keys: their digests and scopes, and their owners' roles. */
import type { ExpressionBuilder, Insertable, Kysely } from "kysely";
import { OPERATOR, type Scope } from "../../schemas/actor.ts";
import type { Role, UserStatus } from "../../schemas/user.ts";
import type {
  ApiKeyReader,
  ApiKeyStore,
  ApiKeyWriter,
  NewApiKey,
  ApiKeyWithOwner,
} from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { Store } from "./database.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

const columns = [
  "id",
  "name",
  "owner",
  "last_four",
  "scopes",
  "lineage",
  "created_at",
  "expires_at",
  "last_used_at",
  "revoked_at",
] as const;

/** A column of the key's owner, found by the e-mail address, which never changes. */
const ofOwner = <C extends "role" | "status">(eb: ExpressionBuilder<Schema, "api_keys">, column: C) =>
  eb
    .selectFrom("users")
    .select(`users.${column}` as const)
    .whereRef("users.email", "=", "api_keys.owner");

/** Includes the owner's current role and status by subqueries: SQLite takes several times as long for the join. */
const keysWithOwners = (db: Kysely<Schema>) =>
  db
    .selectFrom("api_keys")
    .select((eb) => [...columns, ofOwner(eb, "role").as("role"), ofOwner(eb, "status").as("status")]);

type Row = Omit<Schema["api_keys"], "digest"> & { role: Role | null; status: UserStatus | null };

const toRecord = (row: Row): ApiKeyWithOwner => ({
  id: row.id,
  name: row.name,
  owner: row.owner,
  lastFour: row.last_four,
  scopes: JSON.parse(row.scopes) as Scope[],
  lineage: row.lineage,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
  user: row.role === null || row.status === null ? null : { role: row.role, status: row.status },
});

// Every request with a key runs this query.
const byDigest = prepared((db, digest: Buffer) => keysWithOwners(db).where("digest", "=", digest));

const toRow = (key: NewApiKey): Insertable<Schema["api_keys"]> => ({
  id: key.id,
  digest: key.digest,
  last_four: key.lastFour,
  name: key.name,
  owner: key.owner,
  scopes: JSON.stringify(key.scopes),
  lineage: key.lineage,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: null,
  revoked_at: null,
});

export function apiKeyReader(db: Kysely<Schema>) {
  return {
    async findByDigest(digest) {
      const [row] = await byDigest(db, digest);
      return row && toRecord(row);
    },

    async find(id) {
      const row = await keysWithOwners(db).where("id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async page({ filter: { owner }, after, limit }) {
      let query = keysWithOwners(db);
      if (owner !== undefined) query = query.where("owner", "=", owner);
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

    async count({ owner }) {
      const { count } = await db
        .selectFrom("api_keys")
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .$if(owner !== undefined, (query) => query.where("owner", "=", owner!))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  } satisfies ApiKeyReader;
}

export function apiKeyWriter(trx: Kysely<Schema>): ApiKeyWriter {
  const insert = async (key: NewApiKey): Promise<void> => {
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
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
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
      await trx
        .insertInto("audit_log")
        .values({
          at: iso(clock.now()),
          operation,
          target,
          owner: actor,
          key_name: null,
          surface: "cli",
          client: "millrace",
          request_id: null,
        })
        .execute();
      return result;
    });

  return {
    findByDigest: apiKeyReader(read).findByDigest,

    async list() {
      const rows = await keysWithOwners(read).orderBy("created_at").orderBy("id").execute();
      return rows.map(toRecord);
    },

    insert: (key, actor) => audited("create_api_key", key.id, actor, (keys) => keys.insert(key)),

    revoke: (id, at, actor) => audited("revoke_api_key", id, actor, (keys) => keys.revoke(id, at)),

    rotate: (oldId, oldExpiresAt, next, actor) =>
      audited("rotate_api_key", oldId, actor, (keys) => keys.rotate(oldId, oldExpiresAt, next)),

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
