/** Applies all fixes of a definition: of errors in the order in which the server found that they help, then of warnings. */
import { send } from "../api/client.ts";
import type { JsonPatchOperation } from "../../../schemas/problem.ts";
import type { Format } from "./format.ts";

/**
 * Returns the fixed text, with its comments.
 * @param workflowId the existing workflow that the text belongs to
 * @throws the error of the request
 */
export async function fixAll(text: string, format: Format, workflowId: string | undefined): Promise<string> {
  const { patchText } = await import("./patch-text.ts");
  const body = {
    definition: text,
    apply_fixes: true,
    ...(workflowId !== undefined && { workflow_id: workflowId }),
  };
  const { data } = await send("post", "/workflows/validate", { body });
  const fixed = (data.applied_fixes ?? []).reduce((done, { patch }) => patchText(done, format, patch), text);
  return warningPatches(data.warnings ?? []).reduce((done, patch) => patchText(done, format, patch), fixed);
}

/** The patches of warnings, the last first: one that removes an item of a list changes the places of the later ones. */
export const warningPatches = (
  warnings: readonly { patch?: readonly JsonPatchOperation[] | undefined }[],
): (readonly JsonPatchOperation[])[] => {
  const patches = warnings.flatMap(({ patch }) => (patch === undefined ? [] : [patch]));
  const unique = new Map(patches.map((patch) => [patch[0]?.path ?? "", patch]));
  return [...unique]
    .toSorted(([a], [b]) => b.localeCompare(a, "en", { numeric: true }))
    .map(([, patch]) => patch);
};
