/** The limits of bulk actions. Apart from the schemas, so that the web interface loads no more. */

/** Maximum number of runs of a bulk action. */
export const MAX_BULK_RUNS = 1_000;
/** Maximum number of its retries that are unfinished at a time. */
export const MAX_BULK_CONCURRENCY = 20;
export const DEFAULT_BULK_CONCURRENCY = 5;
