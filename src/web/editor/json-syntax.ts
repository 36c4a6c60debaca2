/**
 * The first fault of a JSON text, with its place and in words: `JSON.parse` says either differently in each browser,
 * and often not where. A key that stands twice is a fault too: one of its values would be lost.
 */
import type { EditorIssue } from "./format.ts";

class Slip extends Error {
  readonly offset: number;
  readonly fix: string | undefined;
  constructor(message: string, offset: number, fix?: string) {
    super(message);
    this.offset = offset;
    this.fix = fix;
  }
}

const DEEPEST = 200;
const STRING = /"(?:[^"\\\n\r]|\\.)*"/y;
const LITERAL = /-?\d[\d.eE+-]*|[A-Za-z_$][\w$]*/y;
const BAD_CONTROL = /\p{Cc}/u;

/** @returns undefined where the text is JSON */
export function jsonIssue(text: string): EditorIssue | undefined {
  try {
    const end = space(text, value(text, space(text, 0), 0));
    if (end < text.length)
      throw new Slip("goes on after its end", end, "One object is all that may stand here.");
    return undefined;
  } catch (error) {
    if (!(error instanceof Slip)) throw error;
    const before = text.slice(0, error.offset);
    return {
      message: `JSON can't be read here: ${error.message}`,
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
    throw new Slip("JSON has no comments", at, "Write it as YAML, or leave the comment out.");
  return at;
}

/** @returns the offset after the value that begins at `from` */
function value(text: string, from: number, depth: number): number {
  const first = text[from];
  if (depth > DEEPEST) throw new Slip("is nested too deeply", from);
  if (first === "{") return items(text, from, "}", (at, keys) => pair(text, at, keys, depth));
  if (first === "[") return items(text, from, "]", (at) => value(text, at, depth + 1));
  if (first === '"') return string(text, from);
  if (first === "'") throw new Slip("text stands between double quotes", from, "Write \" in place of '.");
  if (first === undefined) throw new Slip("the text ends too early", from, "Close what is open.");
  LITERAL.lastIndex = from;
  const word = LITERAL.exec(text)?.[0];
  if (word === undefined) throw new Slip(`a value is missing before ${first}`, from);
  if (!isJson(word)) throw new Slip(`${word} is no value`, from, 'Text stands between double quotes: "…".');
  return from + word.length;
}

/** What stands between brackets, with commas between. */
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
      throw new Slip(
        `a ${close} is missing`,
        text.length,
        `What is opened here in line ${lineOf(text, from)} is never closed.`,
      );
    if (text[at] !== ",") throw new Slip("a comma is missing", end, `Put a comma, or close with ${close}.`);
    const comma = at;
    at = space(text, at + 1);
    if (text[at] === close) throw new Slip(`a comma stands before ${close}`, comma, "Leave the comma out.");
  }
}

function pair(text: string, from: number, keys: Set<string>, depth: number): number {
  if (text[from] !== '"')
    throw new Slip("a key is missing, or has no double quotes", from, 'Write it as "key": value.');
  const end = string(text, from);
  const key = JSON.parse(text.slice(from, end)) as string;
  if (keys.has(key)) throw new Slip(`${key} stands here twice`, from, "Leave one of them out.");
  keys.add(key);
  const colon = space(text, end);
  if (text[colon] !== ":") throw new Slip(`a colon is missing after ${key}`, end, `Write "${key}": value.`);
  return value(text, space(text, colon + 1), depth + 1);
}

function string(text: string, from: number): number {
  STRING.lastIndex = from;
  const found = STRING.exec(text)?.[0];
  if (found === undefined)
    throw new Slip(
      "text is not closed",
      from,
      'It ends with ", in the same line; a line break in it is \\n.',
    );
  if (isJson(found)) return from + found.length;
  const control = found.search(BAD_CONTROL);
  if (control >= 0)
    throw new Slip("a control character stands in the text", from + control, "A tab is written \\t.");
  throw new Slip("a backslash begins nothing that JSON knows", from, "A backslash itself is \\\\.");
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
