/** Opens the database: one connection to read and one to write, both on the same SQLite file. */
import { stat } from "node:fs/promises";
import Database from "better-sqlite3";
import { Kysely, type Transaction } from "kysely";
import { type Clock, SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import { sqliteChangeFeed } from "./change-feed.ts";
import { describeLockHolder } from "./lock-holder.ts";
import { assertNotMoved } from "./moved-state.ts";
import { createMigrationBackup } from "./migration-backups.ts";
import { migrate, type Migration, MIGRATIONS, getMigrationStatus, type Upgrade } from "./migrate.ts";
import { fileClock } from "./file-clock.ts";
import type { Schema } from "./schema.ts";
import { markProcess } from "./older-processes.ts";
import { sqliteDialect, retryWhileBusy } from "./sqlite-driver.ts";
import { isIoError, isUnreachable, translateSqliteError } from "./sqlite-errors.ts";
import { journalModeFor, trackFileIdentity, type StateDirectory } from "./state-directory.ts";
import { type NewWork, noWork, type Store } from "./store.ts";

// The driver itself must not wait: it would block the whole process. `retryWhileBusy` waits instead.
const BUSY_TIMEOUT_MS = 0;
/**
 * Maximum age of the last check of the file's identity before a read, in milliseconds. The check costs as much as a read,
 * and reads of a deleted file do no harm for this long. Before writes the file is always checked.
 */
const READ_CHECK_INTERVAL_MS = 50;
/** What the write-ahead log shrinks to after it had to grow, because a backup read the database for long; in bytes. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;
/** "MILL" in the header of the file identifies the program. */
export const APPLICATION_ID = 0x4d494c4c;

/** How long executors may miss their heartbeats, in milliseconds. On a network file system one may have to wait for its lock. */
const LOCAL_LEASE_MS = 10 * SECOND;
const NETWORK_LEASE_MS = 60 * SECOND;

export interface SqliteStore extends Store {
  directory: StateDirectory;
  journalMode: string;
  /** The migration at opening; undefined when there was none, or the database is new. */
  upgrade: Upgrade | undefined;
  /** A number that changes with each commit of another process. It is cheap and reads no table. */
  dataVersion(): number;
}

/**
 * Opens the database with the journal mode that its file system supports, and migrates it.
 * @param migrations tests pass others
 * @throws AppError storage_unavailable, busy
 */
export async function openStore(
  directory: StateDirectory,
  clock: Clock,
  meter: Meter = noMeter,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SqliteStore> {
  try {
    return await open(directory, { clock, meter, migrations });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Names the directory: the program has just started, perhaps with a wrong one.
    const message = `The state directory ${directory.path} can't be used. ${error.message}`;
    throw new AppError(error.code, message, { ...error.details, cause: error.cause });
  }
}

interface OpenOptions {
  clock: Clock;
  meter: Meter;
  migrations: readonly Migration[];
}

async function open(directory: StateDirectory, options: OpenOptions): Promise<SqliteStore> {
  const journal = journalModeFor(directory);
  const unmark = markProcess(directory.path);
  const writer = await retryWhileBusy(() => connect(directory.databaseFile)).catch((error: unknown) => {
    unmark();
    throw error;
  });
  let reader: Database.Database | undefined;
  try {
    await claimDatabase(writer);
    // Checks the schema first, because even the journal mode changes the file.
    await getMigrationStatus(uncheckedConnection(writer), { migrations: options.migrations });
    await retryWhileBusy(() => assertNotMoved(writer, directory));
    const journalMode = await retryWhileBusy(() =>
      String(writer.pragma(`journal_mode = ${journal}`, { simple: true })),
    );
    if (journalMode !== journal) {
      throw new AppError(
        "storage_unavailable",
        `The database uses journal mode ${journalMode} instead of ${journal}. Check the file system of ${directory.path}.`,
      );
    }
    writer.pragma("synchronous = FULL");
    writer.pragma("foreign_keys = ON");
    writer.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    reader = await retryWhileBusy(() => connect(directory.databaseFile));
    reader.pragma("query_only = ON");
    return await assemble(directory, journalMode, reader, writer, { ...options, unmark });
  } catch (error) {
    reader?.close();
    writer.close();
    unmark();
    throw error;
  }
}

/** @param mustExist whether a missing file is an error; else it is created */
export function connect(file: string, mustExist = false): Database.Database {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: mustExist });
  try {
    // Opening reads nothing; this query fails for a damaged or foreign file.
    db.pragma("schema_version");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Uses a connection without checking the file's identity: before the store is open, or of a file that is no state. */
export const uncheckedConnection = (db: Database.Database): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: sqliteDialect(db, { exclusive: false, assertInPlace: () => {}, onFailure: () => {} }),
  });

/** Marks an empty database with the application id, and rejects another program's before it is changed. */
async function claimDatabase(db: Database.Database): Promise<void> {
  const empty = await retryWhileBusy(() =>
    db.prepare("select count(*) = 0 from sqlite_schema").pluck().get(),
  );
  // The id is read after the tables: the process that creates the tables sets the id before.
  const id = await retryWhileBusy(() => db.pragma("application_id", { simple: true }));
  if (id === APPLICATION_ID) return;
  if (id !== 0 || !empty) {
    throw new AppError(
      "storage_unavailable",
      "Its millrace.db is the database of another program. Nothing was changed. Move it to another place, or set " +
        "MILLRACE_STATE_DIR to another directory.",
    );
  }
  await retryWhileBusy(() => db.pragma(`application_id = ${APPLICATION_ID}`));
}

async function assemble(
  directory: StateDirectory,
  journalMode: string,
  reader: Database.Database,
  writer: Database.Database,
  { clock, meter, migrations, unmark }: OpenOptions & { unmark: () => void },
): Promise<SqliteStore> {
  let unreachableReason: string | undefined;
  let storageLost = false;
  const lost = Promise.withResolvers<void>();
  const onFailure = (error: unknown): void => {
    if (isUnreachable(error)) unreachableReason = (translateSqliteError(error) as Error).message;
    if (directory.local || !isIoError(error)) return;
    // Another process may hold the lock that this process believes to hold.
    storageLost = true;
    lost.resolve();
  };
  const identity = trackFileIdentity(directory.databaseFile);
  let checkedAt = -Infinity;
  const assertInPlace = (maxAge: number) => (): void => {
    const now = performance.now();
    if (!storageLost && now - checkedAt < maxAge) return;
    const issue = storageLost
      ? "The network file system of the state directory failed. Restart this process."
      : identity.check();
    checkedAt = issue === undefined ? now : -Infinity;
    if (issue !== undefined)
      throw new AppError("storage_unavailable", issue, { headers: { "Retry-After": "30" } });
  };
  const shared = { onFailure, describeLockHolder: () => describeLockHolder(directory.databaseFile), meter };
  const read = new Kysely<Schema>({
    dialect: sqliteDialect(reader, {
      exclusive: false,
      readOnly: true,
      assertInPlace: assertInPlace(READ_CHECK_INTERVAL_MS),
      ...shared,
    }),
  });
  const write = new Kysely<Schema>({
    dialect: sqliteDialect(writer, { exclusive: true, assertInPlace: assertInPlace(0), ...shared }),
  });
  const dataVersion = reader.prepare("pragma data_version").pluck();
  let version = 0;
  // Other processes look at the data version, which says nothing about what is left to do.
  const transaction = <T>(work: (trx: Transaction<Schema>, left: NewWork) => Promise<T>): Promise<T> =>
    write.transaction().execute((trx) => work(trx, noWork()));

  const clockOfFiles = fileClock(directory);
  const copy = (newest: number) => createMigrationBackup(directory, newest, clock);
  const upgrade = await migrate({ read, begin: transaction, copy, clock }, migrations);
  const readDataVersion = (): number => {
    try {
      version = dataVersion.get() as number;
    } catch (error) {
      // Timers call this and can't report the error; the next query reports it.
      onFailure(error);
    }
    return version;
  };
  const changes = sqliteChangeFeed(directory, readDataVersion);
  return {
    directory,
    journalMode,
    upgrade,
    read,
    transaction,
    maxTransactions: 1,
    changes,
    leaseMs: directory.local ? LOCAL_LEASE_MS : NETWORK_LEASE_MS,
    diskPath: directory.path,
    readSize: async () => (await stat(directory.databaseFile)).size,
    readTime: clockOfFiles.read,
    hasServerClock: false,
    storageLost: lost.promise,
    dataVersion: readDataVersion,
    async checkHealth() {
      const displaced = await identity.checkAsync();
      if (displaced !== undefined) return displaced;
      if (unreachableReason !== undefined) {
        const probe = read.selectFrom("counters").select("value").execute();
        await probe.then(() => (unreachableReason = undefined)).catch(onFailure);
      }
      return unreachableReason;
    },
    async close() {
      changes.close();
      await clockOfFiles.close();
      await read.destroy();
      await write.destroy();
      // Kysely closes only what was used.
      reader.close();
      writer.close();
      unmark();
    },
  };
}
