import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { AppError } from "./errors.ts";
import { nearMatch } from "./near-match.ts";
import type { WorkflowReader } from "./workflow-ports.ts";

/** Maximum number of recent workflow ids to search for a near match. */
const MAX_CANDIDATES = 200;

/**
 * Finds a workflow by its id.
 * @throws AppError workflow_not_found, with a near match when there is one
 */
export async function findWorkflow(
  workflows: Pick<WorkflowReader, "find" | "recentIds">,
  id: string,
): Promise<WorkflowWithDefinition> {
  const found = await workflows.find(id);
  if (found !== undefined) return found;
  const near = nearMatch(id, await workflows.recentIds(MAX_CANDIDATES));
  throw new AppError(
    "workflow_not_found",
    `There is no workflow "${id.slice(0, 100)}".` +
      (near === undefined
        ? " list_workflows (GET /workflows) lists the workflows that exist."
        : ` Did you mean "${near}"?`),
    {
      errors: [
        {
          path: "workflow_id",
          code: "not_found",
          message: "is not the id of a workflow",
          ...(near !== undefined && { did_you_mean: near }),
        },
      ],
    },
  );
}
