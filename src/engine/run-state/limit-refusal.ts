/** Why a run may not start, or no more may be stored: a limit of the instance, of an owner or of a project is reached. */
import { SECOND } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import type { RunRecord } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";

interface RefusalOptions {
  /** When it may be tried again, in seconds. */
  retryAfterS: number;
  /** The project whose limit it is; left out for limits of the instance and of owners. */
  project?: string | undefined;
  cause?: unknown;
}

export class LimitRefusal extends AppError {
  readonly retryAfterS: number;
  readonly project: string | undefined;

  constructor(
    code: "too_many_runs" | "storage_limit_reached",
    message: string,
    { retryAfterS, project, cause }: RefusalOptions,
  ) {
    super(code, message, { headers: { "Retry-After": String(retryAfterS) }, cause });
    this.retryAfterS = retryAfterS;
    this.project = project;
  }
}

/**
 * The refusal of a run that another one starts, as that one shows it: limits of another project stay in that project, with
 * their names and numbers.
 * @param run the run that may not start
 */
export function refusalFor(
  starting: Pick<RunRecord, "project">,
  { workflowId }: Pick<PreparedRun, "workflowId">,
  refusal: LimitRefusal,
): LimitRefusal {
  const { project, retryAfterS } = refusal;
  if (project === undefined || project === starting.project) return refusal;
  return new LimitRefusal(
    "too_many_runs",
    `"${workflowId}" can't run now: its project "${project}" has reached a limit. Try again later, or ask somebody there.`,
    { retryAfterS, project, cause: refusal },
  );
}

/** The error of a step whose run may not start. */
export const childRefused = ({ message, retryAfterS }: LimitRefusal): StepError =>
  new StepError("limit_reached", message, {
    fix:
      "Retry the run later (retry_run); it reuses the outputs of the steps that succeeded. " +
      "Or let the step wait with retry: { on: [limit_reached] }.",
    retryAfterMs: retryAfterS * SECOND,
  });
