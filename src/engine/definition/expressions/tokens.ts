/** Splits the source of an expression into the tokens of CEL. */
import { readNumber } from "../../../../schemas/long-numbers.ts";

/** Why a source does not parse. */
export interface SyntaxFailure {
  kind: "too_deep" | "unexpected" | "expected" | "newline_in_string" | "unclosed_string" | "other";
  /** Offsets of the source text that does not parse, in UTF-16 units. */
  start: number;
  end: number;
  /** With `expected`: the missing token. */
  token?: string;
  /** A sentence without its period. */
  summary: string;
}

export class SyntaxProblem extends Error {
  readonly failure: SyntaxFailure;
  constructor(failure: SyntaxFailure) {
    super(failure.summary);
    this.failure = failure;
  }
}

/** @throws SyntaxProblem */
export function fail(
  kind: SyntaxFailure["kind"],
  start: number,
  end: number,
  summary: string,
  token?: string,
): never {
  throw new SyntaxProblem({ kind, start, end, summary, ...(token !== undefined && { token }) });
}

export type Token = { start: number; end: number } & (
  | { kind: "end" }
  /** Also the words `true`, `false`, `null` and `in`: what they mean depends on the place. */
  | { kind: "word"; text: string }
  /** A field name in back quotes. */
  | { kind: "quoted_name"; text: string }
  | { kind: "operator"; text: string }
  /** A double as number, an integer as bigint, a string, or bytes. */
  | { kind: "literal"; value: number | bigint | string | Uint8Array }
  /** A decimal that a double can't hold. */
  | { kind: "long_decimal"; text: string }
);

const BLANK = /(?:[ \t\n\r\f]|\/\/[^\n]*)*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED_NAME = /`([A-Za-z0-9_.\-/ ]+)`/y;
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?/y;
const QUOTE = /([rRbB]?)("""|'''|"|')/y;
const OPERATOR = /\?\?|[=!<>]=|&&|\|\||[-+*/%<>!()[\]{}.,:?]/y;

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(source);
}

/**
 * Reads the token that begins at an offset, after blanks and comments.
 * @throws SyntaxProblem
 */
export function readToken(source: string, offset: number): Token {
  const start = offset + matchAt(BLANK, source, offset)![0].length;
  if (start >= source.length) return { kind: "end", start, end: start };
  const quote = matchAt(QUOTE, source, start);
  if (quote !== null) return readString(source, start, quote[1]!, quote[2]!);
  const number = matchAt(NUMBER, source, start)?.[0];
  if (number !== undefined) {
    const [value, end] = [numberOf(number, start), start + number.length];
    return typeof value === "string"
      ? { kind: "long_decimal", text: value, start, end }
      : { kind: "literal", value, start, end };
  }
  const word = matchAt(WORD, source, start)?.[0];
  if (word !== undefined) return { kind: "word", text: word, start, end: start + word.length };
  const operator = matchAt(OPERATOR, source, start)?.[0];
  if (operator !== undefined)
    return { kind: "operator", text: operator, start, end: start + operator.length };
  const name = matchAt(QUOTED_NAME, source, start);
  if (name !== null) return { kind: "quoted_name", text: name[1]!, start, end: start + name[0].length };
  const character = String.fromCodePoint(source.codePointAt(start)!);
  return fail("unexpected", start, start + character.length, `Unexpected ${character}`);
}

/** @returns text for a decimal that a double can't hold */
function numberOf(text: string, start: number): number | bigint | string {
  const isInteger = /^(?:0[xX].*|\d+[uU]?)$/.test(text);
  if (isInteger) return BigInt(text.replace(/[uU]$/, ""));
  return (
    readNumber(text.replace(/^(?=\.)/, "0").replace(/^0+(?=\d)/, "")) ??
    fail("other", start, start + text.length, `${text} is too large for a number`)
  );
}

function readString(source: string, start: number, prefix: string, quote: string): Token {
  const from = start + prefix.length + quote.length;
  const to = closingQuote(source, start, from, quote);
  const raw = source.slice(from, to);
  const end = to + quote.length;
  if (prefix === "r" || prefix === "R") return { kind: "literal", value: raw, start, end };
  const isBytes = prefix !== "";
  const value = raw.includes("\\") ? unescape(raw, from, isBytes) : raw;
  return { kind: "literal", value: isBytes ? Buffer.from(value, "latin1") : value, start, end };
}

function closingQuote(source: string, start: number, from: number, quote: string): number {
  const isLong = quote.length === 3;
  for (let at = from; at < source.length; at += 1) {
    const letter = source[at]!;
    if (letter === "\\") at += 1;
    else if (source.startsWith(quote, at)) return at;
    else if (!isLong && (letter === "\n" || letter === "\r"))
      return fail(
        "newline_in_string",
        at,
        at + 1,
        "Text in single or double quotes must not contain a line break",
      );
  }
  return fail(
    "unclosed_string",
    start,
    source.length,
    `The text that begins here lacks its closing ${quote}`,
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\",
  "?": "?",
  '"': '"',
  "'": "'",
  "`": "`",
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The numeric escapes: their form, and the base of their digits. */
const NUMERIC_ESCAPES: readonly { form: RegExp; base: number }[] = [
  { form: /\\[xX]([0-9a-fA-F]{2})/y, base: 16 },
  { form: /\\u([0-9a-fA-F]{4})/y, base: 16 },
  { form: /\\U([0-9a-fA-F]{8})/y, base: 16 },
  { form: /\\([0-3][0-7]{2})/y, base: 8 },
];

/** @param offset where `raw` begins in the source, for errors */
function unescape(raw: string, offset: number, isBytes: boolean): string {
  let text = "";
  let at = 0;
  while (at < raw.length) {
    const letter = raw[at]!;
    const escape = raw[at + 1];
    if (letter !== "\\" || escape === undefined) {
      text += letter;
      at += 1;
    } else if (Object.hasOwn(ESCAPES, escape)) {
      text += ESCAPES[escape]!;
      at += 2;
    } else {
      const { character, length } = numericEscape(raw, at, offset, isBytes);
      text += character;
      at += length;
    }
  }
  return text;
}

function numericEscape(
  raw: string,
  at: number,
  offset: number,
  isBytes: boolean,
): { character: string; length: number } {
  for (const { form, base } of NUMERIC_ESCAPES) {
    const match = matchAt(form, raw, at);
    if (match === null) continue;
    const code = Number.parseInt(match[1]!, base);
    const isAllowed = isBytes ? code <= 0xff : code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    if (isAllowed) return { character: String.fromCodePoint(code), length: match[0].length };
  }
  const start = offset + at;
  return fail(
    "other",
    start,
    start + 2,
    `The text contains the unknown escape ${raw.slice(at, at + 2)}: write \\\\ for a backslash`,
  );
}
