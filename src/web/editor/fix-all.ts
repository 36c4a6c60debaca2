/** Applies all fixes of a definition, in the order in which the server found that they help. */
import { send } from "../api/client.ts";
import type { Format } from "./format.ts";

/**
 * Returns the fixed text, with its comments.
 * @param workflowId the existing workflow that the text belongs to
 * @throws the error of the request
 */
export async function fixAll(text: string, format: Format, workflowId: string | undefined): Promise<string> {
  const { patchText } = await import("../../../schemas/patch-text.ts");
  const body = {
    definition: text,
    apply_fixes: true,
    ...(workflowId !== undefined && { workflow_id: workflowId }),
  };
  const { data } = await send("post", "/workflows/validate", { body });
  return (data.applied_fixes ?? []).reduce((fixed, { patch }) => patchText(fixed, format, patch), text);
}
