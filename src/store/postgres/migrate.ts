/** Creates the tables in PostgreSQL, and migrates them as those of SQLite from then on. */
import { type Kysely, sql, type Transaction } from "kysely";
import { type Clock, iso } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import {
  applyMigrations,
  createMigrationsTable,
  getMigrationStatus,
  type Migration,
  MIGRATIONS,
} from "../migrate.ts";
import type { Schema } from "../schema.ts";
import { NO_STATEMENT_LIMIT } from "./driver.ts";
import { enableDefaultLimits } from "../settings.ts";
import { BASELINE, BASELINE_MIGRATION } from "./baseline.ts";

interface MigrationContext {
  read: Kysely<Schema>;
  /** Runs its argument in a transaction that has the database to itself. */
  begin<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  clock: Clock;
}

/**
 * Creates the tables or applies the pending migrations. Only one of several processes does it; the others wait.
 * @returns the newest migration before, or undefined when nothing was to be migrated, or the database was empty
 * @throws AppError storage_unavailable for the database of another program, or the schema of a newer release; busy
 */
export async function migratePostgres(
  { read, begin, clock }: MigrationContext,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<{ from: number; to: number } | undefined> {
  const label = "The database";
  const before = await getMigrationStatus(read, { label, migrations });
  if (before.applied >= before.newest) return undefined;
  return begin(async (trx) => {
    await sql.raw(NO_STATEMENT_LIMIT).execute(trx);
    await createMigrationsTable(trx);
    // Another process may have migrated the database before this one got the lock.
    const { applied, newest } = await getMigrationStatus(trx, { label, migrations });
    if (applied >= newest) return undefined;
    if (applied === 0) await createBaseline(trx, migrations, clock);
    await applyMigrations(trx, migrations, Math.max(applied, BASELINE_MIGRATION), clock);
    if (applied === 0) await enableDefaultLimits(trx);
    await compareBytewise(trx);
    return applied === 0 ? undefined : { from: applied, to: newest };
  });
}

async function createBaseline(
  trx: Transaction<Schema>,
  migrations: readonly Migration[],
  clock: Clock,
): Promise<void> {
  const { rows } = await sql<{ tables: number }>`
    select count(*) as tables from pg_tables where schemaname = current_schema()`.execute(trx);
  if (rows[0]!.tables > 1)
    throw new AppError(
      "storage_unavailable",
      "The database has tables of another program. Nothing was changed. Create an empty database for Millrace.",
    );
  await sql.raw(BASELINE).execute(trx);
  // Before the later migrations, whose indexes would be built again.
  await compareBytewise(trx);
  const included = migrations.filter(({ id }) => id <= BASELINE_MIGRATION);
  await trx
    .insertInto("migrations")
    .values(
      // No release before this one can use the database.
      included.map(({ id, name }) => ({
        id,
        name,
        requires: BASELINE_MIGRATION,
        applied_at: iso(clock.now()),
      })),
    )
    .execute();
}

/** Gives text columns the order of SQLite, that of their bytes, whichever language the database was created for. */
async function compareBytewise(trx: Transaction<Schema>): Promise<void> {
  const { rows } = await sql<{ table: string; column: string }>`
    select c.relname as "table", a.attname as "column" from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    where a.attnum > 0 and not a.attisdropped and a.atttypid = 'text'::regtype
      and a.attcollation <> '"C"'::regcollation`.execute(trx);
  for (const { table, column } of rows)
    await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type text collate "C"`.execute(
      trx,
    );
}
