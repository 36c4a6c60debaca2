/** The open state: a connection to read, one to write, both on the same SQLite file. */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import Database from "better-sqlite3";
import { Kysely, type Transaction } from "kysely";
import { type Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { migrate } from "./migrate.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect, whileBusy } from "./sqlite-driver.ts";
import { isUnreachable } from "./sqlite-errors.ts";
import { openStateDirectory, type StateDirectory } from "./state-directory.ts";

// The driver waits synchronously: short, so that the process goes on; the long wait is `whileBusy`'s.
const BUSY_TIMEOUT_MS = 20;

export interface Store {
  directory: StateDirectory;
  journalMode: string;
  read: Kysely<Schema>;
  /**
   * Runs `work` in one write transaction, begun IMMEDIATE; what it throws rolls back.
   * @throws AppError busy, storage_unavailable
   */
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** A number that changes whenever another process has committed. Cheap; reads no table. */
  dataVersion(): number;
  /** Why the state can't be reached, or undefined. Takes no lock. */
  fault(): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the state directory, chooses the journal by its file system, and migrates.
 * @throws AppError storage_unavailable, busy
 */
export async function openStore(path: string, clock: Clock): Promise<Store> {
  const directory = openStateDirectory(path);
  const journal = directory.local ? "wal" : "delete";
  const writer = await whileBusy(() => connect(directory.databaseFile));
  let reader: Database.Database | undefined;
  try {
    const journalMode = await whileBusy(() =>
      String(writer.pragma(`journal_mode = ${journal}`, { simple: true })),
    );
    if (journalMode !== journal) {
      throw new AppError(
        "storage_unavailable",
        `The database took journal mode ${journalMode} where ${journal} was wanted. Is another kind of file system under ${path}?`,
      );
    }
    writer.pragma("synchronous = FULL");
    writer.pragma("foreign_keys = ON");
    reader = await whileBusy(() => connect(directory.databaseFile));
    reader.pragma("query_only = ON");
    return await assemble(directory, journalMode, reader, writer, clock);
  } catch (error) {
    reader?.close();
    writer.close();
    throw error;
  }
}

function connect(file: string): Database.Database {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Opening reads nothing: this is where a damaged or foreign file shows.
    db.pragma("schema_version");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function assemble(
  directory: StateDirectory,
  journalMode: string,
  reader: Database.Database,
  writer: Database.Database,
  clock: Clock,
): Promise<Store> {
  let lost: string | undefined;
  const onFailure = (error: unknown): void => {
    if (isUnreachable(error)) lost = (error as Error).message;
  };
  const read = new Kysely<Schema>({ dialect: sqliteDialect(reader, { exclusive: false, onFailure }) });
  const write = new Kysely<Schema>({ dialect: sqliteDialect(writer, { exclusive: true, onFailure }) });
  const dataVersion = reader.prepare("pragma data_version").pluck();
  const inode = statSync(directory.databaseFile).ino;
  const transaction = <T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> =>
    write.transaction().execute(work);

  await migrate(read, transaction, clock);
  return {
    directory,
    journalMode,
    read,
    transaction,
    dataVersion: () => dataVersion.get() as number,
    async fault() {
      // stat, never open: closing any handle of ours on the file would drop SQLite's locks on it.
      const now = await stat(directory.databaseFile).catch(() => undefined);
      if (now === undefined) return "The database file is gone from the state directory.";
      if (now.ino !== inode)
        return "The database file was replaced while it was in use. Restart this process.";
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
