import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";

/** @throws AppError workflow_archived */
export function assertNotArchived({ id, status }: WorkflowWithDefinition): void {
  if (status !== "archived") return;
  throw new AppError(
    "workflow_archived",
    `"${id}" is archived and can't be changed. Restore it first (POST /workflows/${id}/restore).`,
  );
}
