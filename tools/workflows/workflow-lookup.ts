/** Looking a workflow up so that a wrong id says which one was probably meant. */
import type { WholeWorkflow } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { WorkflowReader } from "../../src/core/ports.ts";

/** How many ids a near match is looked for in. */
const CANDIDATES = 200;

/**
 * The workflow, or the error that helps to find it.
 * @throws AppError workflow_not_found
 */
export async function findWorkflow(workflows: WorkflowReader, id: string): Promise<WholeWorkflow> {
  const found = await workflows.find(id);
  if (found !== undefined) return found;
  const near = nearMatch(id, await workflows.someIds(CANDIDATES));
  throw new AppError(
    "workflow_not_found",
    `There is no workflow "${id.slice(0, 100)}".` +
      (near === undefined
        ? " list_workflows (GET /workflows) shows those that exist."
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

/**
 * Refuses a change that was made from an older version than the present one, so that nobody's edit is lost.
 * @throws AppError version_conflict
 */
export function expectVersion(workflow: WholeWorkflow, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === workflow.version) return;
  throw new AppError(
    "version_conflict",
    `"${workflow.id}" is at version ${workflow.version}, not ${ifMatch === 0 ? "at the one asked for" : ifMatch}: somebody changed it in the meantime. ` +
      "Nothing was changed. Get it again, apply your change to that, and send it with the new version.",
  );
}
