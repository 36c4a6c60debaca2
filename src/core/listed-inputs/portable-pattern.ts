/**
 * Writes a pattern of a workflow (RE2 syntax) so that JavaScript (with and without the flag `u`) and Python compile it: clients
 * compile the patterns of a list of tools as JavaScript does, and OpenAI as Python does.
 */

/** A token outside of classes, and what it is for both; undefined where it has no exact form, or none at all. */
type Rule = readonly [token: RegExp, write: (token: string) => string | undefined];

const asWritten = (token: string): string => token;
const escaped = (token: string): string => `\\${token}`;

/** The sets of RE2, for a class: `\s` of JavaScript has more, and all of them have more in Python. */
const SPACES = String.raw`\t\n\f\r `;
const DIGITS = "0-9";
const WORD_CHARACTERS = "0-9A-Za-z_";
/** Characters that may be escaped in both, outside of classes and inside. */
const SYNTAX = "^$\\.*+?()[]{}|/";
const CLASS_SYNTAX = `${SYNTAX}-`;
/** A character that is one unit of UTF-16 and no surrogate: JavaScript without `u` splits others. */
const LITERAL = /[^\uD800-\uDFFF]/y;
/** A punctuation character that is escaped, which RE2 takes for any of them. */
const ESCAPED_PUNCTUATION = /\\[!-/:-@[-`{-~ ]/y;
const ESCAPED_CHARACTER = /\\[fnrtv]|\\x[0-9a-fA-F]{2}/y;

const unescaped =
  (syntax: string) =>
  (token: string): string =>
    syntax.includes(token[1]!) ? token : token[1]!;

const RULES: readonly Rule[] = [
  [/\\A/y, () => "^"],
  [/\\z/y, () => "$"],
  [/\\d/y, () => `[${DIGITS}]`],
  [/\\D/y, () => `[^${DIGITS}]`],
  [/\\w/y, () => `[${WORD_CHARACTERS}]`],
  [/\\W/y, () => `[^${WORD_CHARACTERS}]`],
  [/\\s/y, () => `[${SPACES}]`],
  [/\\S/y, () => `[^${SPACES}]`],
  [ESCAPED_CHARACTER, asWritten],
  [ESCAPED_PUNCTUATION, unescaped(SYNTAX)],
  [/\\/y, () => undefined],
  // The dot of JavaScript leaves out further ends of lines.
  [/\./y, () => String.raw`[^\n]`],
  [/\(\?P?<\w+>/y, () => "("],
  [/\(\?:/y, asWritten],
  [/\(\?/y, () => undefined],
  [/\{\d+(?:,\d*)?\}/y, asWritten],
  [/[{}\]]/y, escaped],
  [LITERAL, asWritten],
];

const CLASS_CHARACTERS: readonly Rule[] = [
  [ESCAPED_CHARACTER, asWritten],
  [ESCAPED_PUNCTUATION, unescaped(CLASS_SYNTAX)],
  [/\\|\[:/y, () => undefined],
  [/[-[\]^]/y, escaped],
  [LITERAL, asWritten],
];
const CLASS_SETS: readonly Rule[] = [
  [/\\d/y, () => DIGITS],
  [/\\w/y, () => WORD_CHARACTERS],
  [/\\s/y, () => SPACES],
];

interface Reader {
  pattern: string;
  at: number;
}

/**
 * @param pattern one that RE2 compiles
 * @returns a pattern that matches the same texts (JavaScript without the flag `u` counts a character beyond U+FFFF as two); undefined
 *   where there is none in the syntax of both, such as for flags, classes of Unicode, and the ends of words, which Python has elsewhere
 */
export function portablePattern(pattern: string): string | undefined {
  const reader: Reader = { pattern, at: 0 };
  let written = "";
  while (reader.at < pattern.length) {
    const part = pattern[reader.at] === "[" ? readClass(reader) : readToken(reader, RULES);
    if (part === undefined) return undefined;
    written += part;
  }
  return compiles(written) ? written : undefined;
}

function readToken(reader: Reader, rules: readonly Rule[]): string | undefined {
  for (const [token, write] of rules) {
    token.lastIndex = reader.at;
    const found = token.exec(reader.pattern)?.[0];
    if (found === undefined) continue;
    reader.at += found.length;
    return write(found);
  }
  return undefined;
}

const isNext = ({ pattern, at }: Reader, text: string): boolean => pattern.startsWith(text, at);

function readClass(reader: Reader): string | undefined {
  let written = isNext(reader, "[^") ? "[^" : "[";
  reader.at += written.length;
  // A bracket at the beginning is a character of the class.
  for (let isFirst = true; isFirst || !isNext(reader, "]"); isFirst = false) {
    const part = readToken(reader, CLASS_SETS) ?? readRange(reader);
    if (part === undefined) return undefined;
    written += part;
  }
  reader.at += 1;
  return `${written}]`;
}

function readRange(reader: Reader): string | undefined {
  const first = readToken(reader, CLASS_CHARACTERS);
  if (first === undefined || !isNext(reader, "-") || isNext(reader, "-]")) return first;
  reader.at += 1;
  const last = readToken(reader, CLASS_CHARACTERS);
  return last === undefined ? undefined : `${first}-${last}`;
}

function compiles(pattern: string): boolean {
  try {
    return [new RegExp(pattern), new RegExp(pattern, "u")].length > 0;
  } catch {
    return false;
  }
}
