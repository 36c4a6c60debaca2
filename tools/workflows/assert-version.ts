/** Refusing what was started from an older version. */
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";

/**
 * Refuses a change that was made from an older version than the present one, so that nobody's edit is lost.
 * @throws AppError version_conflict
 */
export function assertVersionMatches(workflow: WorkflowWithDefinition, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === workflow.version) return;
  throw new AppError(
    "version_conflict",
    `"${workflow.id}" is at version ${workflow.version}, not ${ifMatch === 0 ? "at the one asked for" : ifMatch}: somebody changed it in the meantime. ` +
      "Nothing was changed. Get it again, apply your change to that, and send it with the new version.",
  );
}
