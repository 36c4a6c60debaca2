/** How texts are compared: whatever their case, and however their accents are written. The web interface uses it too. */

export const isAscii = (text: string): boolean => /^[\0-\x7F]*$/.test(text);

/** Characters without a form of their own, such as joiners: `NFKC_Casefold` of Unicode leaves them out too. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
/** Cherokee is the one script that Unicode folds to its capitals; here they change too, so that both cases become small letters. */
const FOLDED = /[\p{Changes_When_Casefolded}\u13A0-\u13F5]/gu;

/** Full case folding of a character: ß and ẞ become ss. On its own, so that Σ never becomes the ς of the end of a word. */
const foldCharacter = (character: string): string => character.toLowerCase().toUpperCase().toLowerCase();

/**
 * The text by which texts are compared and searched: canonical caseless matching (Unicode, D145), in NFC. Texts are stored and
 * shown as they were written.
 */
export const foldText = (text: string): string =>
  isAscii(text)
    ? text.toLowerCase()
    : text.normalize("NFD").replaceAll(IGNORED, "").replaceAll(FOLDED, foldCharacter).normalize("NFC");

/** Whether two texts differ at most in case and in how their accents are written. */
export const isSameText = (a: string, b: string): boolean => foldText(a) === foldText(b);

/** The distinct words of a search, folded. */
export const searchTerms = (search: string): string[] => [
  ...new Set(search.split(/\s+/).map(foldText).filter(Boolean)),
];
