/**
 * The only writer of audit entries: it finds the project of an entry's target and adds the entry to the hash chain
 * (src/core/audit-chain.ts).
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { AuditDetails, AuditEntry } from "../core/account-ports.ts";
import type { Actor } from "../core/ports.ts";
import { type ChainLink, CHAIN_START, continueChain, linkOf } from "../core/audit-chain.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { lockName } from "./dialect.ts";
import { prepared, preparedInsert, statement } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { auditSearchText } from "./search-text.ts";

/** Where the setting is that says what the oldest kept entry continues from. */
const ANCHOR = "audit_anchor";
/** Number of entries that are read at a time. */
export const CHAIN_BATCH = 2_000;

/** An entry that the log does not have yet. */
export interface NewAuditEntry {
  /** ISO 8601. */
  at: string;
  operation: string;
  target: string | null;
  /** Default: the project of the target. */
  project?: string | undefined;
  owner: string;
  keyName: string | null;
  lineage: string;
  surface: Surface;
  client: string;
  requestId: string | null;
  details?: AuditDetails | undefined;
}

/** Who makes an entry, from the caller of a request. */
export const auditActor = ({ principal, client }: Actor) => ({
  owner: principal.owner,
  keyName: principal.keyName,
  lineage: principal.lineage,
  surface: client.surface,
  client: client.name,
});

export const auditColumns = [
  "id",
  "at",
  "operation",
  "target",
  "project",
  "owner",
  "key_name",
  "lineage",
  "surface",
  "client",
  "request_id",
  "details",
  "hash",
] as const;

export function toAuditEntry({
  key_name: keyName,
  request_id: requestId,
  details,
  ...row
}: Pick<AuditRow, (typeof auditColumns)[number]>): AuditEntry {
  return {
    ...row,
    keyName,
    requestId,
    details: details === null ? null : (JSON.parse(details) as AuditDetails),
  };
}

type AuditRow = Omit<Schema["audit_log"], "id" | "project" | "search_text"> & { id: number; project: string };

/** The newest entry, and the project of a target in one query, because each write runs it. */
const newestAndProject = (projectOf: (target: string) => RawBuilder<string | null>) =>
  prepared((db, target: string) =>
    statement(
      db,
      sql<{ id: number | null; hash: string | null; project: string | null }>`
        select (select id from audit_log order by id desc limit 1) as id,
               (select hash from audit_log order by id desc limit 1) as hash,
               ${projectOf(target)} as project`,
    ),
  );

/** By what the id of a target begins with. The project of all others is the default one. */
const BY_PREFIX = [
  ["run_", newestAndProject((id) => sql`(select project from runs where id = ${id})`)],
  [
    "apr_",
    newestAndProject(
      (id) =>
        sql`(select project from runs where id = (select run_id from approvals where approvals.id = ${id}))`,
    ),
  ],
  ["rev_", newestAndProject((id) => sql`(select project from reviews where id = ${id})`)],
] as const;
/** Ids of workflows have no prefix, and neither an underscore nor an at sign. */
const ofWorkflow = newestAndProject((id) => sql`(select project from workflows where id = ${id})`);

const queryFor = (target: string) =>
  BY_PREFIX.find(([prefix]) => target.startsWith(prefix))?.[1] ?? ofWorkflow;

const insertEntry = preparedInsert("audit_log");

/**
 * Appends an entry, inside the transaction of the change that it records.
 *
 * Locks: the newest entry, until the transaction ends, because the next one continues from its hash.
 */
export async function appendAuditEntry(trx: Kysely<Schema>, added: NewAuditEntry): Promise<void> {
  await lockName(trx, "audit", "newest entry");
  const target = added.project === undefined ? (added.target ?? "") : "";
  const [newest] = await queryFor(target)(trx, target);
  const { id: newestId, hash: newestHash, project } = newest!;
  const previous =
    newestId !== null && newestHash !== null
      ? { id: newestId, hash: newestHash }
      : ((await chainHead(trx)) ?? (await beginChain(trx, newestId ?? CHAIN_START.id)));
  const entry = {
    id: previous.id + 1,
    at: added.at,
    operation: storable(added.operation),
    target: storable(added.target),
    project: added.project ?? project ?? DEFAULT_PROJECT,
    owner: storable(added.owner),
    keyName: storable(added.keyName),
    lineage: storable(added.lineage),
    surface: added.surface,
    client: storable(added.client),
    requestId: storable(added.requestId),
    details: added.details === undefined ? null : storableDetails(added.details),
  };
  const { keyName, requestId, details, ...columns } = entry;
  await insertEntry(trx, {
    ...columns,
    key_name: keyName,
    request_id: requestId,
    details: details === null ? null : canonicalJson(details),
    hash: linkOf(previous.hash, entry).hash,
    search_text: auditSearchText(entry),
  });
}

/** The text as the database returns it: it replaces lone surrogates, and the hash must cover what is stored. */
const storable = <T extends string | null>(text: T): T => (text === null ? text : (text.toWellFormed() as T));

const storableDetails = (details: AuditDetails): AuditDetails =>
  JSON.parse(canonicalJson(details), (_key, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value,
  ) as AuditDetails;

/** Begins the chain after the newest entry of an older release, or with the first entry of an instance. */
async function beginChain(trx: Kysely<Schema>, newestId: number): Promise<ChainLink> {
  const anchor = { ...CHAIN_START, id: newestId };
  await saveAnchor(trx, anchor);
  return anchor;
}

/** Records what the oldest kept entry continues from. */
export async function saveAnchor(trx: Kysely<Schema>, { id, hash }: ChainLink): Promise<void> {
  const value = JSON.stringify({ id, hash });
  await trx
    .insertInto("settings")
    .values({ name: ANCHOR, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

/** What the oldest entry of the chain continues from; undefined before the chain begins. */
async function findAnchor(db: Kysely<Schema>): Promise<ChainLink | undefined> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", ANCHOR).executeTakeFirst();
  return row && (JSON.parse(row.value) as ChainLink);
}

/** Entries with an id above `after`, oldest first. */
export async function entriesAfter(db: Kysely<Schema>, after: number, limit: number): Promise<AuditEntry[]> {
  const rows = await db
    .selectFrom("audit_log")
    .select(auditColumns)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(toAuditEntry);
}

/** The newest or the oldest entry of a range that has a hash. */
async function hashedEntry(
  db: Kysely<Schema>,
  after: number,
  which: "newest" | "oldest",
): Promise<ChainLink | undefined> {
  const row = await db
    .selectFrom("audit_log")
    .select(["id", "hash"])
    .where("id", ">", after)
    .where("hash", "is not", null)
    .orderBy("id", which === "newest" ? "desc" : "asc")
    .limit(1)
    .executeTakeFirst();
  return row && { id: row.id, hash: row.hash! };
}

/**
 * What the next entry continues from; undefined before the chain begins. Entries that an older release has written since the
 * last hash are part of it.
 */
export async function chainHead(db: Kysely<Schema>): Promise<ChainLink | undefined> {
  const anchor = await findAnchor(db);
  if (anchor === undefined) return undefined;
  let head = (await hashedEntry(db, anchor.id, "newest")) ?? anchor;
  for (;;) {
    const entries = await entriesAfter(db, head.id, CHAIN_BATCH);
    if (entries.length === 0) return head;
    head = continueChain(head, entries);
  }
}

/** Where the chain can be verified from. */
export interface ChainOrigin {
  link: ChainLink;
  /** Entries between the last purge and the oldest kept entry: an older release has purged them, or somebody deleted them. */
  missing: { from: number; to: number } | undefined;
}

/** @returns undefined before the chain begins */
export async function chainOrigin(db: Kysely<Schema>): Promise<ChainOrigin | undefined> {
  const anchor = await findAnchor(db);
  if (anchor === undefined) return undefined;
  const [oldest] = await entriesAfter(db, anchor.id, 1);
  if (oldest === undefined || oldest.id === anchor.id + 1) return { link: anchor, missing: undefined };
  return {
    link: (await hashedEntry(db, anchor.id, "oldest")) ?? anchor,
    missing: { from: anchor.id + 1, to: oldest.id - 1 },
  };
}

/** The first entry with a hash at or after an id. */
export const chainLinkFrom = (db: Kysely<Schema>, id: number): Promise<ChainLink | undefined> =>
  hashedEntry(db, id - 1, "oldest");

/**
 * Takes the oldest kept entry for the beginning of the chain, where entries before it are missing: a release that knows no chain
 * has purged them. The caller makes sure that one can have run on this state.
 */
export async function acceptOlderPurge(trx: Kysely<Schema>): Promise<void> {
  const origin = await chainOrigin(trx);
  if (origin?.missing !== undefined) await saveAnchor(trx, origin.link);
}
