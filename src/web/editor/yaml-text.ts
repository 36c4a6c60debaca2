/** Reads and locates with the YAML library. Loaded on demand by ./format.ts. */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import { readYamlNumber } from "../../../schemas/yaml-numbers.ts";
import { TOO_LONG_FIX, tooLongMessage } from "../forms/exact-number.ts";
import type { EditorIssue } from "./format.ts";
import { type Path, parsePath } from "./path.ts";

const PARSE_OPTIONS = {
  version: "1.2",
  schema: "core",
  prettyErrors: false,
  uniqueKeys: true,
  logLevel: "error",
} as const;
const MAX_ALIASES = 100;

/** What to do about the parser's commonest errors, by their code. */
const HINTS: Readonly<Record<string, string>> = {
  BAD_INDENT: "Align the line with its siblings.",
  BAD_SCALAR_START: "Put the text between quotes.",
  BLOCK_AS_IMPLICIT_KEY: "Put text that contains a colon between quotes.",
  DUPLICATE_KEY: "Delete one of the two keys.",
  MULTILINE_IMPLICIT_KEY: "Add a colon after the key, or check the indentation.",
  TAB_AS_INDENT: "Indent with spaces.",
  TAG_RESOLVE_FAILED: "Delete the tag, or put the text between quotes.",
};

/** Parses as the server does: a warning is an error too, since it means that the text says something else than it seems. */
export function parseYaml(text: string): { value: unknown } | { issues: EditorIssue[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter: lines });
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    const issues = problems.map(({ code, message, pos }): EditorIssue => {
      const { line, col } = lines.linePos(pos[0]);
      return {
        message: `Invalid YAML: ${message}`,
        fix: HINTS[code] ?? "Check the indentation, quotes and brackets here.",
        path: "",
        line: Math.max(line, 1),
        column: Math.max(col, 1),
        severity: "error",
      };
    });
    // The parser reports one mistake several times: keep the first of each line.
    const first = new Map(issues.toReversed().map((issue) => [issue.line, issue]));
    return { issues: [...first.values()].toSorted((a, b) => a.line! - b.line!) };
  }
  if (document.contents === null) return { value: undefined };
  const tooLong = readScalars(document);
  if (tooLong.length > 0)
    return {
      issues: tooLong.map((source): EditorIssue => {
        const { line, col } = lines.linePos(source.offset);
        return {
          message: `Invalid YAML: ${tooLongMessage(source.text)}`,
          fix: TOO_LONG_FIX,
          path: "",
          line,
          column: col,
          severity: "error",
        };
      }),
    };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    const message = `Invalid YAML: ${(error as Error).message}`;
    return { issues: [{ message, path: "", line: 1, column: 1, severity: "error" }] };
  }
}

/**
 * Reads numbers with all of their digits and keys as they are written, as the server does.
 * @returns the numbers that are too long, and infinity
 */
function readScalars(document: Document): { text: string; offset: number }[] {
  const tooLong: { text: string; offset: number }[] = [];
  visit(document, {
    Scalar(key, scalar) {
      const { source, value } = scalar;
      if (!source || typeof value === "string" || typeof value === "symbol") return;
      if (key === "key") scalar.value = source;
      else if (typeof value === "number") {
        const number = readYamlNumber(source);
        if (number === undefined) tooLong.push({ text: source, offset: scalar.range?.[0] ?? 0 });
        else scalar.value = number;
      }
    },
  });
  return tooLong;
}

/** Whether the text has comments, which a definition does not store. */
export function hasComments(text: string): boolean {
  const document = parseDocument(text, PARSE_OPTIONS);
  let found = document.commentBefore !== null || document.comment !== null;
  visit(document, {
    Node: (_, node) => {
      found ||= Boolean(node.comment) || Boolean(node.commentBefore);
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** Finds the line and column of a dotted path even in a text with syntax errors. */
export function createLocator(text: string): (path: string) => { line: number; column: number } {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter: lines });
  return (path) => {
    const { line, col } = lines.linePos(offsetOf(document.contents, path));
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
}

function offsetOf(root: Node | null, path: string): number {
  const parts = parsePath(path);
  if (parts[0] === "definition" && isMap(root) && !root.has("definition")) parts.shift();
  let current: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of parts) {
    const [next, nextOffset] = childOf(current, part);
    if (nextOffset === undefined) break;
    offset = nextOffset;
    current = next;
  }
  return offset;
}

/** The child at a key, an index or a step id, and its offset: that of its key when it has one. */
function childOf(node: unknown, part: Path[number]): [child: unknown, offset: number | undefined] {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    return [pair?.value, (pair?.key as Node | undefined)?.range?.[0]];
  }
  if (!isSeq(node)) return [undefined, undefined];
  const item =
    typeof part === "number"
      ? node.items[part]
      : node.items.find((step) => isMap(step) && step.get("id") === part);
  return [item, isNode(item) ? item.range?.[0] : undefined];
}
