import slugify from "@sindresorhus/slugify";
import anyAscii from "any-ascii";

/** A small letter or digit before a capitalised word, as in weeklyRevenue. */
const HUMP = /(?<=[a-z\d])(?=[A-Z][a-z])/g;

/** Scripts that slugify writes in Latin letters by itself, as their readers expect it: ü as ue. */
const KNOWN_SCRIPTS = ["Latin", "Cyrillic", "Greek", "Arabic", "Armenian", "Georgian", "Common"];
/** Letters of other scripts with their marks; those of one script that is written without spaces are a word. */
const OTHER_LETTERS = new RegExp(
  [
    String.raw`\p{Script=Han}+`,
    String.raw`[\p{Script=Hiragana}\p{Script=Katakana}ー]+`,
    String.raw`(?:(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}${KNOWN_SCRIPTS.map(
      (script) => String.raw`|\p{Script=${script}}`,
    ).join("")})[\p{L}\p{M}\p{N}])+`,
  ].join("|"),
  "gu",
);
const HAN = /^\p{Script=Han}/u;
/** Signs that stand for sounds in a transliteration. */
const SOUND_SIGNS = /['`]/g;

/**
 * Makes an id of a name: lower-case words with hyphens. A name that is one word, such as weeklyRevenue, is split at its
 * capitals; in others capitals belong to names such as MySQL. Names in other scripts are written in Latin letters, Chinese
 * characters by their Mandarin reading: 北京 becomes bei-jing.
 * @param maxLength in characters
 * @returns empty for a name without letters and digits
 */
export function slugOf(name: string, maxLength: number): string {
  const words = /\s/.test(name.trim()) ? name : name.replace(HUMP, " ");
  const latin = words.normalize("NFC").replace(OTHER_LETTERS, inLatinLetters);
  return slugify(latin, { decamelize: false }).slice(0, maxLength).replace(/-+$/, "");
}

/**
 * Every Chinese character is a word. A word in Hangul, whose syllables are capitalised too, stays one word.
 * @param letters of one script
 */
function inLatinLetters(letters: string): string {
  const latin = anyAscii(letters).replace(SOUND_SIGNS, "");
  return ` ${HAN.test(letters) ? latin.replace(HUMP, " ") : latin.toLowerCase()} `;
}
