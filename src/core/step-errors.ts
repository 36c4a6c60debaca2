/** What can go wrong inside a step, in one closed table: a workflow's `retry.on` names these codes. */
import type { Usage } from "./model.ts";

interface StepErrorKind {
  /** What went wrong, as a heading. */
  title: string;
  /** Whether it may go away by itself: `retry` without `on` repeats only these. */
  transient: boolean;
}

export const STEP_ERRORS = {
  approval_timeout: { title: "Nobody decided in time", transient: false },
  assert_failed: { title: "A condition does not hold", transient: false },
  cancelled: { title: "The run was cancelled", transient: false },
  child_failed: { title: "The workflow that it ran failed", transient: true },
  database_failed: { title: "The database refused the query", transient: false },
  database_read_only: { title: "The database may only be read", transient: false },
  database_unavailable: { title: "The database can't be reached", transient: true },
  deadlock: { title: "The database stopped it because of a deadlock", transient: true },
  environment: { title: "What the step needs is not configured", transient: false },
  expression_failed: { title: "An expression failed", transient: false },
  expression_limit: { title: "An expression hit its bound", transient: false },
  http_blocked: { title: "The address may not be called", transient: false },
  http_failed: { title: "The request failed", transient: true },
  http_status: { title: "The answer has a status that was not expected", transient: true },
  input_invalid: { title: "The step's input is not valid", transient: false },
  interrupted: { title: "The executor ended while the step ran", transient: true },
  limit_reached: { title: "What its key may use is used up", transient: false },
  mail_failed: { title: "The mail was not taken", transient: true },
  mail_refused: { title: "The mail may not be sent", transient: false },
  memory_limit: { title: "It needed too much memory", transient: false },
  model_failed: { title: "The model gave no answer", transient: true },
  model_invalid_output: { title: "The model's answer does not fit the schema", transient: true },
  model_rate_limited: { title: "The model's vendor limits the rate", transient: true },
  model_refused: { title: "The model refused", transient: false },
  null_value: { title: "A value is null", transient: false },
  output_too_large: { title: "The output is too large", transient: false },
  poisoned: { title: "It ended its executor again and again", transient: false },
  run_timeout: { title: "The run took too long", transient: false },
  step_failed: { title: "The step failed", transient: false },
  timeout: { title: "It took too long", transient: true },
  too_deep: { title: "Workflows call each other too deep", transient: false },
  too_many_items: { title: "There are too many items", transient: false },
  tool_failed: { title: "The tool failed", transient: true },
  tool_unavailable: { title: "The MCP server can't be reached", transient: true },
} as const satisfies Record<string, StepErrorKind>;

export type StepErrorCode = keyof typeof STEP_ERRORS;
export const STEP_ERROR_CODES = Object.keys(STEP_ERRORS) as StepErrorCode[];

interface StepErrorOptions {
  /** What to do about it. */
  fix?: string;
  /** Not to be tried again before so many milliseconds have passed (a vendor's `Retry-After`). */
  retryAfterMs?: number;
  /** What a model used all the same. */
  usage?: Usage;
  /** Facts for who looks into it: a status, a position. Small; no secrets. */
  details?: Readonly<Record<string, unknown>>;
  /** Overrides the table where this instance is known better (an HTTP 404 does not go away). */
  transient?: boolean;
  cause?: unknown;
}

/** The one error that a step ends with. `message` says what happened, in words for who wrote the workflow. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly code: StepErrorCode;
  readonly options: StepErrorOptions;

  constructor(code: StepErrorCode, message: string, options: StepErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  /** Whether to try again may help. */
  get transient(): boolean {
    return this.options.transient ?? STEP_ERRORS[this.code].transient;
  }
}
