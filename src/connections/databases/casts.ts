/** Finds casts in the text of queries. (Child processes load this file.) */

/**
 * Whether a query casts a parameter at each of its places: `CAST(?1 AS TEXT)`, and `$1::TEXT` where that is a cast.
 * @param placeholder such as `?1`
 */
export function isCast(text: string, placeholder: `${"?" | "$"}${number}`): boolean {
  const place = `\\${placeholder}(?!\\d)`;
  const cast = new RegExp(String.raw`\bcast\s*\(\s*${place}\s+as\b|${place}\s*::`, "gi");
  return !new RegExp(place).test(text.replaceAll(cast, ""));
}
