/** Differences as answers show them: with their full paths, and with short values. */
import type { Difference } from "../../../../schemas/difference.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { formatPath } from "../../../core/issues.ts";
import { differencesOf } from "../../../core/value-difference.ts";

/** Maximum length of a shown value, in characters of JSON. */
const MAX_SHOWN = 200;

/**
 * @param path of both values
 * @param limit maximum number of differences
 * @returns none if they are equal
 */
export function shownDifferences(
  path: readonly PropertyKey[],
  before: unknown,
  after: unknown,
  limit: number,
): Difference[] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  const { differences } = differencesOf(before, after, { limit });
  // They differ after the part that is compared by field, or in how a number is written.
  const found = differences.length > 0 ? differences : [{ path: [], before, after }];
  return found.map((place) => {
    const difference: Difference = { path: formatPath([...path, ...place.path]) };
    if ("before" in place) difference.before = shown(place.before);
    if ("after" in place) difference.after = shown(place.after);
    return difference;
  });
}

function shown(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  if (text.length <= MAX_SHOWN) return value;
  const start = typeof value === "string" ? value : text;
  return `${start.slice(0, MAX_SHOWN).toWellFormed()}…`;
}
