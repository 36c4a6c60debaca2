import slugify from "@sindresorhus/slugify";
import anyAscii from "any-ascii";

/** A small letter or digit before a capitalised word, as in weeklyRevenue. */
const HUMP = /(?<=[a-z\d])(?=[A-Z][a-z])/g;

const OTHER_SCRIPTS = String.raw`\u30FC[[\p{L}\p{N}\p{M}]--[\p{ASCII}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]]`;
/**
 * Letters and digits of scripts of which `slugify` knows none, such as Chinese, Thai and Hebrew, and the long vowel of Japanese, with
 * the marks and joiners among them. Those after other letters are left to `slugify`.
 */
const OTHER_LETTERS = new RegExp(
  String.raw`[${OTHER_SCRIPTS}][${OTHER_SCRIPTS}\p{Script=Inherited}\u200C\u200D]*`,
  "gv",
);

/**
 * Makes an id of a name: lower-case words with hyphens. A name that is one word, such as weeklyRevenue, is split at its
 * capitals; in others capitals belong to names such as MySQL.
 * @param maxLength in characters
 * @returns empty for a name without letters, digits and emoji
 */
export function slugOf(name: string, maxLength: number): string {
  const composed = name.normalize("NFC");
  const words = /\s/.test(composed.trim()) ? composed : composed.replace(HUMP, " ");
  const known = words.replaceAll(OTHER_LETTERS, (letters) =>
    slugify(letters) === "" ? ascii(letters) : letters,
  );
  const slug = slugify(known, { decamelize: false }) || slugify(ascii(composed));
  return slug.slice(0, maxLength).replace(/-+$/, "");
}

/** The words of a text in ASCII. Apostrophes are letters of other scripts, such as the Hebrew ayin, and no ends of words. */
const ascii = (text: string): string => ` ${anyAscii(text).replaceAll(/['`]/g, "").replace(HUMP, " ")} `;
