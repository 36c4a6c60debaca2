/** The open state: a connection to read, one to write, both on the same SQLite file. */
import Database from "better-sqlite3";
import { Kysely, type Transaction } from "kysely";
import { type Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import { createMigrationBackup } from "./migration-backups.ts";
import { migrate, type Migration, MIGRATIONS, getMigrationStatus, type Upgrade } from "./migrate.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect, retryWhileBusy } from "./sqlite-driver.ts";
import { isIoError, isUnreachable, translateSqliteError } from "./sqlite-errors.ts";
import { journalModeFor, trackFileIdentity, type StateDirectory } from "./state-directory.ts";

// The driver would wait synchronously, and with it everybody whom this process serves: `whileBusy` waits instead.
const BUSY_TIMEOUT_MS = 0;
/**
 * A look at where the file is costs as much as a read. Nothing may be written into a file that is gone; to read it for
 * so long does no harm.
 */
const READ_UNSEEN_MS = 50;
/** "MILL" in the header of the file says whose it is. */
export const APPLICATION_ID = 0x4d494c4c;

export interface Store {
  directory: StateDirectory;
  journalMode: string;
  /** What opening it has migrated; undefined for nothing, or a new state. */
  upgrade: Upgrade | undefined;
  read: Kysely<Schema>;
  /**
   * Runs `work` in one write transaction, begun IMMEDIATE; what it throws rolls back.
   * @throws AppError busy, storage_unavailable
   */
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** A number that changes whenever another process has committed. Cheap; reads no table. */
  dataVersion(): number;
  /** Resolves when the state was given up: locks may be lost, so nothing is read or written any more. Start anew. */
  storageLost: Promise<void>;
  /** Why the state can't be reached, or undefined. Takes no lock. */
  checkHealth(): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the state, with the journal that its file system can carry, and migrates.
 * @param migrations a test brings others
 * @throws AppError storage_unavailable, busy
 */
export async function openStore(
  directory: StateDirectory,
  clock: Clock,
  meter: Meter = noMeter,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Store> {
  try {
    return await open(directory, { clock, meter, migrations });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Who reads this has just started the program, perhaps on another directory than was meant.
    const message = `The state directory ${directory.path} can't be used. ${error.message}`;
    throw new AppError(error.code, message, { ...error.details, cause: error.cause });
  }
}

interface Opening {
  clock: Clock;
  meter: Meter;
  migrations: readonly Migration[];
}

async function open(directory: StateDirectory, opening: Opening): Promise<Store> {
  const journal = journalModeFor(directory);
  const writer = await retryWhileBusy(() => connect(directory.databaseFile));
  let reader: Database.Database | undefined;
  try {
    await claim(writer);
    // Before anything is changed, and be it the journal.
    await getMigrationStatus(looking(writer), { migrations: opening.migrations });
    const journalMode = await retryWhileBusy(() =>
      String(writer.pragma(`journal_mode = ${journal}`, { simple: true })),
    );
    if (journalMode !== journal) {
      throw new AppError(
        "storage_unavailable",
        `The database took journal mode ${journalMode} where ${journal} was wanted. Is another kind of file system under ${directory.path}?`,
      );
    }
    writer.pragma("synchronous = FULL");
    writer.pragma("foreign_keys = ON");
    reader = await retryWhileBusy(() => connect(directory.databaseFile));
    reader.pragma("query_only = ON");
    return await assemble(directory, journalMode, reader, writer, opening);
  } catch (error) {
    reader?.close();
    writer.close();
    throw error;
  }
}

/** @param mustExist whether a missing file is a failure; else it is made */
export function connect(file: string, mustExist = false): Database.Database {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: mustExist });
  try {
    // Opening reads nothing: this is where a damaged or foreign file shows.
    db.pragma("schema_version");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Queries on a connection that nothing is written through, before it is known whether it can be used. */
const looking = (db: Database.Database): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: sqliteDialect(db, { exclusive: false, assertInPlace: () => {}, onFailure: () => {} }),
  });

/** Marks an empty database as ours, and refuses another program's before anything in it is changed. */
async function claim(db: Database.Database): Promise<void> {
  const empty = await retryWhileBusy(() =>
    db.prepare("select count(*) = 0 from sqlite_schema").pluck().get(),
  );
  // Read second: whoever makes the tables has set the mark before.
  const id = await retryWhileBusy(() => db.pragma("application_id", { simple: true }));
  if (id === APPLICATION_ID) return;
  if (id !== 0 || !empty) {
    throw new AppError(
      "storage_unavailable",
      "Its millrace.db is the database of another program. Nothing was changed. Move it away, or point " +
        "MILLRACE_STATE_DIR at another directory.",
    );
  }
  await retryWhileBusy(() => db.pragma(`application_id = ${APPLICATION_ID}`));
}

async function assemble(
  directory: StateDirectory,
  journalMode: string,
  reader: Database.Database,
  writer: Database.Database,
  { clock, meter, migrations }: Opening,
): Promise<Store> {
  let lost: string | undefined;
  let abandoned = false;
  const gone = Promise.withResolvers<void>();
  const onFailure = (error: unknown): void => {
    if (isUnreachable(error)) lost = (translateSqliteError(error) as Error).message;
    if (directory.local || !isIoError(error)) return;
    // Another process may hold the lock that this one still believes to have.
    abandoned = true;
    gone.resolve();
  };
  const place = trackFileIdentity(directory.databaseFile);
  let looked = -Infinity;
  const inPlace = (longest: number) => (): void => {
    const now = performance.now();
    if (!abandoned && now - looked < longest) return;
    const issue = abandoned ? "The network file system that holds the state failed." : place.check();
    looked = issue === undefined ? now : -Infinity;
    if (issue !== undefined)
      throw new AppError("storage_unavailable", issue, { headers: { "Retry-After": "30" } });
  };
  const read = new Kysely<Schema>({
    dialect: sqliteDialect(reader, {
      exclusive: false,
      assertInPlace: inPlace(READ_UNSEEN_MS),
      onFailure,
      meter,
    }),
  });
  const write = new Kysely<Schema>({
    dialect: sqliteDialect(writer, { exclusive: true, assertInPlace: inPlace(0), onFailure, meter }),
  });
  const dataVersion = reader.prepare("pragma data_version").pluck();
  let version = 0;
  const transaction = <T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> =>
    write.transaction().execute(work);

  const copy = (newest: number) => createMigrationBackup(directory, newest, clock);
  const upgrade = await migrate({ read, begin: transaction, copy, clock }, migrations);
  return {
    directory,
    journalMode,
    upgrade,
    read,
    transaction,
    storageLost: gone.promise,
    dataVersion() {
      try {
        version = dataVersion.get() as number;
      } catch (error) {
        // Called by timers, which nobody can tell: the next look tells as much.
        onFailure(error);
      }
      return version;
    },
    async checkHealth() {
      const displaced = await place.issueSoon();
      if (displaced !== undefined) return displaced;
      if (lost !== undefined) {
        const probe = read.selectFrom("counters").select("value").execute();
        await probe.then(() => (lost = undefined)).catch(onFailure);
      }
      return lost;
    },
    async close() {
      await read.destroy();
      await write.destroy();
    },
  };
}
