/** Finds steps by what a person remembers of them. */
import { foldText } from "../../../schemas/fold-text.ts";

/** Number of steps from which lists and graphs of steps have a search field. */
export const MIN_SEARCHABLE = 15;

/** The steps whose id, type or status contains the text, which ignores case and accents; all for an empty text. */
export function findSteps<T extends { id: string; type: string; status?: string }>(
  steps: readonly T[],
  text: string,
): T[] {
  const query = foldText(text.trim());
  return steps.filter(({ id, type, status = "" }) => foldText(`${id} ${type} ${status}`).includes(query));
}
