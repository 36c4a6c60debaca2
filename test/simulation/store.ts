/** The store of a simulated process: the real one, whose answers come late, get lost, or do not come because the process has died. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type CompiledQuery,
  Kysely,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Transaction,
} from "kysely";
import type { ChangeFeed } from "../../src/core/change-feed.ts";
import { AppError } from "../../src/core/errors.ts";
import { openStore, type SqliteStore } from "../../src/store/database.ts";
import type { Schema } from "../../src/store/schema.ts";
import { ConcurrentAdapter } from "../../src/store/sqlite-driver.ts";
import type { NewWork } from "../../src/store/store.ts";
import type { OpenStore } from "../../src/app/instance.ts";

/** What happens to a transaction. */
type TransactionFate =
  | "commits"
  /** It is repeated, as after a deadlock: its first run is rolled back. */
  | "runs twice"
  /** It is rolled back: the disk is full, or another process holds the lock for too long. */
  | "fails"
  /** It commits, and the answer is lost with the connection. */
  | "loses its answer";

/** What happens between a process and its database. */
export interface Disturbances {
  /** Awaited before and after each use of the database: time passes, and the process may die. */
  transfer(what: "read" | "begin" | "commit"): Promise<void>;
  /** Resolves at once; never, if the process has died. */
  stopIfDead(): Promise<void> | undefined;
  /** Decides what becomes of a transaction. */
  fate(): TransactionFate;
  /** Called after each commit. */
  committed(): void;
  /** Called where a transaction waits for what is no part of it, while others wait for its lock. */
  onForeignWait(stack: string): void;
  changes: ChangeFeed;
  /** The right time, in milliseconds since 1970. */
  wallTime(): number;
}

const ROLLED_BACK = new Error("rolled back, to run again");

/** @param opened receives the real store, whose files must be closed when the process dies */
export const simulatedStore =
  (disturbances: Disturbances, opened: (store: SqliteStore) => void): OpenStore =>
  async (directory, clock, meter) => {
    const inner = await openStore(directory, clock, meter);
    // Nobody polls: the simulation says when a process learns of a commit.
    inner.changes.close();
    opened(inner);
    return {
      ...inner,
      read: delayedReads(inner.read, disturbances),
      changes: disturbances.changes,
      readTime: async () => {
        await disturbances.transfer("read");
        return { at: Math.floor(disturbances.wallTime()), resolutionMs: 1 };
      },
      transaction: (work, locking) => transact(inner, disturbances, work, locking),
    };
  };

/** Whether the running code belongs to a transaction. */
const inTransaction = new AsyncLocalStorage<boolean>();

async function transact<T>(
  inner: SqliteStore,
  { transfer, fate, committed }: Disturbances,
  given: (trx: Transaction<Schema>, left: NewWork) => Promise<T>,
  locking: Parameters<SqliteStore["transaction"]>[1],
): Promise<T> {
  const work: typeof given = (trx, left) => inTransaction.run(true, () => given(trx, left));
  await transfer("begin");
  const becomes = fate();
  const rollBack = (error: Error): Promise<T> =>
    inner.transaction(async (trx, left) => {
      await work(trx, left);
      throw error;
    }, locking);
  if (becomes === "fails") return rollBack(new AppError("storage_unavailable", "The disk is full."));
  if (becomes === "runs twice")
    await rollBack(ROLLED_BACK).catch((error: unknown) => {
      if (error !== ROLLED_BACK) throw error;
    });
  const result = await inner.transaction(work, locking);
  committed();
  await transfer("commit");
  if (becomes === "loses its answer")
    throw new AppError("outcome_unknown", "The connection broke during the commit.");
  return result;
}

const nothing = async (): Promise<void> => {};

/** The same database, whose answers take time: what was read may have changed when it arrives. */
function delayedReads(
  inner: Kysely<Schema>,
  { transfer, stopIfDead, onForeignWait }: Disturbances,
): Kysely<Schema> {
  const execute = async <R>(query: CompiledQuery<R>): Promise<QueryResult<R>> => {
    if (inTransaction.getStore() === true) onForeignWait(new Error("foreign").stack!);
    await stopIfDead();
    const result = await inner.executeQuery(query);
    await transfer("read");
    return result;
  };
  const adapter = inner.getExecutor().adapter as ConcurrentAdapter;
  const connection = {
    executeQuery: execute as <R>(query: CompiledQuery) => Promise<QueryResult<R>>,
    streamQuery(): never {
      throw new Error("not used");
    },
  };
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new ConcurrentAdapter(execute, adapter.dataVersion),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
    },
  });
}
