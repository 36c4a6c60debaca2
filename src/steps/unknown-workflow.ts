import type { PartialIssue } from "../core/connections.ts";
import { nearMatch } from "../core/near-match.ts";

/** The issue of a workflow id that does not exist. @param ids existing ids, among which a near match is searched */
export function unknownWorkflow(id: string, ids: readonly string[]): Omit<PartialIssue, "path"> {
  const near = nearMatch(id, ids);
  return {
    code: "unknown_workflow",
    message: `must be the id of a workflow, but there is no workflow ${id}`,
    ...(near !== undefined && { did_you_mean: near }),
    fix:
      near === undefined ? "Create the workflow first, or choose one of list_workflows." : `Write ${near}.`,
  };
}
