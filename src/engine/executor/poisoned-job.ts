import type { Job } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";

/** Number of crashes of its executors after which a job is not run again. In all but the first two it ran isolated. */
const MAX_CRASHES = 5;

/**
 * @param label names the job in the message: the id of the step, or `output`
 * @throws StepError poisoned when the job crashed its executors too often
 */
export function assertNotPoisoned({ crashCount }: Job, label: string): void {
  if (crashCount < MAX_CRASHES) return;
  throw new StepError(
    "poisoned",
    `"${label}" was running each of the ${crashCount} times that its executor crashed, the last times as its only job, ` +
      "so it is not run again.",
    { fix: "Find out what needs too much memory in it. The log of the executors shows how they ended." },
  );
}
