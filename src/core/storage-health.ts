import { AppError, isStorageUnavailable } from "./errors.ts";

interface Log {
  warn(fields: object, message: string): void;
  info(message: string): void;
}

export interface StorageHealth {
  /** Logs a failure. A failure of the storage is logged once, until another one follows or the storage recovers. */
  reportFailure(thrown: unknown, message: string): void;
  /** Call it after each successful write: the next failure is logged again. */
  reportRecovery(): void;
}

/** Logs outages of the storage once instead of at each attempt. All parts of a process share one of these. */
export function storageHealth(log: Log): StorageHealth {
  let loggedReason: string | undefined;
  return {
    reportFailure(thrown, message) {
      if (!(thrown instanceof AppError) || !isStorageUnavailable(thrown)) {
        log.warn({ err: thrown }, message);
        return;
      }
      if (loggedReason === thrown.message) return;
      loggedReason = thrown.message;
      // The stack is left out: it shows which part noticed the outage, not its cause.
      log.warn({ code: thrown.code, reason: thrown.message }, message);
    },
    reportRecovery() {
      if (loggedReason === undefined) return;
      loggedReason = undefined;
      log.info("storage available again");
    },
  };
}
