/** Applies the JSON Patch of a fix to the text of a definition. Comments and the form of everything else stay. */
import { parseDocument } from "yaml";
import { applyOperation, keepScalars, YAML_OPTIONS } from "./patch-document.ts";
import type { JsonPatchOperation } from "./problem.ts";
import { rewriteYaml } from "./yaml-rewrite.ts";

/**
 * Returns the changed text.
 * @throws Error if a place of the patch does not exist in the text
 */
export function patchText(
  text: string,
  format: "yaml" | "json",
  patch: readonly JsonPatchOperation[],
): string {
  const document = parseDocument(text, YAML_OPTIONS);
  const restore = keepScalars(document, text);
  const before: unknown = document.toJS();
  for (const operation of patch) applyOperation(document, operation);
  const after: unknown = document.toJS();
  return restore(
    format === "json" ? `${JSON.stringify(after, null, 2)}\n` : rewriteYaml(text, before, after),
  );
}
