/** Migrations forward, under the write lock, so that of several processes that start at once one migrates. */
import type { Kysely, Transaction } from "kysely";
import { AppError } from "../core/errors.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import * as workflowsAndKeys from "./migrations/0001-workflows-and-keys.ts";
import * as accounts from "./migrations/0003-accounts.ts";
import * as modelUsage from "./migrations/0004-model-usage.ts";
import * as signOn from "./migrations/0005-sign-on.ts";
import * as runTraces from "./migrations/0006-run-traces.ts";
import * as usageCounts from "./migrations/0007-usage-counts.ts";
import * as runs from "./migrations/0002-runs.ts";
import type { Schema } from "./schema.ts";
import packageJson from "../../package.json" with { type: "json" };

export interface Migration {
  id: number;
  name: string;
  /** The oldest release's newest migration that still runs on this schema: expand first, contract a release later. */
  requires: number;
  up(db: Kysely<never>): Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: "workflows-and-keys", requires: 1, up: workflowsAndKeys.up },
  { id: 2, name: "runs", requires: 1, up: runs.up },
  { id: 3, name: "accounts", requires: 1, up: accounts.up },
  { id: 4, name: "model-usage", requires: 1, up: modelUsage.up },
  { id: 5, name: "sign-on", requires: 1, up: signOn.up },
  { id: 6, name: "run-traces", requires: 1, up: runTraces.up },
  { id: 7, name: "usage-counts", requires: 1, up: usageCounts.up },
];
const RELEASE = packageJson.version;
/** Where the release that last changed the tables leaves its version, for older ones that can't use them. */
const RELEASE_SETTING = "release";
/** How long a copy and the migrations of another process are waited for. */
const OTHERS_LIMIT_MS = 15 * MINUTE;

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)!.id;

/** Where the migrations of a database stand. */
export interface MigrationStatus {
  /** The newest that it has; 0 for none. */
  applied: number;
  /** The newest that this release knows. */
  newest: number;
  /** The release that last changed the tables; undefined where that did not say so. */
  release: string | undefined;
}

/**
 * Looks where a database stands, through a connection or a transaction; changes nothing.
 * @param what holds the database, for the message
 * @throws AppError storage_unavailable when a newer release has changed it beyond what this one can use
 */
export async function getMigrationStatus(
  db: Kysely<Schema>,
  { what = "The state directory", migrations = MIGRATIONS }: StandingOptions = {},
): Promise<MigrationStatus> {
  const newest = newestOf(migrations);
  const tables = new Set((await db.introspection.getTables()).map(({ name }) => name));
  if (!tables.has("migrations")) return { applied: 0, newest, release: undefined };
  const { applied, requires } = await db
    .selectFrom("migrations")
    .select((eb) => [
      eb.fn.coalesce(eb.fn.max("id"), eb.lit(0)).as("applied"),
      eb.fn.coalesce(eb.fn.max("requires"), eb.lit(0)).as("requires"),
    ])
    .executeTakeFirstOrThrow();
  const setting = tables.has("settings")
    ? await db.selectFrom("settings").select("value").where("name", "=", RELEASE_SETTING).executeTakeFirst()
    : undefined;
  const release = setting?.value;
  if (requires > newest) {
    throw new AppError(
      "storage_unavailable",
      `${what} was written by a newer release of Millrace${release === undefined ? "" : `, ${release}`} ` +
        `(migration ${applied}; this is ${RELEASE}, which knows ${newest}). Nothing was changed. Start ` +
        `${release ?? "that release"} or a newer one, or go back to a backup from before the upgrade.`,
    );
  }
  return { applied, newest, release };
}

interface StandingOptions {
  what?: string;
  migrations?: readonly Migration[];
}

/** The copy of the database that is made before its tables change. */
export interface MigrationBackup {
  file: string;
  /** The migrations went well: it stays, and older ones go. */
  pruneOlder(): void;
  /** They did not, and the database is as it was: it goes. */
  discard(): void;
}

/** What migrating has done to a state that was there. */
export interface Upgrade {
  /** The newest migration that it had. */
  from: number;
  /** The newest that it has now. */
  to: number;
  /** The file with the database as it was. */
  copy: string;
}

interface Migrating {
  read: Kysely<Schema>;
  /** Runs its argument in one write transaction. */
  begin<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /**
   * Copies the database, as it is, while the transaction holds the write lock.
   * @throws AppError storage_unavailable when there is no room
   */
  copy(newest: number): MigrationBackup;
  clock: Clock;
}

/**
 * Brings the schema to the newest state; what is there already is copied first.
 * @returns undefined where nothing was upgraded: it is new, or at the newest state, or another process was faster
 * @throws AppError storage_unavailable when a newer release has changed the database beyond what this one can use, or
 *   when a migration fails: then the database is as it was; busy
 */
export async function migrate(
  state: Migrating,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Upgrade | undefined> {
  const deadline = performance.now() + OTHERS_LIMIT_MS;
  for (;;) {
    const { applied, newest } = await getMigrationStatus(state.read, { migrations });
    if (applied >= newest) return undefined;
    try {
      return await migrateAlone(state, migrations);
    } catch (error) {
      // Another process copies and migrates, which takes as long as the database is large.
      const another = error instanceof AppError && error.code === "busy" && applied > 0;
      if (!another || performance.now() > deadline) throw error;
    }
  }
}

async function migrateAlone(
  { begin, copy, clock }: Migrating,
  migrations: readonly Migration[],
): Promise<Upgrade | undefined> {
  let kept: MigrationBackup | undefined;
  let upgrade: Upgrade | undefined;
  try {
    await begin(async (trx) => {
      await trx.schema
        .createTable("migrations")
        .ifNotExists()
        .addColumn("id", "integer", (c) => c.primaryKey())
        .addColumn("name", "text", (c) => c.notNull())
        .addColumn("requires", "integer", (c) => c.notNull())
        .addColumn("applied_at", "text", (c) => c.notNull())
        .execute();
      // Again, now that nobody else can migrate.
      const { applied, newest } = await getMigrationStatus(trx, { migrations });
      const pending = migrations.filter((it) => it.id > applied);
      if (pending.length === 0) return;
      if (applied > 0) {
        kept = copy(newest);
        upgrade = { from: applied, to: newest, copy: kept.file };
      }
      for (const migration of pending) await apply(trx, migration, applied, clock);
      await trx
        .insertInto("settings")
        .values({ name: RELEASE_SETTING, value: RELEASE })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: RELEASE }))
        .execute();
    });
  } catch (error) {
    kept?.discard();
    throw error;
  }
  kept?.pruneOlder();
  return upgrade;
}

async function apply(
  trx: Transaction<Schema>,
  { id, name, requires, up }: Migration,
  before: number,
  clock: Clock,
): Promise<void> {
  try {
    await up(trx as unknown as Kysely<never>);
    await trx
      .insertInto("migrations")
      .values({ id, name, requires, applied_at: iso(clock.now()) })
      .execute();
  } catch (error) {
    const { message } = error as Error;
    throw new AppError(
      "storage_unavailable",
      `Migration ${id} (${name}) failed: ${message.replace(/\.?$/, ".")} The database is as it was, at migration ${before}: the release that you ` +
        "came from still runs on it.",
      { cause: error },
    );
  }
}
