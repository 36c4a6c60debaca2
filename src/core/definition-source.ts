/**
 * The text of a definition as a person typed it, with its comments. It is kept beside the definition, and only as long as it
 * parses to exactly that definition.
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isContainer, isUnstorable } from "../../schemas/text.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Maximum length of a text that is kept, in characters. */
export const MAX_SOURCE_CHARS = 256 * 1024;
/** Maximum length of a text into which a change is merged, in characters: a listener does it, and serves nothing else meanwhile. */
const MAX_MERGED_CHARS = 64 * 1024;
/** Maximum length of a definition that is merged into a text, in characters of its JSON, for the same reason. */
const MAX_MERGED_JSON_CHARS = 2 * MAX_MERGED_CHARS;
/** Maximum number of values of such a definition: each becomes a node, which takes more time than its characters. */
const MAX_MERGED_VALUES = 10_000;
const OPTIONS = { version: "1.2", schema: "core", logLevel: "error" } as const;
/** The parser compares each key with all others of its map. A kept text has no key twice, and neither has a merged one. */
const MERGE_OPTIONS = { ...OPTIONS, uniqueKeys: false } as const;

/** The text to keep for a definition that was read from it; null for JSON, which has no comments, a long text, and one that can't be stored. */
export function keptSource(text: string): string | null {
  const normalized = text.replaceAll("\r\n", "\n").replace(/^(?:[^\S\n]*\n)+/, "");
  const isJson = /^\s*\{/.test(normalized);
  return isJson || normalized.length > MAX_SOURCE_CHARS || isUnstorable(normalized) ? null : normalized;
}

/** Whether a text seems to have comments. A `#` in a text value can be taken for one. */
export const hasComments = (text: string): boolean => /(?:^|\s)#/.test(text);

/** Whether a text differs from the kept one enough to be kept for an unchanged definition. */
export const isNewSource = (source: string | null, kept: string | null): boolean =>
  source !== null && source !== kept && (kept !== null || hasComments(source));

/**
 * Merges a changed definition into its text, so that the comments of what stays are kept.
 * @returns null if the text or the definition is too long for that, if the text has aliases or can't express the definition
 */
export function mergeSource(text: string, definition: Readonly<Record<string, unknown>>): string | null {
  const expected = canonicalJson(definition);
  if (text.length > MAX_MERGED_CHARS || expected.length > MAX_MERGED_JSON_CHARS) return null;
  if (hasMoreValues(definition, MAX_MERGED_VALUES)) return null;
  const document = parseDocument(text, MERGE_OPTIONS);
  if (document.errors.length > 0 || !isMap(document.contents) || hasAliases(document)) return null;
  const header = headerOf(document.contents);
  if (header !== undefined && !Object.hasOwn(definition, header.key)) document.commentBefore = header.comment;
  updateMap(document, document.contents, definition);
  const merged = document.toString({ lineWidth: 0, minContentWidth: 0 });
  if (isUnstorable(merged)) return null;
  const read = parseDocument(merged, MERGE_OPTIONS);
  return read.errors.length === 0 && canonicalJson(read.toJS()) === expected ? merged : null;
}

/** Whether a JSON value contains more than `max` values. */
function hasMoreValues(value: object, max: number): boolean {
  let count = 0;
  for (const stack: object[] = [value]; stack.length > 0;) {
    const values = Object.values(stack.pop()!);
    count += values.length;
    if (count > max) return true;
    stack.push(...values.filter(isContainer));
  }
  return false;
}

/** The first comment of a text, with a blank line behind it: it is not about the first key, whose node has it. */
function headerOf(map: YAMLMap): { key: string; comment: string } | undefined {
  const key = map.items[0]?.key;
  if (!isScalar(key)) return undefined;
  const [comment, about] = (key.commentBefore ?? "").split("\n\n");
  return comment === undefined || about === undefined ? undefined : { key: String(key.value), comment };
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias: () => {
      found = true;
      return visit.BREAK;
    },
    Pair: (_, { key }) => {
      found ||= isAlias(key) || (isScalar(key) && key.value === "<<");
    },
  });
  return found;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const valueOf = (document: Document, node: unknown): unknown => (isNode(node) ? node.toJS(document) : node);

const comparable = (value: unknown): string => canonicalJson(value ?? null);

function updateMap(document: Document, map: YAMLMap, value: Readonly<Record<string, unknown>>): void {
  const pairs = new Map(map.items.map((pair) => [String(valueOf(document, pair.key)), pair]));
  map.items = [...pairs].filter(([key]) => Object.hasOwn(value, key)).map(([, pair]) => pair);
  for (const [key, next] of Object.entries(value)) {
    const pair = pairs.get(key);
    if (pair === undefined) map.items.push(new Pair(key, updatedNode(document, undefined, next)));
    else pair.value = updatedNode(document, pair.value, next);
  }
}

function updateList(document: Document, list: YAMLSeq, values: readonly unknown[]): void {
  const before = list.items;
  const unused = new Set(before.keys());
  const takeSameItem = sameItemFinder(document, before, unused);
  list.items = values.map((value, index) => {
    const same = takeSameItem(value);
    const place = same === undefined && !isObject(value) && unused.has(index) ? index : same;
    if (place === undefined) return updatedNode(document, undefined, value);
    unused.delete(place);
    return updatedNode(document, before[place], value);
  });
}

function add(map: Map<string, number[]>, key: string, index: number): void {
  const indexes = map.get(key);
  if (indexes === undefined) map.set(key, [index]);
  else indexes.push(index);
}

/**
 * Finds the item of a list that a value replaces: the step of the same id, or an equal value. Each item is compared once, so that
 * the time grows with the sum of both lengths, not with their product.
 * @param unused indexes of the items that no value replaces yet
 * @returns a function that returns the first such index
 */
function sameItemFinder(
  document: Document,
  items: readonly unknown[],
  unused: ReadonlySet<number>,
): (value: unknown) => number | undefined {
  const byId = new Map<string, number[]>();
  const byValue = new Map<string, number[]>();
  // From the last one on, so that the first one is at the end, where it is taken.
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const current = valueOf(document, items[index]);
    add(byValue, comparable(current), index);
    if (isObject(current) && "id" in current) add(byId, comparable(current["id"]), index);
  }
  return (value) => {
    const indexes =
      isObject(value) && "id" in value ? byId.get(comparable(value["id"])) : byValue.get(comparable(value));
    let index = indexes?.pop();
    while (index !== undefined && !unused.has(index)) index = indexes?.pop();
    return index;
  };
}

/** The node itself where it can take the value; otherwise a new one. */
function updatedNode(document: Document, node: unknown, value: unknown): unknown {
  if (node !== undefined && comparable(valueOf(document, node)) === comparable(value)) return node;
  if (isMap(node) && isObject(value)) {
    updateMap(document, node, value);
    return node;
  }
  if (isSeq(node) && Array.isArray(value)) {
    updateList(document, node, value);
    return node;
  }
  const created = createNode(document, value);
  if (isNode(node)) {
    if (typeof node.comment === "string") created.comment = node.comment;
    if (typeof node.commentBefore === "string") created.commentBefore = node.commentBefore;
  }
  return created;
}

function createNode(document: Document, value: unknown): Node {
  const node = document.createNode(value);
  visit(node, {
    Scalar: (key, scalar) => {
      if (key === "key" || typeof scalar.value !== "string") return;
      if (scalar.value.includes("\n")) scalar.type = Scalar.BLOCK_LITERAL;
      else if (scalar.value.includes("${{")) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}

/** The fields of a workflow's file beside those of its definition. */
const FILE_FIELDS: ReadonlySet<string> = new Set(["id", "name", "description", "tags", "draft"]);

/**
 * The text of a definition within that of its file, which also has the fields of the workflow.
 * @returns null for a text that is not kept
 */
export function sourceOfFile(text: string): string | null {
  const source = keptSource(text);
  if (source === null) return null;
  const { contents, errors } = parseDocument(source, OPTIONS);
  if (errors.length > 0 || !isMap(contents) || contents.flow === true) return null;
  let rest = source;
  for (const { key, value } of contents.items.toReversed()) {
    const range = isScalar(key) && FILE_FIELDS.has(String(key.value)) ? key.range : undefined;
    const end = (isNode(value) ? value.range : range)?.[2];
    if (range && end !== undefined) rest = rest.slice(0, range[0]) + rest.slice(end);
  }
  return rest.trim() === "" ? null : rest;
}

/**
 * The text of a workflow's file: that of its definition with the fields of the workflow, behind the comment that it begins with.
 * @param fields YAML of the fields
 * @returns null if the text can't be put together
 */
export function fileOfSource(source: string, fields: string): string | null {
  const head = /^(?:#[^\n]*\n)+(?:[^\S\n]*\n)*/.exec(source)?.[0] ?? "";
  const text = head + fields + source.slice(head.length);
  return sourceOfFile(text) === source ? text : null;
}
