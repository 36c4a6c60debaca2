/**
 * Where the cursor stands in a text that is only half written: the word under it is replaced by a marker, the text is
 * read by a parser that goes on after faults, and the marker is looked for. One way for YAML and JSON, which is YAML
 * too, in blocks and in brackets.
 */
import { type Document, isMap, isPair, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import type { Format } from "./format.ts";
import type { Path } from "./path.ts";

export interface CursorContext {
  /** A key, a value as a whole, or within a longer text. */
  role: "key" | "value" | "text";
  /** Of the object that the key is in; else of the value. */
  path: Path;
  /** A key that could as well be a value: it stands alone, in a list or under a key. */
  standalone: boolean;
  /** What a choice replaces: the word, with its quotes. */
  from: number;
  to: number;
  /** The word up to the cursor, without a quote. */
  typedFrom: number;
  /** Where the text that the cursor is in begins, for `text`. */
  textFrom: number;
  /** There is a colon behind it already. */
  followedByColon: boolean;
  /** Nothing but indentation and dashes stands before it in its line. */
  atLineStart: boolean;
  /** What the text says but for the word under the cursor. */
  root: unknown;
}

export const CURSOR_MARKER = "ZZcursorZZ";

/** @returns undefined in a comment, and where the text is too broken to tell */
export function cursorContextAt(text: string, pos: number, format: Format): CursorContext | undefined {
  const word = wordAt(text, pos);
  if (word === undefined) return undefined;
  const { from, to, quote, colon: followedByColon, fresh: atLineStart } = word;
  // At the beginning of a line YAML can't tell a key from a text before it has its colon.
  const tail = format === "yaml" && atLineStart && !followedByColon ? ":" : "";
  const shut = quote === "" && format === "json" ? '"' : quote;
  const comma = format === "json" && !followedByColon && /^\s*["[{]/.test(text.slice(to)) ? "," : "";
  const marked = `${text.slice(0, from)}${shut}${CURSOR_MARKER}${shut}${tail}${comma}${text.slice(to)}`;
  const document = parseDocument(marked, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    logLevel: "silent",
  });
  const found = find(document);
  if (found === undefined) return undefined;
  const typedFrom = from + (quote === "" ? 0 : 1);
  return { ...found, from, to, typedFrom, followedByColon, atLineStart, root: plain(document) };
}

interface Word {
  from: number;
  to: number;
  quote: "" | '"' | "'";
  colon: boolean;
  fresh: boolean;
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
  const shut = open && closing(after, open.quote);
  const from = open ? start + open.at : pos - word.length;
  const to = pos + (shut ?? rest.length);
  return {
    from,
    to,
    quote: open ? open.quote : "",
    colon: /^\s*:(?:\s|$)/.test(text.slice(to, to + 200)) || (open !== undefined && text[to] === ":"),
    fresh: /^\s*(?:-\s+)*$/.test(text.slice(start, from)),
  };
}

/** The quote that is open at the end of a line's beginning, or that a comment has begun. */
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

/** How far it is to behind the closing quote; undefined where there is none in this line. */
function closing(after: string, quote: '"' | "'"): number | undefined {
  const found = (quote === '"' ? /^(?:[^"\\]|\\.)*"/ : /^[^']*'/).exec(after)?.[0];
  return found?.length;
}

type Found = Pick<CursorContext, "role" | "path" | "standalone" | "textFrom">;

function find(document: Document): Found | undefined {
  let found: Found | undefined;
  visit(document, {
    Scalar(key, node, ancestors) {
      if (typeof node.value !== "string" || !node.value.includes(CURSOR_MARKER)) return undefined;
      const path = pathOf([...ancestors, node] as Node[]);
      const textFrom = node.range?.[0] ?? 0;
      if (node.value !== CURSOR_MARKER) found = { role: "text", path, standalone: false, textFrom };
      else if (key === "key") {
        const map = ancestors.at(-2);
        found = { role: "key", path, standalone: isMap(map) && map.items.length === 1, textFrom };
      } else found = { role: "value", path, standalone: false, textFrom };
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

function plain(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    return undefined;
  }
}

/** What stands at an offset of a whole text: a key or a value, and its path. For hovering. */
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
  return found && { ...found, root: plain(document) };
}
