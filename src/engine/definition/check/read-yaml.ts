/**
 * Reads a definition written as YAML (1.2, core schema) or JSON, which is YAML too. What YAML understands in another
 * way than it was meant is a fault: an expression that needs quotes above all.
 */
import {
  type Document,
  isAlias,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { offsetOf } from "../../../core/yaml-positions.ts";
import type { Issue } from "../../../../schemas/problem.ts";

const MAX_ALIASES = 100;
const MOST = 100;

export interface SourcePosition {
  line: number;
  column: number;
}

type TextIssue = Omit<Issue, "path"> & SourcePosition;

export interface ParsedYaml {
  /** Undefined where there are faults that leave nothing to look at. */
  value: unknown;
  issues: TextIssue[];
  /** For each path the place of its key, or of the nearest thing around it. */
  locate(paths: readonly (readonly PropertyKey[])[]): SourcePosition[];
}

const QUOTE = "Quote it: write the value between \" or ' quotes, or as a block after |.";

/** What the parser says where an expression stands without its quotes. */
const UNQUOTED: ReadonlySet<string> = new Set([
  "BLOCK_AS_IMPLICIT_KEY",
  "MISSING_CHAR",
  "TAG_RESOLVE_FAILED",
  "UNEXPECTED_TOKEN",
  "BAD_SCALAR_START",
]);

export function readYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    logLevel: "error",
  });
  const at = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const issues: TextIssue[] = [];
  for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, MOST))
    issues.push({
      code: code === "DUPLICATE_KEY" ? "duplicate_key" : "invalid_yaml",
      message: `YAML can't read this as it stands: ${message}`,
      ...at(pos[0]),
      ...(UNQUOTED.has(code) && { fix: QUOTE }),
    });
  for (const { offset, ...issue } of misread(document)) issues.push({ ...issue, ...at(offset) });
  if (issues.length > 0) return { value: undefined, issues: distinct(issues), locate: () => [] };
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      issues,
      locate: (paths) => paths.map((path) => at(offsetOf(document, path))),
    };
  } catch (error) {
    const message = `can't be read: ${(error as Error).message}`;
    return { value: undefined, issues: [{ code: "invalid_yaml", message, ...at(0) }], locate: () => [] };
  }
}

/** One fault a line: the parser tells the same slip several times. */
function distinct(issues: TextIssue[]): TextIssue[] {
  const first = new Map(issues.toReversed().map((issue) => [issue.line, issue]));
  return [...first.values()].toSorted((a, b) => a.line - b.line).slice(0, MOST);
}

type Misread = Omit<Issue, "path"> & { offset: number };

/** What is valid YAML, and surely not what was meant. */
function misread(document: Document): Misread[] {
  const found: Misread[] = [];
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2")
    found.push({ offset: 0, code: "invalid_yaml", message: "must be YAML 1.2", fix: "Leave %YAML out." });
  const open = new Set<string>();
  visit(document, {
    Alias(_, alias, path) {
      const inside = path.some((it) => isNode(it) && "anchor" in it && it.anchor === alias.source);
      if (inside)
        found.push({ offset: start(alias), code: "invalid_yaml", message: "is an alias inside itself" });
    },
    Pair(_, pair) {
      if (isScalar(pair.key) || isAlias(pair.key) || pair.key === null) return undefined;
      found.push({
        offset: start(pair.key),
        code: "invalid_yaml",
        message: "must be text, not an object or a list: a { at the beginning of a value is YAML's own",
        fix: QUOTE,
      });
      return visit.SKIP;
    },
    Node(_, node) {
      const { tag } = node as { tag?: string };
      if (tag !== undefined && !PLAIN_TAGS.has(tag) && !open.has(tag)) {
        open.add(tag);
        found.push({
          offset: start(node),
          code: "invalid_yaml",
          message: `has the tag ${tag}; none is needed`,
          fix: QUOTE,
        });
      }
      if (isScalar(node) && cutOff(node))
        found.push({
          offset: start(node),
          code: "invalid_yaml",
          message: "is cut off: a # after a space begins a comment",
          fix: QUOTE,
        });
      return found.length >= MOST ? visit.BREAK : undefined;
    },
  });
  return found;
}

const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["str", "map", "seq", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

const start = (node: unknown): number =>
  (node as { range?: [number, number, number] } | null)?.range?.[0] ?? 0;

/** Whether a comment took the end of an expression away: what is left has an open brace or quote. */
function cutOff({ type, comment, value }: Scalar): boolean {
  if (type !== "PLAIN" || typeof comment !== "string" || typeof value !== "string") return false;
  const open = value.lastIndexOf("${{");
  if (open >= 0 && !value.includes("}}", open)) return true;
  return ['"', "'"].some((quote) => value.split(quote).length % 2 === 0 && comment.includes(quote));
}
