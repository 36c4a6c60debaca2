/** Writes and reads with the YAML library. Loaded on demand by ./format.ts. */
import { Document, LineCounter, parseDocument, Scalar, visit } from "yaml";
import * as texts from "#texts/editor";
import type { EditorIssue } from "./format.ts";

export const PARSE_OPTIONS = {
  version: "1.2",
  schema: "core",
  prettyErrors: false,
  uniqueKeys: true,
  logLevel: "error",
} as const;
const MAX_ALIASES = 100;

/** What to do about the parser's commonest errors, by their code. */
const HINTS: Readonly<Record<string, string>> = {
  BAD_INDENT: texts.alignLine,
  BAD_SCALAR_START: texts.quoteValue,
  BLOCK_AS_IMPLICIT_KEY: texts.quoteColon,
  DUPLICATE_KEY: texts.deleteOneKey,
  MULTILINE_IMPLICIT_KEY: texts.addColon,
  TAB_AS_INDENT: texts.indentWithSpaces,
  TAG_RESOLVE_FAILED: texts.deleteTag,
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
        message: texts.invalidYaml({ problem: message }),
        fix: HINTS[code] ?? texts.checkYaml,
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
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    const message = texts.invalidYaml({ problem: (error as Error).message });
    return { issues: [{ message, path: "", line: 1, column: 1, severity: "error" }] };
  }
}

/** Whether the text has comments. */
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

/** @param text without syntax errors */
export const formatYaml = (text: string): string =>
  parseDocument(text, PARSE_OPTIONS).toString({ lineWidth: 0, minContentWidth: 0 });

const FIRST_AT_TOP = ["id", "name", "description", "tags", "inputs", "steps", "output"];
const FIRST_IN_STEP = ["id", "type", "description", "needs", "if", "for_each", "concurrency"];
const LAST_IN_STEP = ["retry", "timeout", "on_error", "cache"];

/** YAML with block strings, quoted expressions and a fixed key order, so that versions compare well. */
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
