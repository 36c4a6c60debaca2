/**
 * Every error that Millrace gives, in one closed table. Whatever is not an `AppError` is `internal`: logged once
 * and shown to nobody.
 */
import type { Issue, Problem } from "../../schemas/problem.ts";

interface ErrorKind {
  status: number;
  title: string;
  /** Over MCP: a tool result the model reads and acts on, or a protocol error the client handles. */
  mcp: "tool" | "protocol";
  log: "info" | "warn" | "error";
}

export const ERRORS = {
  invalid_input: { status: 400, title: "The input is not valid", mcp: "tool", log: "info" },
  invalid_json: { status: 400, title: "The body is not valid JSON", mcp: "protocol", log: "info" },
  invalid_request: { status: 400, title: "This is not a valid request", mcp: "protocol", log: "info" },
  invalid_cursor: { status: 400, title: "The cursor is not valid here", mcp: "tool", log: "info" },
  unauthorized: { status: 401, title: "A valid API key is needed", mcp: "protocol", log: "info" },
  sign_in_failed: { status: 401, title: "Wrong e-mail address or password", mcp: "protocol", log: "info" },
  sign_on_refused: { status: 403, title: "Signed on, but not let in here", mcp: "protocol", log: "warn" },
  person_needed: { status: 403, title: "Only somebody signed in may do this", mcp: "protocol", log: "info" },
  missing_scope: { status: 403, title: "Not allowed with this key or role", mcp: "tool", log: "info" },
  approval_not_yours: { status: 403, title: "Somebody else must decide this", mcp: "tool", log: "info" },
  forbidden_origin: { status: 403, title: "Not from this origin or host", mcp: "protocol", log: "warn" },
  route_not_found: { status: 404, title: "There is nothing at this path", mcp: "protocol", log: "info" },
  workflow_not_found: { status: 404, title: "No such workflow", mcp: "tool", log: "info" },
  version_not_found: { status: 404, title: "No such version", mcp: "tool", log: "info" },
  run_not_found: { status: 404, title: "No such run", mcp: "tool", log: "info" },
  approval_not_found: { status: 404, title: "No such approval", mcp: "tool", log: "info" },
  value_not_found: { status: 404, title: "No such value", mcp: "tool", log: "info" },
  database_not_found: { status: 404, title: "No such database", mcp: "tool", log: "info" },
  schedule_not_found: { status: 404, title: "The workflow has no schedule", mcp: "tool", log: "info" },
  api_key_not_found: { status: 404, title: "No such API key", mcp: "protocol", log: "info" },
  user_not_found: { status: 404, title: "No such user", mcp: "protocol", log: "info" },
  session_not_found: { status: 404, title: "No such session", mcp: "protocol", log: "info" },
  method_not_allowed: {
    status: 405,
    title: "The path does not take this method",
    mcp: "protocol",
    log: "info",
  },
  request_timeout: {
    status: 408,
    title: "The request took too long to arrive",
    mcp: "protocol",
    log: "info",
  },
  workflow_archived: { status: 409, title: "The workflow is archived", mcp: "tool", log: "info" },
  workflow_not_runnable: { status: 409, title: "The workflow can't run", mcp: "tool", log: "info" },
  examples_failed: { status: 409, title: "Its examples do not hold", mcp: "tool", log: "info" },
  run_finished: { status: 409, title: "The run has ended", mcp: "tool", log: "info" },
  run_not_finished: { status: 409, title: "The run has not ended", mcp: "tool", log: "info" },
  approval_decided: { status: 409, title: "It was decided already", mcp: "tool", log: "info" },
  confirmation_needed: { status: 409, title: "This needs your confirmation", mcp: "tool", log: "info" },
  sign_on_elsewhere: {
    status: 409,
    title: "The identity provider decides this",
    mcp: "protocol",
    log: "info",
  },
  setup_done: { status: 409, title: "The first admin exists already", mcp: "protocol", log: "info" },
  email_taken: { status: 409, title: "Somebody has this address already", mcp: "protocol", log: "info" },
  last_admin: { status: 409, title: "The last admin must stay", mcp: "protocol", log: "info" },
  too_many_keys: { status: 409, title: "Too many living API keys", mcp: "protocol", log: "info" },
  user_not_invited: { status: 409, title: "The user has no open invitation", mcp: "protocol", log: "info" },
  user_not_active: { status: 409, title: "The user can't sign in now", mcp: "protocol", log: "info" },
  link_expired: { status: 410, title: "The link is no longer valid", mcp: "protocol", log: "info" },
  api_key_revoked: { status: 409, title: "The API key is revoked", mcp: "tool", log: "info" },
  api_key_expired: { status: 409, title: "The API key has expired", mcp: "tool", log: "info" },
  version_conflict: { status: 412, title: "It was changed in the meantime", mcp: "tool", log: "info" },
  payload_too_large: { status: 413, title: "The body is too large", mcp: "protocol", log: "info" },
  unsupported_media_type: { status: 415, title: "The body must be JSON", mcp: "protocol", log: "info" },
  idempotency_key_reused: {
    status: 422,
    title: "The idempotency key was used for another request",
    mcp: "tool",
    log: "info",
  },
  rate_limited: { status: 429, title: "Too many requests", mcp: "tool", log: "info" },
  too_many_attempts: { status: 429, title: "Too many attempts", mcp: "protocol", log: "warn" },
  too_many_runs: { status: 429, title: "No more runs are taken now", mcp: "tool", log: "warn" },
  too_many_streams: {
    status: 429,
    title: "Too many open streams",
    mcp: "protocol",
    log: "info",
  },
  headers_too_large: { status: 431, title: "The headers are too large", mcp: "protocol", log: "info" },
  internal: { status: 500, title: "Something went wrong here", mcp: "tool", log: "error" },
  connection_failed: { status: 502, title: "What was asked could not be reached", mcp: "tool", log: "warn" },
  busy: { status: 503, title: "Too busy right now", mcp: "tool", log: "warn" },
  storage_unavailable: { status: 503, title: "The state can't be used now", mcp: "tool", log: "error" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

interface ErrorDetails {
  /** The faults of an input, each with its path. */
  errors?: Issue[];
  /** For REST: headers that belong to this error (`Allow`, `Retry-After`). */
  headers?: Record<string, string>;
  /** Which case of it, for who tells them apart here; it is not sent. */
  reason?: string;
}

/** The one error class. `message` says what happened and what to do next. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: ErrorDetails & { cause?: unknown } = {}) {
    const { cause, ...details } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Whether the state could not be used for a moment: nothing is wrong with what was asked, and it may go well later. */
export const isStorageUnavailable = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.code === "busy" || thrown.code === "storage_unavailable");

/** Any thrown value as an AppError: itself, or `internal` with the value as its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError(
    "internal",
    "Something went wrong here, and it was logged. Try again; if it stays, report it with the request id.",
    { cause: thrown },
  );
}

/**
 * The error as problem details (RFC 9457).
 * @param requestId the id under which the request was logged
 */
export function toProblem(error: AppError, requestId: string): Problem {
  return {
    type: `urn:millrace:problem:${error.code}`,
    title: ERRORS[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.details.errors && { errors: error.details.errors }),
  };
}
