/** Reads inputs that have the listed names, or those of the definition, which agents see both. */
import type { ReadValue } from "../json-schema/index.ts";
import type { Validation } from "../validation.ts";
import type { ListedInputs } from "./list-inputs.ts";

/**
 * @param options.keepsAllowed whether a listed name stays where the inputs allow a field of this name that they do not declare:
 * for callers who may have seen the definition alone
 * @param inputs of a call, as a model wrote them
 * @returns them with the names of the definition; the same object where no name is listed as another
 */
export async function readByNames(
  validation: Pick<Validation, "readInputs">,
  { names, written }: Pick<ListedInputs, "names" | "written">,
  inputs: Record<string, unknown>,
  options: { owner: string; keepsAllowed?: boolean },
): Promise<ReadValue & { value: Record<string, unknown> }> {
  if (names.size === 0) return { value: inputs, issues: [] };
  const otherNames = new Map([...names].map(([name, listed]) => [listed, name]));
  const { value, issues } = await validation.readInputs(written, inputs, otherNames, options);
  return { value: value as Record<string, unknown>, issues };
}
