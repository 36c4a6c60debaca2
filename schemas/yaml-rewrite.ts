/**
 * Changes the text of a definition so that it says another value, and leaves everything else as it is written: comments, blank
 * lines, quotes, the digits of numbers. Entries of block collections are whole lines, with the comments above them.
 */
import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit } from "yaml";
import { type Level, orderStep, rankOfKey } from "./definition-order.ts";
import { type Fields, isEqualJson, isFields, matchFields, matchItems } from "./json-diff.ts";
import { patchFlow, YAML_OPTIONS } from "./patch-document.ts";
import { renderInline, renderKey, renderYaml, type Style } from "./yaml-render.ts";
import {
  columnOf,
  contentEnd,
  divide,
  type Entry,
  IndivisibleError,
  isBlock,
  isBlockScalar,
  keyName,
  nextLine,
} from "./yaml-lines.ts";

/** The key by which YAML copies the fields of another object. */
const MERGE = "<<";

interface Rewriting {
  text: string;
  style: Style;
  /** Whether aliases, and objects with merge keys, are written out. */
  expand: boolean;
}

/** An entry of the changed text. @param source its index among the entries of the text, undefined for a new one */
interface Line {
  text: string;
  source: number | undefined;
}

/**
 * @param before what the text says
 * @returns the changed text. Its caller checks what it says: aliases repeat a change, for example
 * @throws Error if the text can't be changed line by line
 */
export function rewriteYaml(
  text: string,
  before: unknown,
  after: unknown,
  { expand = false }: { expand?: boolean } = {},
): string {
  const hasCrLf = text.includes("\r\n");
  const plain = hasCrLf ? text.replaceAll("\r\n", "\n") : text;
  const { contents, errors } = parseDocument(plain, YAML_OPTIONS);
  if (errors.length > 0 || contents === null) throw new IndivisibleError("The text has no value.");
  const rewriting = { text: plain, style: styleOf(plain, contents), expand };
  const changed = rewriteRoot(rewriting, contents, before, after);
  return hasCrLf ? changed.replaceAll("\n", "\r\n") : changed;
}

function rewriteRoot(rewriting: Rewriting, root: Node, before: unknown, after: unknown): string {
  const { text } = rewriting;
  if (isBlock(root) && root.items.length > 0 && isFields(before) && isFields(after) && isMap(root)) {
    // Comments above the first key are about the whole text.
    const start = root.range![0];
    return text.slice(0, start) + rewriteBlock(rewriting, root, before, after, [start, text.length], "top");
  }
  const value = isCollection(root) && root.flow ? flowText(rewriting, root, before, after, 0) : undefined;
  if (value === undefined) throw new IndivisibleError("The text has no keys.");
  return text.slice(0, root.range![0]) + value + text.slice(root.range![1]);
}

/** How the text is indented: as its first collections are. */
function styleOf(text: string, root: Node): Style {
  const style: Partial<Style> = {};
  visit(root, {
    Pair(_, { key, value }) {
      if (!isNode(key) || !isBlock(value) || value.items.length === 0) return;
      const depth = columnOf(text, value.range![0]) - columnOf(text, key.range![0]);
      if (isSeq(value)) style.indentSeq ??= depth > 0;
      if (depth > 0) style.indent ??= depth;
    },
  });
  return { indent: style.indent ?? 2, indentSeq: style.indentSeq ?? true };
}

/**
 * @param range the lines of the collection, from the first entry with the comments above it
 * @param level where the keys of the collection have an order
 */
function rewriteBlock(
  rewriting: Rewriting,
  node: Node,
  before: Fields | readonly unknown[],
  after: Fields | readonly unknown[],
  [start, end]: readonly [number, number],
  level?: Level | "steps",
): string {
  const { text } = rewriting;
  if (!isBlock(node)) throw new IndivisibleError();
  const block = divide(text, node, start, end);
  const lines = isMap(node)
    ? fieldLines(rewriting, block, before as Fields, after as Fields, level)
    : itemLines(rewriting, block, before as readonly unknown[], after as readonly unknown[], level);
  // The first key of an item stands behind its dash.
  const isCompact = text.slice(start, block.entries[0]!.at).trim() === "" && columnOf(text, start) > 0;
  if (isCompact && lines[0]?.source !== 0) throw new IndivisibleError();
  return joinLines(text, block.entries, lines) + text.slice(block.end, end);
}

function fieldLines(
  rewriting: Rewriting,
  { entries, column }: { entries: Entry[]; column: number },
  before: Fields,
  after: Fields,
  level: Level | "steps" | undefined,
): Line[] {
  const own = new Set(entries.map(({ key }) => key));
  if (rewriting.expand && own.has(MERGE)) throw new IndivisibleError();
  // What a merge key adds needs no entry, unless it changes.
  const written = Object.fromEntries(Object.entries(before).filter(([key]) => own.has(key)));
  const wanted = Object.fromEntries(
    Object.entries(after).filter(
      ([key, value]) => own.has(key) || !Object.hasOwn(before, key) || !isEqualJson(before[key], value),
    ),
  );
  const names = matchFields(written, wanted);
  const lines: (Line & { key: string })[] = [];
  for (const [source, entry] of entries.entries()) {
    const name = entry.key === MERGE ? MERGE : names.get(entry.key);
    if (name === undefined) continue;
    const changed = entry.key === MERGE ? before[MERGE] : wanted[name];
    const inside = level === "top" && entry.key === "steps" ? "steps" : undefined;
    lines.push({
      key: name,
      source,
      text: rewriteEntry(rewriting, entry, column, before[entry.key], changed, name, inside),
    });
  }
  const kept = new Set(names.values());
  for (const [key, value] of Object.entries(wanted)) {
    if (kept.has(key)) continue;
    const place =
      level === "top" || level === "step"
        ? lines.findIndex((line) => rankOfKey(level, line.key) > rankOfKey(level, key))
        : -1;
    const text = indent(renderYaml({ [key]: value }, rewriting.style), column);
    lines.splice(place < 0 ? lines.length : place, 0, { key, source: undefined, text });
  }
  return lines;
}

function itemLines(
  rewriting: Rewriting,
  { entries, column }: { entries: Entry[]; column: number },
  before: readonly unknown[],
  after: readonly unknown[],
  level: Level | "steps" | undefined,
): Line[] {
  const areSteps = level === "steps";
  return matchItems(before, after).map((source, index) => {
    const value = areSteps ? orderStep(after[index]) : after[index];
    if (source === undefined) return { source, text: indent(renderYaml([value], rewriting.style), column) };
    const entry = entries[source]!;
    const text = rewriteEntry(
      rewriting,
      entry,
      column,
      before[source],
      value,
      undefined,
      areSteps ? "step" : undefined,
    );
    return { source, text };
  });
}

/** Joins the entries. A new item of a list has a blank line above it if all the others do. */
function joinLines(text: string, entries: readonly Entry[], lines: readonly Line[]): string {
  const others = entries.slice(1).map(({ start, end }) => text.slice(start, end));
  const areItems = entries[0]!.keyRange === undefined;
  const areSpaced = areItems && others.length > 0 && others.every((entry) => /^[ \t]*\n/.test(entry));
  return lines
    .map((line, index) => {
      const ended = line.text.endsWith("\n") ? line.text : `${line.text}\n`;
      const isInPlace = line.source === 0 ? index === 0 : line.source !== undefined && index > 0;
      if (isInPlace) return ended;
      const bare = ended.replace(/^(?:[ \t]*\n)+/, "");
      return areSpaced && index > 0 ? `\n${bare}` : bare;
    })
    .join("");
}

function rewriteEntry(
  rewriting: Rewriting,
  entry: Entry,
  column: number,
  before: unknown,
  after: unknown,
  name: string | undefined,
  level: Level | "steps" | undefined,
): string {
  const { text, expand } = rewriting;
  const { start, end, at, keyRange, value } = entry;
  const isSame = isEqualJson(before, after) && !(expand && isShared(value));
  const isRenamed = name !== undefined && name !== entry.key;
  const head =
    keyRange !== undefined && isRenamed
      ? text.slice(start, keyRange[0]) + renderKey(name) + text.slice(keyRange[1], keyRange[1])
      : text.slice(start, keyRange?.[1] ?? at + 1);
  const from = keyRange?.[1] ?? at + 1;
  if (isSame) return head + text.slice(from, end);
  try {
    const changed = rewriteValue(rewriting, value, before, after, { from, end, column, level });
    if (changed !== undefined) return head + changed;
  } catch (error) {
    if (!(error instanceof IndivisibleError)) throw error;
  }
  return head + renderedValue(rewriting, entry, column, after);
}

/**
 * The text behind a key or a dash with another value.
 * @returns undefined for a value that must be written as a whole
 */
function rewriteValue(
  rewriting: Rewriting,
  value: Node | null,
  before: unknown,
  after: unknown,
  {
    from,
    end,
    column,
    level,
  }: { from: number; end: number; column: number; level: Level | "steps" | undefined },
): string | undefined {
  const { text, expand } = rewriting;
  if (!value?.range || (expand && isAlias(value))) return undefined;
  const [at, valueEnd] = value.range;
  if (isBlock(value)) {
    if (!areFilled(before, after)) return undefined;
    const isBehind = !text.slice(from, at).includes("\n");
    const start = isBehind ? at : nextLine(text, from);
    return (
      text.slice(from, start) +
      rewriteBlock(rewriting, value, before as Fields, after as Fields, [start, end], level)
    );
  }
  if (isBlockScalar(value) || valueEnd === at) return undefined;
  const changed = isCollection(value)
    ? flowText(rewriting, value, before, after, column)
    : renderInline(after, isScalar(value) ? value.type : undefined);
  return changed === undefined ? undefined : text.slice(from, at) + changed + text.slice(valueEnd, end);
}

/** Whether both are objects or both are lists, and neither is empty. */
function areFilled(before: unknown, after: unknown): boolean {
  const areOfOneKind = Array.isArray(before) ? Array.isArray(after) : isFields(before) && isFields(after);
  return areOfOneKind && [before, after].every((value) => Object.keys(value as object).length > 0);
}

/** Maximum length of a flow collection that is patched, in characters: the time grows with the square. A longer one becomes a block. */
const MAX_FLOW_CHARS = 10_000;

/** A flow collection (`{ a: 1 }`, `[a, b]`) with other values; undefined if it is too long, or becomes another kind of value. */
function flowText(
  { text, style, expand }: Rewriting,
  value: Node,
  before: unknown,
  after: unknown,
  column: number,
): string | undefined {
  if (!areFilled(before, after) || (expand && isShared(value))) return renderInline(after);
  const [from, to] = value.range!;
  if (to - from > MAX_FLOW_CHARS) return undefined;
  const changed = patchFlow(text.slice(from, to), before, after);
  return indent(changed, column + style.indent).trimStart();
}

/** The text behind a key or a dash, with a value that is written as a whole, and the comments around it. */
function renderedValue(
  { text, style }: Rewriting,
  { keyRange, at, value, end }: Entry,
  column: number,
  after: unknown,
): string {
  const [marker, whole] = keyRange === undefined ? ["-", [after]] : ["a:", { a: after }];
  const [first = "", ...others] = indent(renderYaml(whole, style), column)
    .slice(column + marker.length, -1)
    .split("\n");
  const from = keyRange?.[1] ?? at + 1;
  const isAbove = isBlock(value) || isBlockScalar(value);
  const valueEnd = Math.max(contentEnd(value), from);
  // A comment behind the key, or behind a value of one line.
  const line = text.slice(isAbove ? from : valueEnd, nextLine(text, isAbove ? from : valueEnd) - 1);
  const comment = /(?:^|\s)(#.*)$/.exec(line)?.[1];
  const isOneStep = keyRange === undefined && others.length > 0;
  const rest = text[valueEnd - 1] === "\n" ? valueEnd : nextLine(text, valueEnd);
  return [
    `${keyRange === undefined ? "" : ":"}${first}${comment === undefined || isOneStep ? "" : ` ${comment}`}`,
    ...others,
    text.slice(Math.min(rest, end), end),
  ].join("\n");
}

/** Whether a node, or one in it, is an alias, has a name for aliases, or copies the fields of another. */
function isShared(node: Node | null): boolean {
  let found = false;
  if (node === null) return found;
  visit(node, {
    Node: (_, { anchor }: { anchor?: string }) => {
      found ||= anchor !== undefined;
    },
    Alias: () => {
      found = true;
    },
    Pair: (_, pair) => {
      found ||= keyName(pair) === MERGE;
    },
  });
  return found;
}

/** Indents all lines but blank ones. */
const indent = (text: string, column: number): string =>
  column === 0 ? text : text.replaceAll(/^(?=.)/gmu, " ".repeat(column));
