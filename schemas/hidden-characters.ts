/**
 * Characters that people don't see but models and terminals read: control, format and tag characters, direction marks,
 * characters of zero width, private and unassigned ones. They could hide instructions in a name or a description.
 */

import { isOneEmoji, JOINED_EMOJI, VISIBLE_JOINER } from "./visible-joiners.ts";

const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]`;
/** Format characters with an effect that people see: joiners, and the tags of the flags of England, Scotland and Wales. */
const SEEN = String.raw`${VISIBLE_JOINER}|\p{RGI_Emoji_Tag_Sequence}`;

/** Whether a text is one line, or may have several. */
export type TextKind = "line" | "lines";

/** Each match without a group is a hidden character; joiners of the second one are hidden unless it is one emoji. */
const CHARACTERS = {
  line: new RegExp(`(${SEEN})|(${JOINED_EMOJI})|${HIDDEN}`, "gv"),
  // Without tabs and line breaks.
  lines: new RegExp(String.raw`(${SEEN})|(${JOINED_EMOJI})|\r(?!\n)|[${HIDDEN}--[\t\n\r]]`, "gv"),
} as const satisfies Record<TextKind, RegExp>;
const JOINER = "\u200D";
/** Texts without any other characters need no further search. */
const PLAIN = /^[\x20-\x7E]*$/;

/** The first hidden character, and its place. */
function findHidden(text: string, kind: TextKind): { name: string; index: number } | undefined {
  if (PLAIN.test(text)) return undefined;
  for (const { 0: found, 1: seen, 2: joined, index } of text.matchAll(CHARACTERS[kind])) {
    if (seen !== undefined) continue;
    if (joined === undefined) return { name: codePointName(found), index };
    if (!isOneEmoji(joined)) return { name: codePointName(JOINER), index: index + joined.indexOf(JOINER) };
  }
  return undefined;
}

/** The first hidden character as `U+200B`; undefined when there is none. */
export const findHiddenCharacter = (text: string, kind: TextKind): string | undefined =>
  findHidden(text, kind)?.name;

/** The first hidden character and its place, as `U+200B at character 7`; undefined when there is none. */
export function describeHiddenCharacter(text: string, kind: TextKind): string | undefined {
  const found = findHidden(text, kind);
  return found && `${found.name} at character ${Array.from(text.slice(0, found.index)).length + 1}`;
}

/** The text without hidden characters. In one line, white space characters become spaces. */
export function removeHiddenCharacters(text: string, kind: TextKind): string {
  const oneLine = kind === "line" ? text.replaceAll(/[\t\n\v\f\r\u0085\u2028\u2029]+/gu, " ") : text;
  return replaceHidden(oneLine, kind, () => "");
}

const replaceHidden = (text: string, kind: TextKind, replace: (hidden: string) => string): string =>
  text.replaceAll(CHARACTERS[kind], (found, seen: string | undefined, joined: string | undefined) => {
    if (seen !== undefined) return seen;
    if (joined === undefined) return replace(found);
    return isOneEmoji(joined) ? joined : joined.replaceAll(JOINER, replace);
  });

/** The text with hidden characters written as `\u{200b}`, for texts that were stored before these were refused. */
export const visibleText = (text: string): string =>
  PLAIN.test(text)
    ? text
    : replaceHidden(text, "lines", (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);

/** The text with another character in place of each hidden one. */
export const replaceHiddenCharacters = (text: string, replacement: string): string =>
  replaceHidden(text, "line", () => replacement);

/** A JSON value with every key and text as `visibleText` writes it. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [visibleText(key), visibleJson(inner)]),
  );
}

/** The name of a character, such as `U+200B`. */
export const codePointName = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
