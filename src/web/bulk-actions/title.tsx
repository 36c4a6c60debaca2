/** What a bulk action does, with the name of the workflow if it is one: "Retry of 40 runs of Weekly revenue". */
import type { BulkAction } from "../../../schemas/bulk-action.ts";
import { useWorkflowText, WorkflowName } from "../workflows/names.tsx";
import { titleOf } from "./texts.ts";

type Titled = Pick<BulkAction, "action" | "runs" | "workflow_id">;

export const BulkActionTitle = ({ bulkAction }: { bulkAction: Titled }) => (
  <>
    {titleOf(bulkAction)}
    {bulkAction.workflow_id !== null && (
      <>
        {" of "}
        <WorkflowName id={bulkAction.workflow_id} />
      </>
    )}
  </>
);

/** The same as text; "Bulk action" until it is loaded. */
export function useBulkActionText(bulkAction: Titled | undefined): string {
  const name = useWorkflowText(bulkAction?.workflow_id ?? null);
  if (bulkAction === undefined) return "Bulk action";
  return `${titleOf(bulkAction)}${bulkAction.workflow_id === null ? "" : ` of ${name}`}`;
}
