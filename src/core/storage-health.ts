/** Says once that the state can't be used, and once that it can again, however often it is tried meanwhile. */
import { AppError, isStorageUnavailable } from "./errors.ts";

interface Log {
  warn(fields: object, message: string): void;
  info(message: string): void;
}

export interface StorageHealth {
  /** Tells of a failure; trouble with the state only where it was not told of before, or is another. */
  reportFailure(thrown: unknown, what: string): void;
  /** To be called when the state was written: the next trouble is a new one. */
  reportRecovery(): void;
}

/** @param log where it is said; of one process's parts all share one of these */
export function storageHealth(log: Log): StorageHealth {
  let told: string | undefined;
  return {
    reportFailure(thrown, what) {
      if (!(thrown instanceof AppError) || !isStorageUnavailable(thrown)) {
        log.warn({ err: thrown }, what);
        return;
      }
      if (told === thrown.message) return;
      told = thrown.message;
      // Without the stack: where it was noticed says nothing of why.
      log.warn({ code: thrown.code, reason: thrown.message }, what);
    },
    reportRecovery() {
      if (told === undefined) return;
      told = undefined;
      log.info("the state can be used again");
    },
  };
}
