/** Finds casts in the text of queries. (Child processes load this file.) */

/**
 * The parameters that a query does not cast at each of their places: `CAST(?1 AS TEXT)`, and `$1::TEXT` where that is a cast.
 * @param mark of its placeholders
 * @returns their numbers, from 1 on
 */
export function uncastParameters(text: string, mark: "?" | "$"): ReadonlySet<number> {
  const place = `\\${mark}(\\d+)`;
  const cast = new RegExp(String.raw`\bcast\s*\(\s*${place}\s+as\b|${place}\s*::`, "gi");
  const others = text.replaceAll(cast, "").matchAll(new RegExp(place, "g"));
  return new Set(Array.from(others, ([, number]) => Number(number)));
}
