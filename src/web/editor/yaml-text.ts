/** What only the YAML library can do: write, read and find places. Loaded on demand, by ./format.ts. */
import {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
} from "yaml";
import type { EditorIssue } from "./format.ts";
import { type Path, parsePath } from "./path.ts";

const READING = {
  version: "1.2",
  schema: "core",
  prettyErrors: false,
  uniqueKeys: true,
  logLevel: "error",
} as const;
const MAX_ALIASES = 100;

/** Reads as the server does: a warning is a fault too, since it means that the text says something else than it seems. */
export function parseYaml(text: string): { value: unknown } | { issues: EditorIssue[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...READING, lineCounter: lines });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    const issues = broken.map(({ message, pos }): EditorIssue => {
      const { line, col } = lines.linePos(pos[0]);
      return {
        message: `YAML can't read this as it stands: ${message}`,
        path: "",
        line: Math.max(line, 1),
        column: Math.max(col, 1),
        severity: "error",
      };
    });
    // The parser tells the same slip several times: one a line.
    const first = new Map(issues.toReversed().map((issue) => [issue.line, issue]));
    return { issues: [...first.values()].toSorted((a, b) => a.line! - b.line!) };
  }
  if (document.contents === null) return { value: undefined };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    const message = `The definition can't be read: ${(error as Error).message}`;
    return { issues: [{ message, path: "", line: 1, column: 1, severity: "error" }] };
  }
}

/** Whether a person wrote something into the text that the definition itself does not hold. */
export function hasComments(text: string): boolean {
  const document = parseDocument(text, READING);
  let found = document.commentBefore !== null || document.comment !== null;
  visit(document, {
    Node: (_, node) => {
      found ||= Boolean(node.comment) || Boolean(node.commentBefore);
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** Finds the line and column of a dotted path in a text, however broken. */
export function createLocator(text: string): (path: string) => { line: number; column: number } {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...READING, lineCounter: lines });
  return (path) => {
    const { line, col } = lines.linePos(offsetOf(document.contents, path));
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
}

function offsetOf(root: Node | null, path: string): number {
  const parts = parsePath(path);
  if (parts[0] === "definition" && isMap(root) && !root.has("definition")) parts.shift();
  let here: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of parts) {
    const [next, place] = childOf(here, part);
    if (place === undefined) break;
    offset = place;
    here = next;
  }
  return offset;
}

/** What stands under a key or number, or in the item with this id, and where it begins: at its key if it has one. */
function childOf(node: unknown, part: Path[number]): [child: unknown, offset: number | undefined] {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    return [pair?.value, (pair?.key as Node | undefined)?.range?.[0]];
  }
  if (!isSeq(node)) return [undefined, undefined];
  const item =
    typeof part === "number" ? node.items[part] : node.items.find((it) => isMap(it) && it.get("id") === part);
  return [item, isNode(item) ? item.range?.[0] : undefined];
}

const FIRST_AT_TOP = ["id", "name", "description", "tags", "inputs", "steps", "output"];
const FIRST_IN_STEP = ["id", "type", "description", "needs", "if", "for_each", "concurrency"];
const LAST_IN_STEP = ["retry", "timeout", "on_error", "cache"];

/** YAML with blocks for long texts, quotes around expressions, and keys in one order: so two versions compare well. */
export function toYaml(definition: Readonly<Record<string, unknown>>): string {
  const { steps } = definition;
  const value = ordered(definition, FIRST_AT_TOP);
  if (Array.isArray(steps)) value["steps"] = (steps as unknown[]).map(orderedStep);
  const document = new Document(value, { version: "1.2", schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string") return;
      if (node.value.includes("\n")) node.type = Scalar.BLOCK_LITERAL;
      else if (node.value.includes("${{")) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0, minContentWidth: 0 });
}

const orderedStep = (step: unknown): unknown =>
  typeof step === "object" && step !== null && !Array.isArray(step)
    ? ordered(step as Record<string, unknown>, FIRST_IN_STEP, LAST_IN_STEP)
    : step;

function ordered(
  value: Readonly<Record<string, unknown>>,
  first: readonly string[],
  last: readonly string[] = [],
): Record<string, unknown> {
  const rank = (key: string): number =>
    first.includes(key) ? first.indexOf(key) - first.length : last.indexOf(key) + 1;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => rank(a) - rank(b)));
}
