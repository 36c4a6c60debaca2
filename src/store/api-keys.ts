/** API keys: their digests and scopes, and their owners' roles. */
import { type ExpressionBuilder, type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { COMMAND_LINE, OPERATOR, Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { UserRole, UserStatus } from "../../schemas/user.ts";
import type {
  ApiKeyFilter,
  ApiKeyReader,
  ApiKeyStore,
  ApiKeyWriter,
  NewApiKey,
  ApiKeyWithOwner,
} from "../core/account-ports.ts";
import type { KeyLimits } from "../core/access.ts";
import type { KeyApplication } from "../core/oauth-port.ts";
import { type Clock, iso } from "../core/clock.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import { cappedCount } from "./capped-count.ts";
import type { Store } from "./store.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { preparedUntilCommit } from "./prepared.ts";
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
  "projects",
  "publish",
  "limits",
  "application",
  "renewable_until",
] as const;

/** A column of the key's owner, found by the e-mail address, which never changes. */
const ofOwner = <C extends "role" | "status">(eb: ExpressionBuilder<Schema, "api_keys">, column: C) =>
  eb
    .selectFrom("users")
    .select(`users.${column}` as const)
    .whereRef("users.email", "=", "api_keys.owner");

/** Includes the owner's current role and status by subqueries: SQLite takes several times as long for the join. */
const keysWithOwners = (db: Kysely<Schema>) =>
  db.selectFrom("api_keys").select((eb) => [
    ...columns,
    ofOwner(eb, "role").as("role"),
    ofOwner(eb, "status").as("status"),
    // Here and not in a query of its own, because every request asks it.
    eb
      .selectFrom("projects")
      .select("projects.id")
      .where("projects.id", "!=", sql.lit(DEFAULT_PROJECT))
      .limit(eb.lit(1))
      .as("other_project"),
  ]);

type Row = Omit<Selectable<Schema["api_keys"]>, "digest"> & {
  role: UserRole | null;
  status: UserStatus | null;
  other_project: string | null;
};

/** `publish` is a column of its own, because older releases know no such scope. In their keys `write` includes it. */
function scopesOf({ scopes: column, publish }: Pick<Row, "scopes" | "publish">): Scope[] {
  const scopes = JSON.parse(column) as Scope[];
  const mayPublish = publish === null ? scopes.includes("write") : publish === 1;
  return mayPublish ? Scope.options.filter((scope) => scope === "publish" || scopes.includes(scope)) : scopes;
}

/** An application as the column holds it; until when it can renew its token is a column of its own. */
type StoredApplication = Omit<KeyApplication, "renewableUntil">;

function applicationOf({
  application,
  renewable_until: until,
}: Pick<Row, "application" | "renewable_until">) {
  if (application === null || until === null) return null;
  return { ...(JSON.parse(application) as StoredApplication), renewableUntil: until };
}

const toRecord = (row: Row): ApiKeyWithOwner => ({
  id: row.id,
  name: row.name,
  owner: row.owner,
  lastFour: row.last_four,
  scopes: scopesOf(row),
  lineage: row.lineage,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
  projects: row.projects === null ? [DEFAULT_PROJECT] : (JSON.parse(row.projects) as string[]),
  limits: row.limits === null ? null : (JSON.parse(row.limits) as KeyLimits),
  application: applicationOf(row),
  isSingleProject: row.other_project === null,
  user: row.role === null || row.status === null ? null : { role: row.role, status: row.status },
});

// Every request with a key runs this query.
const byDigest = preparedUntilCommit(
  (db, digest: Buffer) => keysWithOwners(db).where("digest", "=", digest),
  (digest) => digest.toString("latin1"),
  toRecord,
);

/** Older releases ignore projects, limits and the resource of a token, and let every key publish that may write. */
const isUnknownToOlderReleases = ({ projects, limits, scopes, application }: NewApiKey): boolean =>
  limits !== null ||
  application !== null ||
  !isDefaultOnly(projects) ||
  (scopes.includes("write") && !scopes.includes("publish"));

const isDefaultOnly = (projects: readonly string[]): boolean =>
  projects.length === 1 && projects[0] === DEFAULT_PROJECT;

const toScopeColumns = (scopes: readonly Scope[]) => ({
  scopes: JSON.stringify(scopes.filter((scope) => scope !== "publish")),
  publish: Number(scopes.includes("publish")),
});

function toApplicationColumns(application: KeyApplication | null) {
  if (application === null) return { application: null, renewable_until: null };
  const { renewableUntil, ...stored } = application;
  return { application: JSON.stringify(stored satisfies StoredApplication), renewable_until: renewableUntil };
}

const toRow = (key: NewApiKey): Insertable<Schema["api_keys"]> => ({
  id: key.id,
  digest: key.digest,
  last_four: key.lastFour,
  name: key.name,
  owner: key.owner,
  ...toScopeColumns(key.scopes),
  projects: isDefaultOnly(key.projects) ? null : JSON.stringify(key.projects),
  limits: key.limits && JSON.stringify(key.limits),
  ...toApplicationColumns(key.application),
  lineage: key.lineage,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: null,
  revoked_at: null,
});

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

    async ofLineage(lineage) {
      const rows = await keysWithOwners(db)
        .where("lineage", "=", lineage)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return rows.map(toRecord);
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
