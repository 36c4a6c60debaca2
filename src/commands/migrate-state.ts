/** `millrace migrate-state`: carries the state from the state directory to PostgreSQL. */
import { readEnvironment } from "../config/environment.ts";
import { systemClock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { describeAddress, type StateDatabase } from "../core/postgres-address.ts";
import { openStore } from "../store/database.ts";
import { openExclusively, type ExclusiveSource, reopen } from "../store/exclusive-source.ts";
import { compareState, copyState, type TableReport, usedTable } from "../store/postgres/copy-state.ts";
import { openPostgresStore, type PostgresStore } from "../store/postgres/store.ts";
import { openStateDirectory } from "../store/state-directory.ts";
import { alignColumns } from "./columns.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { plural } from "./plural.ts";
import { showProgress } from "./progress.ts";
import { requireDatabaseFile } from "./require-state.ts";

export interface MigrateStateOptions {
  /** The URL of the target; default: MILLRACE_DATABASE_URL. */
  to?: string;
  /** Uses the state in the directory again, which was moved before. */
  reopen?: boolean;
  json?: boolean;
}

/** Copies the state of the state directory into an empty PostgreSQL database, and closes the directory to further starts. */
export async function migrateState(io: Io, { to, reopen: again, json }: MigrateStateOptions): Promise<void> {
  const env = to === undefined ? io.env : { ...io.env, MILLRACE_DATABASE_URL: to };
  const { stateDir, database } = readEnvironment(env);
  requireDatabaseFile(stateDir, "migrate");
  const directory = openStateDirectory(stateDir);
  if (again) {
    const wasMoved = reopen(directory);
    return io.out(wasMoved ? `${stateDir} can be used again.\n` : `${stateDir} was not moved.\n`);
  }
  if (database === undefined)
    throw new CommandError(
      "Name the PostgreSQL database: --to postgres://…, or set MILLRACE_DATABASE_URL.",
      EXIT.usage,
    );
  // Migrates the source to this release first, as a start does.
  await (await openStore(directory, systemClock)).close();
  const source = openExclusively(directory);
  try {
    const target = await openPostgresStore({ database, clock: systemClock });
    try {
      const tables = await copy(io, source, target, database);
      source.markMoved(describeAddress(database.address));
      report(io, tables, { database, stateDir, json });
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

async function copy(
  io: Io,
  source: ExclusiveSource,
  target: PostgresStore,
  { address }: StateDatabase,
): Promise<TableReport[]> {
  return target.transaction(async (trx) => {
    const used = await usedTable(trx);
    if (used === undefined) return copyWithProgress(io, trx, source);
    // An earlier run may have been interrupted between its commit and the mark.
    const copied = await compareState(trx, source);
    if (copied !== undefined) return copied;
    throw new AppError(
      "storage_unavailable",
      `The database ${describeAddress(address)} already holds a state (the table ${used} has rows), which is never replaced. Nothing was ` +
        "changed. Create an empty database and name it.",
    );
  });
}

async function copyWithProgress(
  io: Io,
  trx: Parameters<typeof copyState>[0],
  source: ExclusiveSource,
): Promise<TableReport[]> {
  const progress = showProgress(io, "Copying", source.tables.length);
  let copied = 0;
  try {
    return await copyState(trx, {
      source,
      onTable: (table) => progress.update(copied++, table),
    });
  } finally {
    progress.end();
  }
}

function report(
  io: Io,
  tables: readonly TableReport[],
  { database, stateDir, json }: { database: StateDatabase; stateDir: string; json: boolean | undefined },
): void {
  const to = describeAddress(database.address);
  if (json) return io.out(`${JSON.stringify({ from: stateDir, to, verified: true, tables }, null, 2)}\n`);
  const filled = tables.filter(({ rows }) => rows > 0);
  const lines = filled.map(({ table, rows, checksum }) => [table, String(rows), checksum]);
  const line = alignColumns(lines);
  for (const cells of lines) io.out(`${line(cells)}\n`);
  const total = filled.reduce((sum, { rows }) => sum + rows, 0);
  io.out(
    `${plural(total, "row")} of ${plural(filled.length, "table")} copied to ${to}, read back, and found equal.\n` +
      `Start all processes with MILLRACE_DATABASE_URL. The state in ${stateDir} is kept, but no process opens it any more.\n`,
  );
}
