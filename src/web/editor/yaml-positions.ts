/** Locates the values that issues name in a YAML or JSON text. Loaded on demand by ./format.ts. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { type Path, parsePath } from "./path.ts";
import { PARSE_OPTIONS } from "./yaml-text.ts";

/** What an issue marks, from 1; the end is behind the last character. */
interface TextRange {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** The kinds of issues whose key is wrong, and not its value. */
const KEY_IS_WRONG: ReadonlySet<string> = new Set(["unknown_key", "unused_parameter"]);

/**
 * Returns a function that finds a dotted path, even in a text with syntax errors: the value, or its key where the value has
 * several lines or the issue is about the key, or the nearest key around it if the text has no such value.
 */
export function createLocator(text: string): (path: string, code: string) => TextRange {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  return (path, code) => {
    const [from, to] = rangeOf(text, document.contents, path, code);
    const end = at(to);
    return { ...at(from), endLine: end.line, endColumn: end.column };
  };
}

type Offsets = readonly [from: number, to: number];

interface Found {
  key: Node | undefined;
  value: Node | undefined;
}

function rangeOf(text: string, root: Node | null, path: string, code: string): Offsets {
  const parts = parsePath(path);
  if (parts[0] === "definition" && isMap(root) && !root.has("definition")) parts.shift();
  let found: Found = { key: undefined, value: root ?? undefined };
  for (const part of parts) {
    const child = childOf(found.value, part);
    if (child === undefined) return headOf(text, found);
    found = child;
  }
  const value = offsetsOf(found.value);
  const hasValue = value !== undefined && value[1] > value[0];
  if (!hasValue || (found.key !== undefined && KEY_IS_WRONG.has(code))) return headOf(text, found);
  return text
    .slice(...value)
    .trimEnd()
    .includes("\n")
    ? headOf(text, found)
    : trimmed(text, value);
}

/** The key; of an item of a list its first key with its value, and of a value of several lines the first one. */
function headOf(text: string, { key, value }: Found): Offsets {
  const offsets = offsetsOf(key);
  if (offsets !== undefined) return offsets;
  const first = isMap(value) ? value.items[0] : undefined;
  if (first === undefined) return firstLine(text, offsetsOf(value) ?? [0, text.length]);
  const from = offsetsOf(first.key as Node)?.[0] ?? 0;
  const to = isScalar(first.value) ? offsetsOf(first.value)?.[1] : undefined;
  return firstLine(text, [from, Math.max(from, to ?? offsetsOf(first.key as Node)?.[1] ?? from)]);
}

function firstLine(text: string, [from, to]: Offsets): Offsets {
  const end = text.indexOf("\n", from);
  return trimmed(text, [from, end === -1 ? to : Math.min(end, to)]);
}

const trimmed = (text: string, [from, to]: Offsets): Offsets => [
  from,
  from + text.slice(from, to).trimEnd().length,
];

const offsetsOf = (node: Node | undefined): Offsets | undefined =>
  node?.range ? [node.range[0], node.range[1]] : undefined;

/** The child at a key, an index or a step id. */
function childOf(node: unknown, part: Path[number]): Found | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    return pair && { key: pair.key as Node, value: isNode(pair.value) ? pair.value : undefined };
  }
  if (!isSeq(node)) return undefined;
  const item =
    typeof part === "number"
      ? node.items[part]
      : node.items.find((step) => isMap(step) && step.get("id") === part);
  return isNode(item) ? { key: undefined, value: item } : undefined;
}
