/** Converts errors of PostgreSQL to step errors. (postgresql.org/docs/current/errcodes-appendix.html) */
import { StepError, type StepErrorCode } from "../../core/step-errors.ts";
import { CHECK_LOGIN, connectionStepError, isConnectionError } from "./connection-errors.ts";

interface PgError extends Error {
  code?: string;
  /** From 1, in characters. */
  position?: string;
  hint?: string;
  detail?: string;
}

const CODES: readonly (readonly [RegExp, StepErrorCode])[] = [
  [/^(?:40P01|40001|55P03)$/, "deadlock"],
  [/^57014$/, "timeout"],
  [/^25006$/, "database_read_only"],
  [/^53200$/, "memory_limit"],
  [/^(?:28|3D000)/, "environment"],
  [/^(?:08|53|57P|58)/, "database_unavailable"],
];

/** Whether the server refused the password of a new connection. */
export const isPasswordRefusal = (error: unknown): boolean =>
  /^28(?:P01|000)$/.test((error as PgError).code ?? "") || (error as PgError).message?.startsWith("SASL:");

/** @param place what a position in the text is in the query as written; left out for statements of ours */
export function pgStepError(error: unknown, place?: (offset: number) => string): StepError {
  if (error instanceof StepError) return error;
  const { code = "", message, position, hint } = error as PgError;
  if (isConnectionError(error)) return connectionStepError(error);
  if (message.startsWith("SASL:"))
    return new StepError("environment", "The server requires a password, and it is missing or wrong.", {
      fix: "Ask the operator to check the variable named by password_var in the configuration.",
      cause: error,
    });
  const known = CODES.find(([pattern]) => pattern.test(code))?.[1] ?? "database_failed";
  const where = position === undefined || place === undefined ? "" : ` (${place(Number(position) - 1)})`;
  return new StepError(known, `${message}${where}`, {
    ...(known === "environment" && { fix: CHECK_LOGIN }),
    ...(hint !== undefined && { fix: hint }),
    ...(code !== "" && { details: { sqlstate: code } }),
    cause: error,
  });
}
