/**
 * Finds the first syntax error of a JSON text, with line and column: the messages of `JSON.parse` differ between
 * browsers and often name no position. A duplicate key is an error too, since one of its values would be lost.
 */
import * as texts from "#texts/editor";
import type { EditorIssue } from "./format.ts";

class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly fix: string | undefined;
  constructor(message: string, offset: number, fix?: string) {
    super(message);
    this.offset = offset;
    this.fix = fix;
  }
}

const MAX_DEPTH = 200;
const STRING = /"(?:[^"\\\n\r]|\\.)*"/y;
const LITERAL = /-?\d[\d.eE+-]*|[A-Za-z_$][\w$]*/y;
const BAD_CONTROL = /\p{Cc}/u;

/** @returns undefined when the text is valid JSON */
export function jsonIssue(text: string): EditorIssue | undefined {
  try {
    const end = space(text, value(text, space(text, 0), 0));
    if (end < text.length) throw new JsonSyntaxError(texts.textAfterEnd, end, texts.keepOneObject);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const before = text.slice(0, error.offset);
    return {
      message: texts.invalidJson({ problem: error.message }),
      ...(error.fix !== undefined && { fix: error.fix }),
      path: "",
      line: before.split("\n").length,
      column: error.offset - before.lastIndexOf("\n"),
      severity: "error",
    };
  }
}

function space(text: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(text[at] ?? "x")) at += 1;
  if (text.startsWith("//", at) || text.startsWith("/*", at) || text[at] === "#")
    throw new JsonSyntaxError(texts.noComments, at, texts.switchToYaml);
  return at;
}

/** @returns the offset after the value that begins at `from` */
function value(text: string, from: number, depth: number): number {
  const first = text[from];
  if (depth > MAX_DEPTH)
    throw new JsonSyntaxError(texts.tooDeep({ max: MAX_DEPTH }), from, texts.flattenValue);
  if (first === "{") return items(text, from, "}", (at, keys) => pair(text, at, keys, depth));
  if (first === "[") return items(text, from, "]", (at) => value(text, at, depth + 1));
  if (first === '"') return string(text, from);
  if (first === "'") throw new JsonSyntaxError(texts.needsDoubleQuotes, from, texts.replaceSingleQuotes);
  if (first === undefined) throw new JsonSyntaxError(texts.unexpectedEnd, from, texts.closeBrackets);
  LITERAL.lastIndex = from;
  const word = LITERAL.exec(text)?.[0];
  if (word === undefined) throw new JsonSyntaxError(texts.valueMissing({ found: first }), from);
  if (!isJson(word)) throw new JsonSyntaxError(texts.notJsonValue({ word }), from, texts.quoteText);
  return from + word.length;
}

/** Reads the items between brackets, with commas between them. */
function items(
  text: string,
  from: number,
  close: "}" | "]",
  item: (at: number, keys: Set<string>) => number,
): number {
  const keys = new Set<string>();
  let at = space(text, from + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    const end = item(at, keys);
    at = space(text, end);
    if (text[at] === close) return at + 1;
    if (text[at] === undefined)
      throw new JsonSyntaxError(
        texts.bracketMissing({ bracket: close }),
        text.length,
        texts.closeBracketOfLine({ line: lineOf(text, from) }),
      );
    if (text[at] !== ",")
      throw new JsonSyntaxError(texts.commaMissing, end, texts.addComma({ bracket: close }));
    const comma = at;
    at = space(text, at + 1);
    if (text[at] === close)
      throw new JsonSyntaxError(texts.trailingComma({ bracket: close }), comma, texts.deleteComma);
  }
}

function pair(text: string, from: number, keys: Set<string>, depth: number): number {
  if (text[from] !== '"')
    throw new JsonSyntaxError(texts.keyExpected, from, texts.writeKeyAs({ code: '"key": value' }));
  const end = string(text, from);
  const key = JSON.parse(text.slice(from, end)) as string;
  if (keys.has(key)) throw new JsonSyntaxError(texts.duplicateKey({ key }), from, texts.deleteOneOfTwo);
  keys.add(key);
  const colon = space(text, end);
  if (text[colon] !== ":")
    throw new JsonSyntaxError(
      texts.colonMissing({ key }),
      end,
      texts.writeColon({ code: `"${key}": value` }),
    );
  return value(text, space(text, colon + 1), depth + 1);
}

function string(text: string, from: number): number {
  STRING.lastIndex = from;
  const found = STRING.exec(text)?.[0];
  if (found === undefined)
    throw new JsonSyntaxError(texts.unterminatedString, from, texts.endString({ quote: '"' }));
  if (isJson(found)) return from + found.length;
  const control = found.search(BAD_CONTROL);
  if (control >= 0) throw new JsonSyntaxError(texts.controlCharacter, from + control, texts.writeTab);
  throw new JsonSyntaxError(texts.invalidEscape, from, texts.writeBackslash);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;
