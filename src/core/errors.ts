/**
 * Every error code that clients get. Any other thrown value is reported as `internal`: the server logs it once and
 * clients don't see it.
 */
import type { Issue, Problem } from "../../schemas/problem.ts";

interface ErrorKind {
  status: number;
  title: string;
  /** Over MCP: a tool result that the model reads and acts on, or a protocol error that the client handles. */
  mcp: "tool" | "protocol";
  log: "info" | "warn" | "error";
}

export const ERRORS = {
  invalid_input: { status: 400, title: "The input is not valid", mcp: "tool", log: "info" },
  invalid_json: { status: 400, title: "The body is not valid JSON", mcp: "protocol", log: "info" },
  invalid_request: { status: 400, title: "The HTTP request is not valid", mcp: "protocol", log: "info" },
  invalid_cursor: { status: 400, title: "The cursor is not valid for this list", mcp: "tool", log: "info" },
  unauthorized: { status: 401, title: "A valid API key is required", mcp: "protocol", log: "info" },
  sign_in_failed: { status: 401, title: "Wrong e-mail address or password", mcp: "protocol", log: "info" },
  sign_on_refused: {
    status: 403,
    title: "The identity provider's user is not allowed in",
    mcp: "protocol",
    log: "warn",
  },
  person_needed: { status: 403, title: "A signed-in user is required", mcp: "protocol", log: "info" },
  missing_scope: { status: 403, title: "The key or role lacks a scope", mcp: "tool", log: "info" },
  not_permitted: {
    status: 403,
    title: "The key is limited to other operations",
    mcp: "tool",
    log: "info",
  },
  approval_not_yours: { status: 403, title: "You may not decide this approval", mcp: "tool", log: "info" },
  review_not_yours: {
    status: 403,
    title: "You may not decide this change request",
    mcp: "tool",
    log: "info",
  },
  signature_invalid: { status: 403, title: "The signature is refused", mcp: "protocol", log: "info" },
  forbidden_origin: { status: 403, title: "The origin or host is not allowed", mcp: "protocol", log: "warn" },
  route_not_found: { status: 404, title: "Nothing is served at this path", mcp: "protocol", log: "info" },
  project_not_found: { status: 404, title: "The project does not exist", mcp: "tool", log: "info" },
  workflow_not_found: { status: 404, title: "The workflow does not exist", mcp: "tool", log: "info" },
  version_not_found: { status: 404, title: "The version does not exist", mcp: "tool", log: "info" },
  run_not_found: { status: 404, title: "The run does not exist", mcp: "tool", log: "info" },
  approval_not_found: { status: 404, title: "The approval does not exist", mcp: "tool", log: "info" },
  review_not_found: { status: 404, title: "The change request does not exist", mcp: "tool", log: "info" },
  value_not_found: { status: 404, title: "The value does not exist", mcp: "tool", log: "info" },
  database_not_found: { status: 404, title: "The database does not exist", mcp: "tool", log: "info" },
  schedule_not_found: { status: 404, title: "The workflow has no schedule", mcp: "tool", log: "info" },
  trigger_not_found: { status: 404, title: "There is no such trigger", mcp: "tool", log: "info" },
  trigger_not_published: { status: 404, title: "The trigger is not published", mcp: "protocol", log: "info" },
  trigger_delivery_not_found: { status: 404, title: "There is no such delivery", mcp: "tool", log: "info" },
  backtest_not_found: { status: 404, title: "The backtest does not exist", mcp: "tool", log: "info" },
  bulk_action_not_found: { status: 404, title: "The bulk action does not exist", mcp: "tool", log: "info" },
  interruption_not_found: { status: 404, title: "The interruption does not exist", mcp: "tool", log: "info" },
  backfill_not_found: { status: 404, title: "The backfill does not exist", mcp: "tool", log: "info" },
  event_not_found: { status: 404, title: "There is no such event", mcp: "protocol", log: "info" },
  state_not_found: { status: 404, title: "The workflow has no state", mcp: "tool", log: "info" },
  api_key_not_found: { status: 404, title: "The API key does not exist", mcp: "tool", log: "info" },
  user_not_found: { status: 404, title: "The user does not exist", mcp: "protocol", log: "info" },
  grant_not_found: { status: 404, title: "The project has no such grant", mcp: "protocol", log: "info" },
  subscription_not_found: {
    status: 404,
    title: "The subscription does not exist",
    mcp: "protocol",
    log: "info",
  },
  delivery_not_found: { status: 404, title: "The delivery does not exist", mcp: "protocol", log: "info" },
  member_not_found: {
    status: 404,
    title: "The person has no role in the project",
    mcp: "protocol",
    log: "info",
  },
  session_not_found: { status: 404, title: "The session does not exist", mcp: "protocol", log: "info" },
  method_not_allowed: {
    status: 405,
    title: "The path does not allow this method",
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
  exposure_changed: {
    status: 409,
    title: "What would be exposed has changed",
    mcp: "tool",
    log: "info",
  },
  exposure_not_requested: {
    status: 409,
    title: "The workflow does not ask to be a tool",
    mcp: "tool",
    log: "info",
  },
  workflow_not_runnable: { status: 409, title: "The workflow can't run", mcp: "tool", log: "info" },
  callers_would_break: { status: 409, title: "Other workflows would break", mcp: "tool", log: "info" },
  backtest_differs: { status: 409, title: "The backtest differs", mcp: "tool", log: "info" },
  backtest_unfinished: { status: 409, title: "The backtest has not ended", mcp: "tool", log: "info" },
  examples_failed: { status: 409, title: "The workflow's examples fail", mcp: "tool", log: "info" },
  run_finished: { status: 409, title: "The run has already ended", mcp: "tool", log: "info" },
  backtest_finished: { status: 409, title: "The backtest has already ended", mcp: "tool", log: "info" },
  backfill_finished: { status: 409, title: "The backfill has already ended", mcp: "tool", log: "info" },
  bulk_action_finished: { status: 409, title: "The bulk action has already ended", mcp: "tool", log: "info" },
  interruption_settled: { status: 409, title: "The interruption is settled", mcp: "tool", log: "info" },
  bulk_action_changed: { status: 409, title: "The runs have changed", mcp: "tool", log: "info" },
  run_not_finished: { status: 409, title: "The run has not ended", mcp: "tool", log: "info" },
  approval_expired: { status: 409, title: "The approval has expired", mcp: "tool", log: "info" },
  approval_plan_changed: {
    status: 409,
    title: "What the approval is for has changed",
    mcp: "tool",
    log: "info",
  },
  approval_decided: { status: 409, title: "The approval is already decided", mcp: "tool", log: "info" },
  review_changed: {
    status: 409,
    title: "What would be published has changed",
    mcp: "tool",
    log: "info",
  },
  review_decided: {
    status: 409,
    title: "The change request is no longer pending",
    mcp: "tool",
    log: "info",
  },
  trigger_delivery_not_stored: {
    status: 409,
    title: "The delivery is no longer stored",
    mcp: "tool",
    log: "info",
  },
  confirmation_needed: { status: 409, title: "Confirmation is required", mcp: "tool", log: "info" },
  sign_on_elsewhere: {
    status: 409,
    title: "The identity provider manages this",
    mcp: "protocol",
    log: "info",
  },
  setup_done: { status: 409, title: "The first admin already exists", mcp: "protocol", log: "info" },
  email_taken: { status: 409, title: "The e-mail address is already in use", mcp: "protocol", log: "info" },
  workflow_id_taken: { status: 409, title: "There is a workflow with this id", mcp: "tool", log: "info" },
  project_taken: { status: 409, title: "There is a project with this id", mcp: "protocol", log: "info" },
  project_not_empty: { status: 409, title: "The project can't be deleted", mcp: "protocol", log: "info" },
  upgrade_unfinished: {
    status: 409,
    title: "A copy of an older release still runs",
    mcp: "tool",
    log: "warn",
  },
  last_admin: { status: 409, title: "The last admin can't be removed", mcp: "protocol", log: "info" },
  subscription_paused: { status: 409, title: "The subscription is paused", mcp: "protocol", log: "info" },
  subscription_not_signed: {
    status: 409,
    title: "The subscription has no signing secret",
    mcp: "protocol",
    log: "info",
  },
  delivery_pending: { status: 409, title: "The delivery is pending", mcp: "protocol", log: "info" },
  too_many_subscriptions: { status: 409, title: "Too many subscriptions", mcp: "protocol", log: "info" },
  too_many_keys: { status: 409, title: "Too many valid API keys", mcp: "protocol", log: "info" },
  user_not_invited: { status: 409, title: "The user has no open invitation", mcp: "protocol", log: "info" },
  user_not_active: { status: 409, title: "The user is not active", mcp: "protocol", log: "info" },
  trigger_gone: {
    status: 410,
    title: "The workflow of the trigger is archived",
    mcp: "protocol",
    log: "info",
  },
  event_received: { status: 410, title: "The event is no longer expected", mcp: "protocol", log: "info" },
  link_expired: { status: 410, title: "The link is no longer valid", mcp: "protocol", log: "info" },
  authorization_expired: {
    status: 410,
    title: "The request of the application is no longer valid",
    mcp: "protocol",
    log: "info",
  },
  api_key_of_application: {
    status: 409,
    title: "The key is an application's token",
    mcp: "tool",
    log: "info",
  },
  api_key_revoked: { status: 409, title: "The API key is revoked", mcp: "tool", log: "info" },
  api_key_expired: { status: 409, title: "The API key has expired", mcp: "tool", log: "info" },
  version_conflict: {
    status: 412,
    title: "The workflow changed since you read it",
    mcp: "tool",
    log: "info",
  },
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
  too_many_runs: { status: 429, title: "Too many runs", mcp: "tool", log: "warn" },
  too_many_backtests: { status: 429, title: "Too many backtests", mcp: "tool", log: "warn" },
  too_many_bulk_actions: { status: 429, title: "Too many bulk actions", mcp: "tool", log: "warn" },
  too_many_backfills: { status: 429, title: "Too many backfills", mcp: "tool", log: "warn" },
  storage_limit_reached: { status: 429, title: "Too much is stored", mcp: "tool", log: "warn" },
  too_many_streams: {
    status: 429,
    title: "Too many open streams",
    mcp: "protocol",
    log: "info",
  },
  headers_too_large: { status: 431, title: "The headers are too large", mcp: "protocol", log: "info" },
  internal: { status: 500, title: "Internal error", mcp: "tool", log: "error" },
  connection_failed: { status: 502, title: "An external system can't be reached", mcp: "tool", log: "warn" },
  secret_unavailable: {
    status: 503,
    title: "A secret of the server can't be used",
    mcp: "protocol",
    log: "warn",
  },
  busy: { status: 503, title: "The server is too busy", mcp: "tool", log: "warn" },
  storage_unavailable: { status: 503, title: "The state storage is unavailable", mcp: "tool", log: "error" },
  outcome_unknown: {
    status: 503,
    title: "It is not known whether the change was made",
    mcp: "tool",
    log: "error",
  },
  storage_full: { status: 507, title: "The disk is too full for new runs", mcp: "tool", log: "warn" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

interface ErrorDetails {
  /** The validation issues of an input, each with its path. */
  errors?: Issue[];
  /** HTTP headers of this error (`Allow`, `Retry-After`); REST only. */
  headers?: Record<string, string>;
  /** Distinguishes cases of one code inside the server; clients don't see it. */
  reason?: string;
}

/** The error that clients get. `message` says what is wrong and what to do. */
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

const STORAGE_CODES: ReadonlySet<ErrorCode> = new Set([
  "busy",
  "storage_unavailable",
  "outcome_unknown",
  "storage_full",
]);

/** Whether storage failed temporarily: the request itself is valid and may succeed later. */
export const isStorageUnavailable = (thrown: unknown): boolean =>
  thrown instanceof AppError && STORAGE_CODES.has(thrown.code);

/** Returns an AppError as it is, and any other thrown value as `internal` with that value as its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError(
    "internal",
    "The server had an internal error, which was logged. Try again; if it happens again, report it with the request id.",
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
