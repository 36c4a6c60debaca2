/** Every error code of a step. A workflow's `retry.on` names these codes. */
import type { Usage } from "./model.ts";

interface StepErrorKind {
  title: string;
  /** Whether a retry may succeed: `retry` without `on` repeats only these. */
  transient: boolean;
}

export const STEP_ERRORS = {
  all_items_failed: { title: "Every item of the fan-out failed", transient: false },
  approval_timeout: { title: "Nobody decided within the timeout", transient: false },
  assert_failed: { title: "A condition is false", transient: false },
  cancelled: { title: "The run was cancelled", transient: false },
  child_cancelled: { title: "The sub-workflow was cancelled", transient: false },
  child_failed: { title: "The sub-workflow failed", transient: true },
  database_failed: { title: "The database refused the query", transient: false },
  database_read_only: { title: "The database is read-only", transient: false },
  database_unavailable: { title: "The database can't be reached", transient: true },
  deadlock: { title: "The database ended the query because of a deadlock", transient: true },
  environment: { title: "Something that the step needs is not configured", transient: false },
  event_timeout: { title: "No event was received within the timeout", transient: false },
  expression_failed: { title: "An expression failed", transient: false },
  expression_limit: { title: "An expression reached a limit", transient: false },
  http_blocked: { title: "Requests to this address are not allowed", transient: false },
  http_failed: { title: "The request failed", transient: true },
  http_status: { title: "The response has an unexpected status", transient: true },
  input_invalid: { title: "The step's input is not valid", transient: false },
  interrupted: { title: "The attempt ended without an answer", transient: true },
  limit_reached: { title: "A usage limit is reached", transient: false },
  machine_busy: { title: "The machine was too busy to evaluate an expression", transient: true },
  mail_failed: { title: "The mail server did not accept the mail", transient: true },
  mail_refused: { title: "Mail to this address is not allowed", transient: false },
  memory_limit: { title: "The step needed too much memory", transient: false },
  model_failed: { title: "The model gave no response", transient: true },
  model_invalid_output: { title: "The model's response does not match the schema", transient: true },
  model_rate_limited: { title: "The model's vendor limits the request rate", transient: true },
  model_refused: { title: "The model refused to answer", transient: false },
  not_given: { title: "A trial was not given the output of a step with effects", transient: false },
  null_value: { title: "A value is null", transient: false },
  output_invalid: { title: "The run's output does not match its schema", transient: false },
  output_too_large: { title: "The output is too large", transient: false },
  poisoned: { title: "The step crashed its executor repeatedly", transient: false },
  repeat_exhausted: { title: "The step reached its maximum number of iterations", transient: false },
  run_timeout: { title: "The run reached its timeout", transient: false },
  run_too_large: { title: "The run stores more than it may", transient: false },
  state_conflict: { title: "The state was written since the run read it", transient: false },
  state_invalid: { title: "The state does not match its declaration", transient: false },
  step_failed: { title: "The step failed", transient: false },
  timeout: { title: "The step reached its timeout", transient: true },
  too_deep: { title: "Workflows call each other too deeply", transient: false },
  too_many_items: { title: "The step has too many items", transient: false },
  tool_failed: { title: "The tool failed", transient: true },
  tool_unavailable: { title: "The MCP server can't be reached", transient: true },
  truncated: { title: "The query returned more than the step's limit", transient: false },
  undo_failed: { title: "The effect of a step could not be undone", transient: false },
} as const satisfies Record<string, StepErrorKind>;

export type StepErrorCode = keyof typeof STEP_ERRORS;
export const STEP_ERROR_CODES = Object.keys(STEP_ERRORS) as StepErrorCode[];

export interface StepErrorOptions {
  /** What to do about it. */
  fix?: string;
  /** Minimum delay before the next attempt, in milliseconds (a vendor's `Retry-After`). */
  retryAfterMs?: number;
  /** When the step may start, in milliseconds since 1970: it did nothing, and its job waits until then, whatever `retry` says. */
  waitUntil?: number;
  /** Tokens that the model used although the step failed. */
  usage?: Usage;
  /** Facts for debugging, such as a status or a position. Small, and without secrets. */
  details?: Readonly<Record<string, unknown>>;
  /** Overrides the code's `transient` for this error: a retry does not help against an HTTP 404. */
  transient?: boolean;
  /** Whether it was sent and not answered, so that nobody knows whether it had its effect. */
  unanswered?: true;
  cause?: unknown;
}

/** The error that a failed step ends with. `message` is written for the author of the workflow. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly code: StepErrorCode;
  readonly options: StepErrorOptions;

  constructor(code: StepErrorCode, message: string, options: StepErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  /** Whether a retry may succeed. */
  get transient(): boolean {
    return this.options.transient ?? STEP_ERRORS[this.code].transient;
  }
}

/** Whether an attempt did not fail by itself: the machine was too busy. */
export const isMachineBusy = (error: unknown): error is StepError =>
  error instanceof StepError && error.code === "machine_busy";
