import { distance } from "fastest-levenshtein";

/**
 * The allowed word that was probably meant.
 * @returns the nearest of `allowed`, or undefined where none is within a third of the length (at least 2 edits)
 */
export function nearMatch(word: string, allowed: Iterable<string>): string | undefined {
  if (word.length > 200) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of allowed) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const edits = distance(wanted, candidate.toLowerCase());
    if (edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  // Replacing nearly every letter of a short word is no near match.
  return best !== undefined && bestDistance < wanted.length ? best : undefined;
}
