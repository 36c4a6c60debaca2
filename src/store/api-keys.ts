/** API keys: digests and what they may do. */
import type { Insertable, Kysely } from "kysely";
import type { Scope } from "../../schemas/actor.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { ApiKeyRecord, ApiKeyStore } from "../core/ports.ts";
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

type Row = Pick<Schema["api_keys"], (typeof columns)[number]>;

const toRecord = (row: Row): ApiKeyRecord => ({
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
});

const byDigest = prepared((db, digest: Buffer) =>
  db.selectFrom("api_keys").select(columns).where("digest", "=", digest),
);

const toRow = (key: Parameters<ApiKeyStore["insert"]>[0]): Insertable<Schema["api_keys"]> => ({
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

export function apiKeyStore(
  { read, transaction }: Pick<Store, "read" | "transaction">,
  clock: Clock,
): ApiKeyStore {
  const audit = (trx: Kysely<Schema>, operation: string, target: string, actor: string) =>
    trx
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

  return {
    async findByDigest(digest) {
      const [row] = await byDigest(read, digest);
      return row && toRecord(row);
    },

    async list() {
      const rows = await read
        .selectFrom("api_keys")
        .select(columns)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toRecord);
    },

    insert: (key, actor) =>
      transaction(async (trx) => {
        await trx.insertInto("api_keys").values(toRow(key)).execute();
        await audit(trx, "create_api_key", key.id, actor);
      }),

    revoke: (id, at, actor) =>
      transaction(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("api_keys")
          .set({ revoked_at: at })
          .where("id", "=", id)
          .where("revoked_at", "is", null)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) return false;
        await audit(trx, "revoke_api_key", id, actor);
        return true;
      }),

    rotate: (oldId, oldExpiresAt, next, actor) =>
      transaction(async (trx) => {
        // Revoked through another copy just now: a dead key gets no living successor.
        const { numUpdatedRows } = await trx
          .updateTable("api_keys")
          .set({ expires_at: oldExpiresAt })
          .where("id", "=", oldId)
          .where("revoked_at", "is", null)
          .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">=", oldExpiresAt)]))
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) return false;
        await trx.insertInto("api_keys").values(toRow(next)).execute();
        await audit(trx, "rotate_api_key", oldId, actor);
        return true;
      }),

    touch: (uses, notAfter) =>
      transaction(async (trx) => {
        for (const [id, at] of uses) {
          // Another copy may have written a later use already.
          const before = at < notAfter ? at : notAfter;
          await trx
            .updateTable("api_keys")
            .set({ last_used_at: at })
            .where("id", "=", id)
            .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<=", before)]))
            .execute();
        }
      }),

    async deadAmong(ids, at) {
      const alive = await read
        .selectFrom("api_keys")
        .select("id")
        .where("id", "in", ids)
        .where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
        .execute();
      const living = new Set(alive.map((row) => row.id));
      return ids.filter((id) => !living.has(id));
    },
  };
}
