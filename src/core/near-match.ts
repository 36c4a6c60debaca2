import { distance } from "fastest-levenshtein";
import { foldText } from "../../schemas/fold-text.ts";

/** Maximum length of a word to compare, in characters. */
const MAX_LENGTH = 200;

/**
 * Finds the allowed word that a misspelt word probably means.
 * @returns the nearest of `allowed`, or undefined when none differs in at most a third of the longer word's letters
 */
export function nearMatch(word: string, allowed: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const folded = foldText(word);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of allowed) {
    const limit = Math.floor(Math.max(candidate.length, word.length) / 3);
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const edits = editDistance(folded, foldText(candidate));
    if (edits <= limit && edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}

/** The number of letters to change; two swapped letters, the most frequent typing error, count as one. */
function editDistance(a: string, b: string): number {
  const edits = distance(a, b);
  return edits === 2 && sorted(a) === sorted(b) ? 1 : edits;
}

const sorted = (word: string): string => Array.from(word).toSorted().join("");
