/** Translates PostgreSQL's error codes. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
import { setTimeout as delay } from "node:timers/promises";
import { AppError, type ErrorCode } from "../../core/errors.ts";

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
};

/** Messages for failures, by the beginning of PostgreSQL's code. */
const FAILURES: readonly (readonly [prefix: string, code: ErrorCode, message: string])[] = [
  ["55P03", "busy", "Another transaction holds a lock of the database, and did not release it in time."],
  ["57014", "busy", "A statement took too long."],
  ["40", "busy", "Other transactions changed the same rows, also after several attempts."],
  ["53300", "busy", "The database has no free connection. Raise its max_connections, or run fewer copies."],
  ["53100", "storage_unavailable", "The disk of the database is full. Free some space."],
  ["53", "busy", "The database has too few resources."],
  ["28", "storage_unavailable", "The database refuses the user or the password. Check the database's URL."],
  ["3D000", "storage_unavailable", "The database does not exist. Create it, or check the database's URL."],
  ["42501", "storage_unavailable", "The user may not use the tables of the database. Make it their owner."],
  ["25006", "storage_unavailable", "The database is read-only, such as a replica. Connect to the primary."],
];

/** Codes of a connection that was refused or lost, of the server and of the operating system. */
const LOST = [
  "57P",
  "08",
  "25P03",
  "ECONN",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
];
/** Codes of Node for a certificate that is not accepted. */
const CERTIFICATE = /^(CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_)/;
const NO_TLS = /does not support SSL connections/;
/** Messages of the driver, which have no code. */
const SILENCE = "Query read timeout";
const LOST_MESSAGE =
  /^(Connection terminated|Query read timeout|timeout expired|Client has encountered|Client was closed)/;

/** Whether the Unix socket of the server is not there. A file that is missing is something else. */
const isMissingSocket = (error: unknown): boolean =>
  codeOf(error) === "ENOENT" && (error as NodeJS.ErrnoException).syscall === "connect";

/** Whether there is no connection to the database, or it was lost. */
export const isConnectionLost = (error: unknown): boolean =>
  LOST.some((prefix) => codeOf(error).startsWith(prefix)) ||
  isMissingSocket(error) ||
  (error instanceof Error && LOST_MESSAGE.test(error.message));

/** Whether all connections of this process are in use, for as long as one is waited for. */
const areAllInUse = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("timeout exceeded when trying to connect");

/** Whether an answer of the server is overdue. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === SILENCE;

/** How long what has lost its connection is repeated, in milliseconds: as long as a lock is waited for, and longer than a server takes to restart. */
const REPEAT_MS = 5_000;
const MAX_PAUSE_MS = 500;

/**
 * Limits the repetitions of a statement or transaction whose connection is lost.
 * @returns a function that waits before the next attempt, and says whether there is one
 */
export function repetition(): () => Promise<boolean> {
  let lostAt: number | undefined;
  let attempt = 0;
  return async () => {
    lostAt ??= performance.now();
    attempt += 1;
    // At first it was a connection that ended while nobody used it.
    if (attempt > 1) await delay(Math.min(25 * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2));
    return performance.now() - lostAt < REPEAT_MS;
  };
}

/** The connection of a transaction was lost, and nothing of it was committed, so it can run again. */
export class NotCommitted extends Error {
  constructor(cause: unknown) {
    super("The connection was lost before the commit.", { cause });
  }
}

/** The connection of a transaction was lost during its commit, and the database could not be asked in time how it has ended. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super("The connection was lost during the commit.", { cause });
  }
}

/** Whether it helps to wait: the server is away or starts, or has no connection left. */
export function isTemporaryPostgresFailure(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return (
    isConnectionLost(cause) ||
    areAllInUse(cause) ||
    codeOf(cause).startsWith("53") ||
    codeOf(cause) === "55P03"
  );
}

/** Whether a statement with a name was planned before a migration changed its columns. */
export const isOutdatedPlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && /cached plan/.test((error as Error).message);

/** Whether the transaction was aborted because of others, so that it succeeds when it runs again. */
export const isAborted = (error: unknown): boolean =>
  ["40001", "40P01"].includes(codeOf(error)) || isOutdatedPlan(error);

/**
 * Whether a unique constraint has failed. A concurrent transaction may have inserted the row: when the transaction runs
 * again it sees that row before it inserts its own.
 */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === "23505";

/** Converts an error of the driver to an AppError, and returns any other value as it is. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof NotCommitted) return translatePostgresError(error.cause);
  if (error instanceof CommitUnknown)
    return new AppError(
      "outcome_unknown",
      "The connection to the database was lost during the commit, so it is not known whether the change was made. Send the request again with the same Idempotency-Key, or look first.",
      { cause: error.cause, headers: { "Retry-After": "5" } },
    );
  if (areAllInUse(error))
    return new AppError(
      "busy",
      "All connections of this process to the database are in use. Try again; if it happens often, raise MILLRACE_DATABASE_CONNECTIONS.",
      { cause: error, headers: { "Retry-After": "5" } },
    );
  if (isConnectionLost(error))
    return new AppError(
      "storage_unavailable",
      "The database can't be reached, or the connection was lost. Check that it runs, and its address.",
      { cause: error, headers: { "Retry-After": "5" } },
    );
  if (CERTIFICATE.test(codeOf(error)))
    return new AppError(
      "storage_unavailable",
      `The certificate of the database is not accepted: ${(error as Error).message}. Check sslmode and sslrootcert of the database's URL.`,
      { cause: error, headers: { "Retry-After": "30" } },
    );
  if (error instanceof Error && NO_TLS.test(error.message))
    return new AppError(
      "storage_unavailable",
      "The database accepts no TLS, which sslmode of its URL asks for. Turn ssl on at the server, or change sslmode.",
      { cause: error, headers: { "Retry-After": "30" } },
    );
  const found = FAILURES.find(([prefix]) => codeOf(error).startsWith(prefix));
  if (found === undefined) return error;
  const [, code, message] = found;
  const text =
    code === "busy" ? `${message} Nothing was changed. Try again.` : `${message} Nothing was changed.`;
  return new AppError(code, text, { cause: error, headers: { "Retry-After": code === "busy" ? "1" : "30" } });
}
