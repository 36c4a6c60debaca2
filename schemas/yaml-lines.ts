/** Divides the block collections of a YAML text into entries, each with the comments above it that belong to it. */
import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

/** A text that has no lines to be divided into, such as an entry that begins behind another one. */
export class IndivisibleError extends Error {}

/** An entry of a block collection: a key with its value, or an item of a list. */
export interface Entry {
  /** The key; of an item, its index. */
  key: string;
  /** Of an item, undefined. */
  keyRange: readonly [number, number] | undefined;
  value: Node | null;
  /** Where its key or its dash stands. */
  at: number;
  /** Its text with the comments above it. */
  start: number;
  end: number;
}

export interface Block {
  /** Number of characters before each entry. */
  column: number;
  entries: Entry[];
  /** Where the comments begin that follow all entries. */
  end: number;
}

export const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** The beginning of the line after the one that contains `at`. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

export const columnOf = (text: string, at: number): number => at - lineStart(text, at);

export const isBlock = (node: unknown): node is YAMLMap | YAMLSeq => isCollection(node) && node.flow !== true;

export const isBlockScalar = (node: unknown): node is Scalar =>
  isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);

/** The key as the definition has it. */
export const keyName = ({ key }: Pair): string | undefined =>
  isScalar(key) ? (typeof key.value === "string" ? key.value : (key.source ?? "")) : undefined;

/** The end of what a node says, without the comments after it. */
export function contentEnd(node: Node | Pair | null): number {
  if (isPair(node)) {
    const value = node.value as Node | null;
    return Math.max(contentEnd(node.key as Node), value === null ? 0 : contentEnd(value));
  }
  if (isBlock(node) && node.items.length > 0) return contentEnd(node.items.at(-1) as Node | Pair);
  return node?.range?.[1] ?? 0;
}

/**
 * Divides the text of a block collection into its entries. Comments above an entry, and blank lines, belong to it; those that are
 * indented deeper belong to the entry before.
 * @param start where the first entry begins with the comments above it
 * @param end the end of the lines of the collection
 * @throws IndivisibleError if two entries stand in one line
 */
export function divide(text: string, node: YAMLMap | YAMLSeq, start: number, end: number): Block {
  const places = node.items.map((item, index) => placeOf(text, node, item as Node | Pair, index));
  const column = columnOf(text, places[0]!.at);
  const contentEnds = node.items.map((item) => contentEnd(item as Node | Pair));
  const starts = places.map(({ at }, index) => {
    if (index === 0) return start;
    const line = lineStart(text, at);
    if (text.slice(line, at).trim() !== "" || columnOf(text, at) !== column) throw new IndivisibleError();
    return ownedFrom(text, line, Math.max(contentEnds[index - 1]!, places[index - 1]!.at), column);
  });
  const last = ownedUntil(text, contentEnds.at(-1)!, end, column);
  const entries = places.map((place, index) =>
    Object.assign(place, { start: starts[index]!, end: starts[index + 1] ?? last }),
  );
  return { column, entries, end: last };
}

function placeOf(
  text: string,
  node: YAMLMap | YAMLSeq,
  item: Node | Pair,
  index: number,
): Pick<Entry, "key" | "keyRange" | "value" | "at"> {
  if (!isMap(node)) {
    const value = item as Node;
    return { key: String(index), keyRange: undefined, value, at: dashOf(text, node, value) };
  }
  const pair = item as Pair;
  const key = keyName(pair);
  const range = (pair.key as Node | null)?.range;
  if (key === undefined || !range) throw new IndivisibleError();
  return { key, keyRange: [range[0], range[1]], value: pair.value as Node | null, at: range[0] };
}

/** The dash of an item: in the column of the list, in the line of the item or above it. */
function dashOf(text: string, list: YAMLSeq, item: Node): number {
  const first = list.range![0];
  if (item === list.items[0]) return first;
  const column = columnOf(text, first);
  for (let line = lineStart(text, item.range![0]); line > first; line = lineStart(text, line - 1)) {
    if (text[line + column] === "-" && text.slice(line, line + column).trim() === "") return line + column;
  }
  throw new IndivisibleError();
}

/** Where the comments and blank lines above `line` begin. @param after the end of what is above */
function ownedFrom(text: string, line: number, after: number, column: number): number {
  let start = line;
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (above < after || !isOwned(text.slice(above, start), (indent) => indent <= column)) break;
    start = above;
  }
  return start;
}

/** Where the deeper comments after the last entry end. */
function ownedUntil(text: string, after: number, end: number, column: number): number {
  let owned = after > 0 && text[after - 1] === "\n" ? after : nextLine(text, after);
  for (let line = owned; line < end;) {
    const next = nextLine(text, line);
    const content = text.slice(line, next);
    if (!isOwned(content, (indent) => indent > column)) break;
    if (content.trim() !== "") owned = next;
    line = next;
  }
  return Math.min(owned, end);
}

/** Whether a line is blank, or a comment with a fitting indentation. */
function isOwned(line: string, fits: (indent: number) => boolean): boolean {
  const content = line.trim();
  return content === "" || (content.startsWith("#") && fits(line.indexOf("#")));
}
