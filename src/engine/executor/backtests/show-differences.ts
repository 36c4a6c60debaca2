/** Differences as answers show them, with their full paths and short values, and the names of all of them. */
import type { Difference } from "../../../../schemas/difference.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { differenceName } from "../../../../schemas/difference-names.ts";
import { formatPath } from "../../../core/issues.ts";
import { differencesOf } from "../../../core/value-difference.ts";

/** Maximum length of a shown value, in characters of JSON. */
const MAX_SHOWN = 200;
/** Maximum number of differing fields that are shown of a value. */
const MAX_DIFFERENCES = 3;
/** Maximum number of differing places that have names of their own; of more, the whole value has. */
const MAX_NAMED = 20_000;

interface ComparedValues {
  /** The first ones. */
  shown: Difference[];
  /** Names that cover all of them. */
  names: string[];
}

/**
 * @param path of both values, which begins with a key
 * @returns nothing if they are equal
 */
export function compareValues(path: readonly PropertyKey[], before: unknown, after: unknown): ComparedValues {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return { shown: [], names: [] };
  const { differences, total, isComplete } = differencesOf(before, after, { limit: MAX_NAMED });
  // They differ after the part that is compared by field, or in how a number is written.
  const found = differences.length > 0 ? differences : [{ path: [], before, after }];
  const isNamed = isComplete && total <= MAX_NAMED;
  return {
    shown: found.slice(0, MAX_DIFFERENCES).map((place) => {
      const difference: Difference = { path: formatPath([...path, ...place.path]) };
      if ("before" in place) difference.before = shown(place.before);
      if ("after" in place) difference.after = shown(place.after);
      return difference;
    }),
    names: isNamed
      ? [...new Set(found.map((place) => differenceName([...path, ...place.path])))]
      : [differenceName(path)],
  };
}

function shown(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  if (text.length <= MAX_SHOWN) return value;
  const start = typeof value === "string" ? value : text;
  return `${start.slice(0, MAX_SHOWN).toWellFormed()}…`;
}
