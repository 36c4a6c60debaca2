/** The rows of API keys, with their owners' roles, as records. */
import { type ExpressionBuilder, type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { Scope } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { UserRole, UserStatus } from "../../schemas/user.ts";
import type { KeyLimits } from "../core/access.ts";
import type { ApiKeyWithOwner, NewApiKey } from "../core/account-ports.ts";
import type { KeyApplication } from "../core/oauth-port.ts";
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
export const ofOwner = <C extends "role" | "status">(eb: ExpressionBuilder<Schema, "api_keys">, column: C) =>
  eb
    .selectFrom("users")
    .select(`users.${column}` as const)
    .whereRef("users.email", "=", "api_keys.owner");

/** Includes the owner's current role and status by subqueries: SQLite takes several times as long for the join. */
export const keysWithOwners = (db: Kysely<Schema>) =>
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

export const toRecord = (row: Row): ApiKeyWithOwner => ({
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

/** Older releases ignore projects, limits and the resource of a token, and let every key publish that may write. */
export const isUnknownToOlderReleases = ({ projects, limits, scopes, application }: NewApiKey): boolean =>
  limits !== null ||
  application !== null ||
  !isDefaultOnly(projects) ||
  (scopes.includes("write") && !scopes.includes("publish"));

const isDefaultOnly = (projects: readonly string[]): boolean =>
  projects.length === 1 && projects[0] === DEFAULT_PROJECT;

export const toScopeColumns = (scopes: readonly Scope[]) => ({
  scopes: JSON.stringify(scopes.filter((scope) => scope !== "publish")),
  publish: Number(scopes.includes("publish")),
});

function toApplicationColumns(application: KeyApplication | null) {
  if (application === null) return { application: null, renewable_until: null };
  const { renewableUntil, ...stored } = application;
  return { application: JSON.stringify(stored satisfies StoredApplication), renewable_until: renewableUntil };
}

export const toRow = (key: NewApiKey): Insertable<Schema["api_keys"]> => ({
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
