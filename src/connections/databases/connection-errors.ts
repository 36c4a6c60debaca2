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

/** The error of a write whose connection broke before the response: a retry could write twice. */
export const unknownOutcomeError = (cause: unknown): StepError =>
  new StepError(
    "database_unavailable",
    "The connection broke while the statement ran, so it is unknown whether it was executed.",
    { transient: false, fix: "Check the database before you run it again.", cause },
  );
