/**
 * Finds the path under the cursor in an unfinished text: the word under the cursor is replaced by a marker, a parser
 * that recovers from errors reads the text, and the marker is searched in the result. JSON is YAML too, so one parser
 * reads both.
 */
import { type Document, isMap, isPair, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import type { Format } from "./format.ts";
import type { Path } from "./path.ts";

export interface CursorContext {
  /** `text`: within a longer string. */
  role: "key" | "value" | "text";
  /** For a key, the path of the object that contains it; otherwise the path of the value. */
  path: Path;
  /** The key is the only one of its object, so it could also become a value. */
  standalone: boolean;
  /** Start of the range that a suggestion replaces: the word with its quotes. */
  from: number;
  to: number;
  /** Start of the word without its quote. */
  typedFrom: number;
  /** Start of the string around the cursor, when `role` is `text`; of the key or value otherwise. */
  textFrom: number;
  /** The end of that. */
  textTo: number;
  followedByColon: boolean;
  /** Only indentation and dashes precede it in its line. */
  atLineStart: boolean;
  /** The parsed text, with the marker in place of the word under the cursor. */
  root: unknown;
}

export const CURSOR_MARKER = "ZZcursorZZ";

/** @returns undefined in a comment, and when the parser can't recover */
export function cursorContextAt(text: string, pos: number, format: Format): CursorContext | undefined {
  const word = wordAt(text, pos);
  if (word === undefined) return undefined;
  const { from, to, quote, followedByColon, atLineStart } = word;
  // At the start of a line YAML can't tell a key from a string before its colon is typed.
  const tail = format === "yaml" && atLineStart && !followedByColon ? ":" : "";
  const closingQuote = quote === "" && format === "json" ? '"' : quote;
  const comma = format === "json" && !followedByColon && /^\s*["[{]/.test(text.slice(to)) ? "," : "";
  const marked = `${text.slice(0, from)}${closingQuote}${CURSOR_MARKER}${closingQuote}${tail}${comma}${text.slice(to)}`;
  const document = parseDocument(marked, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    logLevel: "silent",
  });
  const found = findMarker(document);
  if (found === undefined) return undefined;
  const typedFrom = from + (quote === "" ? 0 : 1);
  const textTo = found.textTo + text.length - marked.length;
  return { ...found, textTo, from, to, typedFrom, followedByColon, atLineStart, root: toValue(document) };
}

interface Word {
  from: number;
  to: number;
  quote: "" | '"' | "'";
  followedByColon: boolean;
  atLineStart: boolean;
}

function wordAt(text: string, pos: number): Word | undefined {
  const start = text.lastIndexOf("\n", pos - 1) + 1;
  const lineEnd = text.indexOf("\n", pos);
  const before = text.slice(start, pos);
  const after = text.slice(pos, lineEnd < 0 ? text.length : lineEnd);
  const open = openQuote(before);
  if (open === "comment") return undefined;
  const word = /[\w$](?:[\w./$-]*)$/.exec(before)?.[0] ?? "";
  const rest = /^[\w./$-]*/.exec(after)![0];
  const quotedLength = open && lengthToClosingQuote(after, open.quote);
  const from = open ? start + open.at : pos - word.length;
  const to = pos + (quotedLength ?? rest.length);
  return {
    from,
    to,
    quote: open ? open.quote : "",
    followedByColon:
      /^\s*:(?:\s|$)/.test(text.slice(to, to + 200)) || (open !== undefined && text[to] === ":"),
    atLineStart: /^\s*(?:-\s+)*$/.test(text.slice(start, from)),
  };
}

/** The quote that is open at the end of `before`, or whether a comment has started there. */
function openQuote(before: string): { quote: '"' | "'"; at: number } | "comment" | undefined {
  let open: { quote: '"' | "'"; at: number } | undefined;
  for (let at = 0; at < before.length; at += 1) {
    const char = before[at]!;
    if (open === undefined) {
      const begins = at === 0 || /[\s,:[{]/.test(before[at - 1]!);
      if (begins && (char === '"' || char === "'")) open = { quote: char, at };
      else if (char === "#" && (at === 0 || /\s/.test(before[at - 1]!))) return "comment";
    } else if (char === "\\" && open.quote === '"') at += 1;
    else if (char === open.quote) open = undefined;
  }
  return open;
}

/** The number of characters up to and including the closing quote; undefined when the line has none. */
function lengthToClosingQuote(after: string, quote: '"' | "'"): number | undefined {
  const found = (quote === '"' ? /^(?:[^"\\]|\\.)*"/ : /^[^']*'/).exec(after)?.[0];
  return found?.length;
}

type MarkerContext = Pick<CursorContext, "role" | "path" | "standalone" | "textFrom" | "textTo">;

function findMarker(document: Document): MarkerContext | undefined {
  let found: MarkerContext | undefined;
  visit(document, {
    Scalar(key, node, ancestors) {
      if (typeof node.value !== "string" || !node.value.includes(CURSOR_MARKER)) return undefined;
      const path = pathOf([...ancestors, node] as Node[]);
      const [textFrom = 0, textTo = 0] = node.range ?? [];
      const place = { path, standalone: false, textFrom, textTo };
      if (node.value !== CURSOR_MARKER) found = { ...place, role: "text" };
      else if (key === "key") {
        const map = ancestors.at(-2);
        found = { ...place, role: "key", standalone: isMap(map) && map.items.length === 1 };
      } else found = { ...place, role: "value" };
      return visit.BREAK;
    },
  });
  return found;
}

function pathOf(chain: readonly Node[]): Path {
  const path: Path = [];
  for (const [depth, node] of chain.entries()) {
    const next = chain[depth + 1];
    if (isSeq(node)) path.push(node.items.indexOf(next));
    else if (isPair(node) && next !== node.key && isScalar(node.key)) path.push(String(node.key.value));
  }
  return path;
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    return undefined;
  }
}

/** The key or value at an offset of a text, with its path. Used by hover help. */
export function nodeAt(
  text: string,
  pos: number,
): { role: "key" | "value"; path: Path; from: number; to: number; root: unknown } | undefined {
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    logLevel: "silent",
  });
  let found: { role: "key" | "value"; path: Path; from: number; to: number } | undefined;
  visit(document, {
    Scalar(key, node, ancestors) {
      const [from = 0, to = 0] = node.range ?? [];
      if (pos < from || pos > to) return undefined;
      const path = pathOf([...ancestors, node] as Node[]);
      found =
        key === "key"
          ? { role: "key", path: [...path, String(node.value)], from, to }
          : { role: "value", path, from, to };
      return visit.BREAK;
    },
  });
  return found && { ...found, root: toValue(document) };
}
