import type { Job } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";

/** Number of executors that may crash while they run a job isolated, before it is not run again. */
const MAX_CRASHES = 3;

/**
 * @param label names the job in the message: the id of the step, or `output`
 * @throws StepError poisoned when the job crashed its executors too often
 */
export function assertNotPoisoned({ crashCount }: Job, label: string): void {
  if (crashCount < MAX_CRASHES) return;
  throw new StepError(
    "poisoned",
    `"${label}" was started as the only job of its executor each of the ${crashCount} times that the executor crashed, ` +
      "so it is not run again.",
    { fix: "Find out what needs too much memory in it. The log of the executors shows how they ended." },
  );
}
