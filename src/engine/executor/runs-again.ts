import { isStorageUnavailable } from "../../core/errors.ts";
import type { Job } from "../../core/model.ts";
import { isMachineBusy } from "../../core/step-errors.ts";

/** Maximum number of attempts of a job that a busy machine may end, before its step fails. */
const MAX_BUSY_ATTEMPTS = 10;

/** Whether the queue releases the job to be run again: the storage or the machine failed, and not the step. */
export const runsAgain = (thrown: unknown, { attempt }: Pick<Job, "attempt">): boolean =>
  isStorageUnavailable(thrown) || (isMachineBusy(thrown) && attempt < MAX_BUSY_ATTEMPTS);
