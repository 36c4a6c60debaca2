/** Recognizes errors of connections to database servers. */
import { StepError } from "../../core/step-errors.ts";

const CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // a socket file that is not there
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT",
  "POOL_CLOSED",
]);

/** Messages of drivers that set no error code. */
const MESSAGES =
  /^(?:Connection terminated|timeout (?:exceeded|expired)|Client has encountered a connection error|The server does not support SSL|There was an error establishing an SSL|Client was closed|Connection lost|connect ETIMEDOUT|Can't add new command when connection is in closed state|Pool is closed)/;

export function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return CODES.has(code) || isTlsCode(code) || (typeof message === "string" && MESSAGES.test(message));
}

const isTlsCode = (code: unknown): boolean =>
  typeof code === "string" &&
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HANDSHAKE_)/.test(code);

/** The fix for a server that refuses a user, or does not have the database. */
export const CHECK_LOGIN =
  "Ask the operator to check the user, the variable of the password and the name of the database in the configuration.";

/**
 * The error of a connection that failed or broke.
 * @param error of a driver, for which `isConnectionError` holds
 */
export function connectionStepError(error: unknown): StepError {
  const { code, message = "" } = error as { code?: unknown; message?: string };
  const reason = typeof code === "string" && code !== "" ? code : message.split("\n")[0]!;
  const isEncryption = isTlsCode(code) || /\b(?:SSL|TLS)\b/.test(message);
  return new StepError(
    "database_unavailable",
    `The server can't be reached, or closed the connection${reason === "" ? "" : ` (${reason})`}.`,
    {
      fix: isEncryption
        ? "Ask the operator to check whether the server offers encrypted connections, and its certificate."
        : "If the error remains, ask the operator to check the address in the configuration, and whether the server runs.",
      cause: error,
    },
  );
}

/** The error of a write whose connection broke before the response: a retry could write twice. */
export const unknownOutcomeError = (cause: unknown): StepError =>
  new StepError(
    "database_unavailable",
    "The connection broke while the statement ran, so it is unknown whether it was executed.",
    { transient: false, fix: "Check the database before you run it again.", unanswered: true, cause },
  );
