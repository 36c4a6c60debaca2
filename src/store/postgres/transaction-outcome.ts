/** Looks up how a transaction has ended whose commit was not answered, because the connection was lost. */
import { setTimeout as delay } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { TransactionOutcome } from "./driver.ts";

/**
 * How long the end is waited for, in milliseconds: the server ends a transaction whose connection is gone when it notices
 * that, or after 10 s (`idle_in_transaction_session_timeout`).
 */
export const OUTCOME_MS = 15_000;
const PAUSE_MS = { first: 20, longest: 500 } as const;

/**
 * @param read connections that only read
 * @param maxMs how long it looks, in milliseconds
 * @returns a function that looks up a transaction by the number that the server gave it
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT `pg_xact_status`
 */
export const transactionOutcome =
  (read: Kysely<Schema>, maxMs: number) =>
  async (transactionId: string): Promise<TransactionOutcome> => {
    const deadline = performance.now() + maxMs;
    for (let pause: number = PAUSE_MS.first; performance.now() < deadline;) {
      const status = await readStatus(read, transactionId);
      if (status === "committed" || status === "aborted") return status;
      await delay(pause);
      pause = Math.min(pause * 2, PAUSE_MS.longest);
    }
    return "unknown";
  };

/** @returns undefined while the database can't be asked */
async function readStatus(read: Kysely<Schema>, transactionId: string): Promise<string | null | undefined> {
  try {
    const { rows } = await sql<{ status: string | null }>`
      select pg_xact_status(${transactionId}::xid8) as status`.execute(read);
    return rows[0]!.status;
  } catch (error) {
    // A standby that took over has never heard of it.
    const isInFuture = (error as { code?: unknown }).code === "22023";
    return isInFuture ? "aborted" : undefined;
  }
}
