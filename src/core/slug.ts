import slugify from "@sindresorhus/slugify";

/** A small letter or digit before a capitalised word, as in weeklyRevenue. */
const HUMP = /(?<=[a-z\d])(?=[A-Z][a-z])/g;

/**
 * Makes an id of a name: lower-case words with hyphens. A name that is one word, such as weeklyRevenue, is split at its
 * capitals; in others capitals belong to names such as MySQL.
 * @param maxLength in characters
 * @returns empty for a name without letters and digits
 */
export function slugOf(name: string, maxLength: number): string {
  const words = /\s/.test(name.trim()) ? name : name.replace(HUMP, " ");
  return slugify(words, { decamelize: false }).slice(0, maxLength).replace(/-+$/, "");
}
