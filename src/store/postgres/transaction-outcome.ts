/** Looks up how a transaction has ended whose commit was not answered, because the connection was lost. */
import { setTimeout as delay } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { TransactionOutcome } from "./driver.ts";
import { INCARNATION } from "./incarnation.ts";

/**
 * How long the end is waited for, in milliseconds: the server ends a transaction whose connection is gone when it notices
 * that, or after 10 s (`idle_in_transaction_session_timeout`).
 */
export const OUTCOME_MS = 15_000;
const PAUSE_MS = { first: 20, longest: 500 } as const;

/**
 * @param read connections that only read
 * @param maxMs how long it looks, in milliseconds
 * @returns a function that looks up a transaction by the number that the server gave it, and the life of the server in which it began
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT `pg_xact_status`
 */
export const transactionOutcome =
  (read: Kysely<Schema>, maxMs: number) =>
  async (transactionId: string, incarnation: string | undefined): Promise<TransactionOutcome> => {
    const deadline = performance.now() + maxMs;
    for (let pause: number = PAUSE_MS.first; performance.now() < deadline;) {
      const found = await Promise.race([
        readStatus(read, transactionId),
        delay(deadline - performance.now(), undefined, { ref: false }),
      ]);
      if (found?.status === "aborted") return "aborted";
      if (found?.status === "committed") return found.incarnation === incarnation ? "committed" : "unknown";
      await delay(pause);
      pause = Math.min(pause * 2, PAUSE_MS.longest);
    }
    return "unknown";
  };

/** @returns undefined while the database can't be asked */
async function readStatus(
  read: Kysely<Schema>,
  transactionId: string,
): Promise<{ status: string | null; incarnation: string } | undefined> {
  try {
    const { rows } = await sql<{ status: string | null; incarnation: string }>`
      select pg_xact_status(${transactionId}::xid8) as status, incarnation from (${sql.raw(INCARNATION)}) as life`.execute(
      read,
    );
    return rows[0]!;
  } catch (error) {
    // A standby that took over has never heard of it.
    const isInFuture = (error as { code?: unknown }).code === "22023";
    return isInFuture ? { status: "aborted", incarnation: "" } : undefined;
  }
}
