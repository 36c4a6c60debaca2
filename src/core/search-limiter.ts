/** Limits the searches that read many rows: each holds some megabytes, however small its request and its answer are. */
import type { CallContext } from "./connections.ts";

/**
 * Runs a search as soon as it is its turn.
 * @throws AppError busy, when others took all places for too long; request_timeout, when the client has gone meanwhile
 */
export type LimitSearch = <T>(call: CallContext, search: () => Promise<T>) => Promise<T>;
