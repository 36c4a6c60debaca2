/** Refusing to change what was put away. */
import type { WholeWorkflow } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";

/** @throws AppError workflow_archived */
export function expectLive({ id, status }: WholeWorkflow): void {
  if (status !== "archived") return;
  throw new AppError(
    "workflow_archived",
    `"${id}" is archived and can't be changed. Restore it first (POST /workflows/${id}/restore).`,
  );
}
