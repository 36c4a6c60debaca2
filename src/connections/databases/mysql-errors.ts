/** Maps the errors of MySQL and MariaDB to step errors. */
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { CHECK_LOGIN, connectionStepError, isConnectionError } from "./connection-errors.ts";
import { readMoment } from "./moments.ts";

const CODES: ReadonlyMap<number, StepErrorCode> = new Map([
  [1213, "deadlock"], // ER_LOCK_DEADLOCK
  [1205, "deadlock"], // ER_LOCK_WAIT_TIMEOUT
  [1792, "database_read_only"], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  [1290, "database_read_only"], // ER_OPTION_PREVENTS_STATEMENT (read_only)
  [1969, "timeout"], // MariaDB's max_statement_time
  [3024, "timeout"], // MySQL's max_execution_time
  [1317, "timeout"], // ER_QUERY_INTERRUPTED
  [1037, "memory_limit"],
  [1038, "memory_limit"],
  [1041, "memory_limit"],
  [1040, "database_unavailable"], // ER_CON_COUNT_ERROR
  [1203, "database_unavailable"], // ER_TOO_MANY_USER_CONNECTIONS
  [1226, "database_unavailable"], // ER_USER_LIMIT_REACHED
  [1053, "database_unavailable"], // ER_SERVER_SHUTDOWN
  [1927, "database_unavailable"], // ER_CONNECTION_KILLED
  [1044, "environment"],
  [1045, "environment"], // ER_ACCESS_DENIED_ERROR
  [1049, "environment"], // ER_BAD_DB_ERROR
  [1698, "environment"],
] as const);

const MOMENT_FIX = "Cast the parameter in the query: CAST(:name AS DATETIME(6)).";

/** Whether the server refused the password of a new connection (ER_ACCESS_DENIED_ERROR and relatives). */
export const isPasswordRefusal = (error: unknown): boolean =>
  [1045, 1698].includes((error as { errno?: number }).errno ?? 0);

export function mysqlStepError(error: unknown): StepError {
  if (error instanceof StepError) return error;
  const { errno, message, sqlState } = error as Error & { errno?: number; sqlState?: string };
  const known = errno === undefined ? undefined : CODES.get(errno);
  if (known === undefined && isConnectionError(error)) return connectionStepError(error);
  // Where the driver could not find out that a parameter is stored as a time, such as in the second row of VALUES.
  const refused = /^Incorrect \w+ value: '([^']+)'/.exec(message)?.[1];
  return new StepError(known ?? "database_failed", message, {
    ...(known === "environment" && { fix: CHECK_LOGIN }),
    ...(readMoment(refused) !== undefined && { fix: MOMENT_FIX }),
    ...(errno !== undefined && { details: { errno, sqlstate: sqlState ?? null } }),
    cause: error,
  });
}
