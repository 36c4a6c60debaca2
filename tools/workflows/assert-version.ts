import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";

/**
 * Refuses a change that is based on another version than the current one, so that no edit is overwritten.
 * @throws AppError version_conflict
 */
export function assertVersionMatches(workflow: WorkflowWithDefinition, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === workflow.version) return;
  throw new AppError(
    "version_conflict",
    `"${workflow.id}" is at version ${workflow.version}, not ${ifMatch === 0 ? "the expected one" : ifMatch}: it was changed in the meantime. ` +
      "Nothing was changed. Get the workflow again, apply your change to it, and send that with the new version.",
  );
}
