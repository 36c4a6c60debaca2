/**
 * Characters that people don't see but models and terminals read: control, format and tag characters, direction marks,
 * characters of zero width, private and unassigned ones. They could hide instructions in a name or a description.
 */

// The two variation selectors that choose between the text and the emoji form of a character are allowed.
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]--[\uFE0E\uFE0F]]/v;
/** As `HIDDEN`, without tabs and line breaks. */
const HIDDEN_IN_LINES =
  /\r(?!\n)|[[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]--[\uFE0E\uFE0F\t\n\r]]/v;

/** Whether a text is one line, or may have several. */
export type TextKind = "line" | "lines";

const ALL = {
  line: new RegExp(HIDDEN, "gv"),
  lines: new RegExp(HIDDEN_IN_LINES, "gv"),
} as const satisfies Record<TextKind, RegExp>;
/** Texts without any other characters need no further search. */
const PLAIN = /^[\x20-\x7E]*$/;

/** The first hidden character as `U+200B`; undefined when there is none. */
export function findHiddenCharacter(text: string, kind: TextKind): string | undefined {
  const found = (kind === "line" ? HIDDEN : HIDDEN_IN_LINES).exec(text)?.[0];
  return found === undefined ? undefined : codePointName(found);
}

/** The text without hidden characters. In one line, white space characters become spaces. */
export function removeHiddenCharacters(text: string, kind: TextKind): string {
  const oneLine = kind === "line" ? text.replaceAll(/[\t\n\v\f\r\u0085\u2028\u2029]+/gu, " ") : text;
  return oneLine.replaceAll(ALL[kind], "");
}

/** The text with hidden characters written as `\u{200b}`, for texts that were stored before these were refused. */
export const visibleText = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text.replaceAll(ALL.lines, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);

/** The text with another character in place of each hidden one. */
export const replaceHiddenCharacters = (text: string, replacement: string): string =>
  text.replaceAll(ALL.line, replacement);

/** A JSON value with every key and text as `visibleText` writes it. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [visibleText(key), visibleJson(inner)]),
  );
}

const codePointName = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
