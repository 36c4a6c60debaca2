/** Failures of the store that end by themselves, or when somebody has helped. */
import { isTemporaryPostgresFailure } from "./postgres/errors.ts";
import { isTemporarySqliteFailure } from "./sqlite-errors.ts";

/** Whether it helps to wait: for a lock, for space on the disk, or for the database server. */
export const isTemporaryFailure = (error: unknown): boolean =>
  isTemporarySqliteFailure(error) || isTemporaryPostgresFailure(error);
