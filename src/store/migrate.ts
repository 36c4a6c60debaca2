/** Migrates the database under the write lock, so that only one of several starting processes does it. */
import type { Kysely, Transaction } from "kysely";
import { AppError } from "../core/errors.ts";
import { type Clock, iso, MINUTE } from "../core/clock.ts";
import * as workflowsAndKeys from "./migrations/0001-workflows-and-keys.ts";
import * as accounts from "./migrations/0003-accounts.ts";
import * as modelUsage from "./migrations/0004-model-usage.ts";
import * as signOn from "./migrations/0005-sign-on.ts";
import * as runTraces from "./migrations/0006-run-traces.ts";
import * as usageCounts from "./migrations/0007-usage-counts.ts";
import * as workflowStates from "./migrations/0008-workflow-states.ts";
import * as runFacts from "./migrations/0009-run-facts.ts";
import * as rates from "./migrations/0010-rates.ts";
import * as events from "./migrations/0011-events.ts";
import * as workflowContracts from "./migrations/0012-workflow-contracts.ts";
import * as runPins from "./migrations/0013-run-pins.ts";
import * as unfinishedByOwner from "./migrations/0014-unfinished-by-owner.ts";
import * as mcpHolders from "./migrations/0015-mcp-holders.ts";
import * as storedValues from "./migrations/0016-stored-values.ts";
import * as approvalPlans from "./migrations/0017-approval-plans.ts";
import * as jobOwners from "./migrations/0018-job-owners.ts";
import * as ownerTurns from "./migrations/0019-owner-turns.ts";
import * as workflowPublications from "./migrations/0020-workflow-publications.ts";
import * as unfinishedBySubject from "./migrations/0021-unfinished-by-subject.ts";
import * as prunedVersions from "./migrations/0022-pruned-versions.ts";
import * as exposureConsents from "./migrations/0023-exposure-consents.ts";
import * as stateOwners from "./migrations/0024-state-owners.ts";
import * as projects from "./migrations/0025-projects.ts";
import * as trials from "./migrations/0026-trials.ts";
import * as singleSteps from "./migrations/0027-single-steps.ts";
import * as oauth from "./migrations/0028-oauth.ts";
import * as retries from "./migrations/0029-retries.ts";
import * as runLists from "./migrations/0030-run-lists.ts";
import * as workflowSearch from "./migrations/0031-workflow-search.ts";
import * as clockOffsets from "./migrations/0032-clock-offsets.ts";
import * as triggers from "./migrations/0033-triggers.ts";
import * as runningJobs from "./migrations/0039-running-jobs.ts";
import * as subscriptionConfirmations from "./migrations/0041-subscription-confirmations.ts";
import * as backfillsAndStateHistory from "./migrations/0037-backfills-and-state-history.ts";
import * as approvalRules from "./migrations/0035-approval-rules.ts";
import * as subscriptions from "./migrations/0034-subscriptions.ts";
import * as approvalReach from "./migrations/0036-approval-reach.ts";
import * as postgresWorkflowSearch from "./migrations/0038-postgres-workflow-search.ts";
import * as foldedTexts from "./migrations/0042-folded-texts.ts";
import * as backtests from "./migrations/0043-backtests.ts";
import * as listedRuns from "./migrations/0044-listed-runs.ts";
import * as backtestRules from "./migrations/0045-backtest-rules.ts";
import * as bulkActions from "./migrations/0046-bulk-actions.ts";
import * as interruptions from "./migrations/0047-interruptions.ts";
import * as definitionTexts from "./migrations/0048-definition-texts.ts";
import * as mcpSubscriptions from "./migrations/0049-mcp-subscriptions.ts";
import * as runCauses from "./migrations/0040-run-causes.ts";
import * as runs from "./migrations/0002-runs.ts";
import { tableNames } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import { enableDefaultLimits } from "./settings.ts";
import packageJson from "../../package.json" with { type: "json" };

export interface Migration {
  id: number;
  name: string;
  /** The newest migration of the oldest release that still works with this schema: expand first, contract a release later. */
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
  { id: 8, name: "workflow-states", requires: 1, up: workflowStates.up },
  { id: 9, name: "run-facts", requires: 1, up: runFacts.up },
  { id: 10, name: "rates", requires: 1, up: rates.up },
  { id: 11, name: "events", requires: 1, up: events.up },
  { id: 12, name: "workflow-contracts", requires: 1, up: workflowContracts.up },
  { id: 13, name: "run-pins", requires: 1, up: runPins.up },
  { id: 14, name: "unfinished-by-owner", requires: 1, up: unfinishedByOwner.up },
  { id: 15, name: "mcp-holders", requires: 1, up: mcpHolders.up },
  { id: 16, name: "stored-values", requires: 1, up: storedValues.up },
  { id: 17, name: "approval-plans", requires: 1, up: approvalPlans.up },
  { id: 18, name: "job-owners", requires: 1, up: jobOwners.up },
  { id: 19, name: "owner-turns", requires: 1, up: ownerTurns.up },
  { id: 20, name: "workflow-publications", requires: 1, up: workflowPublications.up },
  { id: 21, name: "unfinished-by-subject", requires: 1, up: unfinishedBySubject.up },
  { id: 22, name: "pruned-versions", requires: 1, up: prunedVersions.up },
  { id: 23, name: "exposure-consents", requires: 1, up: exposureConsents.up },
  { id: 24, name: "state-owners", requires: 1, up: stateOwners.up },
  { id: 25, name: "projects", requires: 1, up: projects.up },
  { id: 26, name: "trials", requires: 1, up: trials.up },
  { id: 27, name: "single-steps", requires: 1, up: singleSteps.up },
  { id: 28, name: "oauth", requires: 1, up: oauth.up },
  { id: 29, name: "retries", requires: 1, up: retries.up },
  { id: 30, name: "run-lists", requires: 1, up: runLists.up },
  { id: 31, name: "workflow-search", requires: 1, up: workflowSearch.up },
  { id: 32, name: "clock-offsets", requires: 1, up: clockOffsets.up },
  { id: 33, name: "triggers", requires: 1, up: triggers.up },
  { id: 34, name: "subscriptions", requires: 1, up: subscriptions.up },
  { id: 35, name: "approval-rules", requires: 1, up: approvalRules.up },
  { id: 36, name: "approval-reach", requires: 1, up: approvalReach.up },
  { id: 37, name: "backfills-and-state-history", requires: 1, up: backfillsAndStateHistory.up },
  { id: 38, name: "postgres-workflow-search", requires: 1, up: postgresWorkflowSearch.up },
  { id: 39, name: "running-jobs", requires: 1, up: runningJobs.up },
  { id: 40, name: "run-causes", requires: 1, up: runCauses.up },
  { id: 41, name: "subscription-confirmations", requires: 1, up: subscriptionConfirmations.up },
  { id: 42, name: "folded-texts", requires: 1, up: foldedTexts.up },
  { id: 43, name: "backtests", requires: 1, up: backtests.up },
  { id: 44, name: "listed-runs", requires: 1, up: listedRuns.up },
  { id: 45, name: "backtest-rules", requires: 1, up: backtestRules.up },
  { id: 46, name: "bulk-actions", requires: 1, up: bulkActions.up },
  { id: 47, name: "interruptions", requires: 1, up: interruptions.up },
  { id: 48, name: "definition-texts", requires: 1, up: definitionTexts.up },
  { id: 49, name: "mcp-subscriptions", requires: 1, up: mcpSubscriptions.up },
];
const RELEASE = packageJson.version;
/** The setting with the version of the release that last changed the tables, for the message of older releases. */
const RELEASE_SETTING = "release";
/** Maximum wait for the backup and the migrations of another process, in milliseconds. */
const MIGRATION_WAIT_MS = 15 * MINUTE;

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)!.id;

export interface MigrationStatus {
  /** The newest applied migration; 0 for none. */
  applied: number;
  /** The newest migration of this release. */
  newest: number;
  /** The release that last changed the tables; undefined when it did not record its version. */
  release: string | undefined;
}

/**
 * Reads the migration status through a connection or a transaction.
 * @param options.label names the database in the message
 * @throws AppError storage_unavailable when this release can't use the schema of a newer one
 */
export async function getMigrationStatus(
  db: Kysely<Schema>,
  { label = "The state directory", migrations = MIGRATIONS }: StatusOptions = {},
): Promise<MigrationStatus> {
  const newest = newestOf(migrations);
  const tables = await tableNames(db);
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
      `${label} was written by a newer release of Millrace${release === undefined ? "" : `, ${release}`} ` +
        `(migration ${applied}; this is ${RELEASE}, which knows ${newest}). Nothing was changed. Start ` +
        `${release ?? "that release"} or a newer one, or restore a backup from before the upgrade.`,
    );
  }
  return { applied, newest, release };
}

interface StatusOptions {
  label?: string;
  migrations?: readonly Migration[];
}

/** A copy of the database from before a migration. */
export interface MigrationBackup {
  file: string;
  /** Keeps this copy and deletes older ones, after the migrations succeeded. */
  pruneOlder(): void;
  /** Deletes this copy, after the migrations failed and left the database unchanged. */
  discard(): void;
}

/** The migration of an existing database. */
export interface Upgrade {
  /** The newest migration before. */
  from: number;
  /** The newest migration after. */
  to: number;
  /** The file with a copy of the database from before. */
  copy: string;
}

interface MigrationContext {
  read: Kysely<Schema>;
  /** Runs its argument in one write transaction. */
  begin<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /**
   * Copies the database while the transaction holds the write lock.
   * @throws AppError storage_unavailable when the disk has too little space
   */
  copy(newest: number): MigrationBackup;
  clock: Clock;
}

/**
 * Applies the pending migrations, after copying an existing database.
 * @returns undefined when the database was new or up to date, or another process migrated it
 * @throws AppError storage_unavailable when this release can't use the schema of a newer one, or when a migration fails,
 *   which leaves the database unchanged; busy
 */
export async function migrate(
  context: MigrationContext,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Upgrade | undefined> {
  const deadline = performance.now() + MIGRATION_WAIT_MS;
  for (;;) {
    const { applied, newest } = await getMigrationStatus(context.read, { migrations });
    if (applied >= newest) return undefined;
    try {
      return await migrateUnderLock(context, migrations);
    } catch (error) {
      // Another process copies and migrates, which takes long for a large database.
      const migratedByOther = error instanceof AppError && error.code === "busy" && applied > 0;
      if (!migratedByOther || performance.now() > deadline) throw error;
    }
  }
}

async function migrateUnderLock(
  { begin, copy, clock }: MigrationContext,
  migrations: readonly Migration[],
): Promise<Upgrade | undefined> {
  let backup: MigrationBackup | undefined;
  let upgrade: Upgrade | undefined;
  try {
    await begin(async (trx) => {
      await createMigrationsTable(trx);
      // Another process may have migrated the database before this one got the lock.
      const { applied, newest } = await getMigrationStatus(trx, { migrations });
      if (applied >= newest) return;
      if (applied > 0) {
        backup = copy(newest);
        upgrade = { from: applied, to: newest, copy: backup.file };
      }
      await applyMigrations(trx, migrations, applied, clock);
      if (applied === 0) await enableDefaultLimits(trx);
    });
  } catch (error) {
    backup?.discard();
    throw error;
  }
  backup?.pruneOlder();
  return upgrade;
}

export async function createMigrationsTable(trx: Transaction<Schema>): Promise<void> {
  await trx.schema
    .createTable("migrations")
    .ifNotExists()
    .addColumn("id", "integer", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("requires", "integer", (c) => c.notNull())
    .addColumn("applied_at", "text", (c) => c.notNull())
    .execute();
}

/** Applies the migrations after `applied`, and records the release. */
export async function applyMigrations(
  trx: Transaction<Schema>,
  migrations: readonly Migration[],
  applied: number,
  clock: Clock,
): Promise<void> {
  for (const migration of migrations) if (migration.id > applied) await apply(trx, migration, applied, clock);
  await trx
    .insertInto("settings")
    .values({ name: RELEASE_SETTING, value: RELEASE })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: RELEASE }))
    .execute();
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
      `Migration ${id} (${name}) failed: ${message.replace(/\.?$/, ".")} The database is unchanged, at migration ${before}: the previous ` +
        "release still works with it.",
      { cause: error },
    );
  }
}
