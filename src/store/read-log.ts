/** Records answered reads in the audit log. Reads that arrive during a commit share the next one. */
import type { ReadEntry, RecordRead } from "../core/account-ports.ts";
import { type Clock, iso } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { appendAuditEntry, auditActor } from "./audit-entries.ts";
import type { Store } from "./store.ts";

/** Maximum number of entries in one transaction: other processes wait for the lock meanwhile. */
const MAX_BATCH = 200;
/** Maximum number of reads that wait for their record; more are refused. */
const MAX_WAITING = 5_000;

interface WaitingRead {
  entry: ReadEntry;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Returns a function that records a read, and resolves when the record is committed.
 *
 * When a commit fails, all reads that wait are refused, so none waits longer than one commit takes.
 */
export function readLog({ transaction }: Pick<Store, "transaction">, clock: Clock): RecordRead {
  let waiting: WaitingRead[] = [];
  let committing = false;

  const commit = (batch: readonly WaitingRead[]): Promise<void> =>
    transaction(async (trx) => {
      for (const { entry } of batch)
        await appendAuditEntry(trx, {
          ...auditActor(entry.actor),
          at: iso(clock.now()),
          operation: entry.operation,
          target: entry.target,
          project: entry.project,
          requestId: entry.requestId,
          details: entry.details,
        });
    });

  async function commitWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      try {
        await commit(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const refused = [...batch, ...waiting];
        waiting = [];
        for (const { reject } of refused) reject(error);
      }
    }
    committing = false;
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) {
        reject(
          new AppError(
            "busy",
            `${MAX_WAITING} reads wait for their record in the audit log. Try again later.`,
            {
              headers: { "Retry-After": "1" },
            },
          ),
        );
        return;
      }
      waiting.push({ entry, resolve, reject });
      if (committing) return;
      committing = true;
      // Deferred, so that other reads of this turn of the event loop join the batch.
      queueMicrotask(() => void commitWaiting());
    });
}
