import { distance } from "fastest-levenshtein";

const LONGEST = 200;

/**
 * The allowed word that was probably meant.
 * @returns the nearest of `allowed`, or undefined where none is within a third of the longer word's letters
 */
export function nearMatch(word: string, allowed: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of allowed) {
    const limit = Math.floor(Math.max(candidate.length, word.length) / 3);
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const edits = editsBetween(wanted, candidate.toLowerCase());
    if (edits <= limit && edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}

/** Letters to change; two neighbours in the wrong order count as one, as the commonest slip of the hand. */
function editsBetween(a: string, b: string): number {
  const edits = distance(a, b);
  return edits === 2 && sorted(a) === sorted(b) ? 1 : edits;
}

const sorted = (word: string): string => Array.from(word).toSorted().join("");
