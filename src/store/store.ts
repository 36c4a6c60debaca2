/** The state in a database, as the rest of the program uses it: in a SQLite file, or on a PostgreSQL server. */
import type { Kysely, Transaction } from "kysely";
import type { SharedClock } from "../core/agreed-clock.ts";
import type { ChangeFeed, WorkKind } from "../core/change-feed.ts";
import type { Schema } from "./schema.ts";

/**
 * What a transaction relies on: on the row locks that the ports state, or on having the database to itself. SQLite runs one
 * write transaction at a time in any case.
 */
export type Locking = "rows" | "database";

/** How much a transaction leaves for executors to do: jobs that are ready and unclaimed, and received deliveries. */
export type NewWork = Record<WorkKind, number>;

export const noWork = (): NewWork => ({ jobs: 0, deliveries: 0 });

export interface Store extends SharedClock {
  read: Kysely<Schema>;
  /**
   * Runs `work` in a write transaction; an error rolls it back. It may run more than once, see `EngineTransaction`.
   * @param locking left out, `database`
   * @throws AppError busy, storage_unavailable
   */
  transaction<T>(
    work: (trx: Transaction<Schema>, left: NewWork) => Promise<T>,
    locking?: Locking,
  ): Promise<T>;
  /** How many write transactions of this process can run at the same time. */
  maxTransactions: number;
  /** The commits of all processes. */
  changes: ChangeFeed;
  /** How long an executor may miss its heartbeats before its jobs are reclaimed, in milliseconds. */
  leaseMs: number;
  /** The directory whose file system the database fills; undefined for one that a server stores. */
  diskPath: string | undefined;
  /** The size of the database, in bytes. */
  readSize(): Promise<number>;
  /** Resolves when locks may be lost. Nothing is read or written from then on; the process must restart. */
  storageLost: Promise<void>;
  /** Why the database can't be used, or undefined. It takes no lock. */
  checkHealth(): Promise<string | undefined>;
  close(): Promise<void>;
}
