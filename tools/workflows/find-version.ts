import type { Workflow, WorkflowVersion } from "../../schemas/workflow.ts";
import type { z } from "zod";
import { AppError } from "../../src/core/errors.ts";
import type { WorkflowReader } from "../../src/core/workflow-ports.ts";

/**
 * Finds a version of a workflow, with its definition.
 * @throws AppError version_not_found
 */
export async function findVersion(
  workflows: Pick<WorkflowReader, "findVersion">,
  workflow: Pick<Workflow, "id" | "version">,
  version: number,
): Promise<z.input<typeof WorkflowVersion>> {
  const found = await workflows.findVersion(workflow.id, version);
  if (found !== undefined) return found;
  throw new AppError(
    "version_not_found",
    `"${workflow.id}" has no version ${version}; its versions are 1 to ${workflow.version}.`,
  );
}
