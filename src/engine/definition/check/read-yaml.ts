/**
 * Reads a definition written as YAML (1.2, core schema) or JSON, which is YAML too. It reports valid YAML that hardly
 * means what its author intended, above all an expression without quotes.
 */
import { MAX_JSON_DEPTH } from "../../../../schemas/text.ts";
import {
  Composer,
  type Document,
  isAlias,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  type Scalar,
  visit,
  YAMLParseError,
} from "yaml";
import { describeHiddenCharacter } from "../../../../schemas/hidden-characters.ts";
import { offsetOf, offsetOfPlace } from "../../../core/yaml-positions.ts";
import type { Issue } from "../../../../schemas/problem.ts";
import { HIDDEN_CHARACTERS, type LocatedIssue } from "./check-report.ts";
import { isJsonText, type MisreadScalar, readScalars } from "./yaml-scalars.ts";
import { type YamlValueIssue, yamlValueIssues } from "./yaml-values.ts";

/** Maximum number of alias expansions. */
const MAX_ALIASES = 100;
/** Maximum number of nodes that the parser has begun and not ended: the levels, the document and what is in the last level. */
const MAX_OPEN_NODES = MAX_JSON_DEPTH + 4;
/** Maximum number of reported issues. */
const MAX_ISSUES = 100;
/** The lexeme of the library before a scalar. */
const SCALAR = "\u001F";

interface SourcePosition {
  line: number;
  column: number;
}

type TextIssue = Omit<Issue, "path" | "patch"> & SourcePosition;
/** An issue of one value in the text. */
type ValueIssue = Omit<YamlValueIssue, "offset"> & SourcePosition;

export interface ParsedYaml {
  /** Undefined if the text could not be read. */
  value: unknown;
  issues: TextIssue[];
  /** Issues of values that are read: they can be checked further, but not stored. */
  valueIssues: ValueIssue[];
  /** Values that may have been meant as text. */
  misread: MisreadScalar[];
  /** Returns for each issue the position of its place, or of the key of its path, or of the innermost node around it. */
  locate(issues: readonly Pick<LocatedIssue, "path" | "place">[]): SourcePosition[];
}

const QUOTE = "Quote it: write the value in \" or ' quotes, or as a block after |.";

/** Error codes of the parser for an expression without quotes. */
const UNQUOTED: ReadonlySet<string> = new Set([
  "BLOCK_AS_IMPLICIT_KEY",
  "MISSING_CHAR",
  "TAG_RESOLVE_FAILED",
  "UNEXPECTED_TOKEN",
  "BAD_SCALAR_START",
]);

export function readYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const at = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const parsed = parse(text, lines);
  if ("tooDeepAt" in parsed) {
    const issue = { ...TOO_DEEP, ...at(parsed.tooDeepAt) };
    return { value: undefined, issues: [issue], valueIssues: [], misread: [], locate: () => [] };
  }
  const { document } = parsed;
  const issues: TextIssue[] = [];
  for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, MAX_ISSUES))
    issues.push({
      code: "invalid_yaml",
      message: `is invalid YAML: ${message}`,
      ...at(pos[0]),
      ...(UNQUOTED.has(code) && { fix: QUOTE }),
    });
  for (const { offset, ...issue } of misreadings(document)) issues.push({ ...issue, ...at(offset) });
  if (issues.length > 0)
    return { value: undefined, issues: distinct(issues), valueIssues: [], misread: [], locate: () => [] };
  const misread = readScalars(document);
  const valueIssues = [...parsed.commentIssues, ...yamlValueIssues(document)].map(
    ({ offset, ...issue }): ValueIssue => Object.assign(issue, at(offset)),
  );
  // Converting them would fail, or take long.
  const unreadable = valueIssues.filter(({ code }) => code === "invalid_yaml");
  if (unreadable.length > 0)
    return {
      value: undefined,
      issues: unreadable.map(({ code, message, fix = "", line, column }) => ({
        code,
        message,
        fix,
        line,
        column,
      })),
      valueIssues: [],
      misread: [],
      locate: () => [],
    };
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      issues,
      valueIssues,
      misread: misread.length > 0 && isJsonText(text) ? [] : misread,
      locate: (located) =>
        located.map(({ path, place }) =>
          at(
            (place === undefined ? undefined : offsetOfPlace({ document, text }, path, place)) ??
              offsetOf(document, path),
          ),
        ),
    };
  } catch (error) {
    const message = `could not be read: ${(error as Error).message}`;
    return {
      value: undefined,
      issues: [{ code: "invalid_yaml", message, ...at(0) }],
      valueIssues: [],
      misread: [],
      locate: () => [],
    };
  }
}

/** A definition that is nested too deep. */
export const TOO_DEEP = {
  code: "too_deep",
  message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
};

/**
 * Parses a document as `parseDocument` does, but stops where it is nested too deep: what follows the parser is recursive, and takes
 * long for text that is brackets only.
 */
function parse(
  text: string,
  lines: LineCounter,
): { document: Document; commentIssues: YamlValueIssue[] } | { tooDeepAt: number } {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    // Found by yamlValueIssues, with their paths.
    uniqueKeys: false,
    merge: true,
    logLevel: "error",
  });
  let tooDeepAt: number | undefined;
  const commentIssues: YamlValueIssue[] = [];
  function* tokens() {
    lines.addNewLine(0);
    let before = "";
    for (const lexeme of new Lexer().lex(text)) {
      if (lexeme.startsWith("#") && before !== SCALAR) {
        const issue = hiddenInComment(lexeme, parser.offset);
        if (issue !== undefined && commentIssues.length < MAX_ISSUES) commentIssues.push(issue);
      }
      before = lexeme;
      yield* parser.next(lexeme);
      if (parser.stack.length > MAX_OPEN_NODES) {
        tooDeepAt = parser.offset;
        return;
      }
    }
    yield* parser.end();
  }
  // At least one, also of an empty text.
  const [document, second] = composer.compose(tokens(), true, text.length);
  if (tooDeepAt !== undefined) return { tooDeepAt };
  if (second !== undefined) {
    const [start, end] = second.range;
    const message = "Source contains multiple documents";
    document!.errors.push(new YAMLParseError([start, end], "MULTIPLE_DOCS", message));
  }
  return { document: document!, commentIssues };
}

/** A comment is stored, and agents and people read it, like a description. */
function hiddenInComment(comment: string, offset: number): YamlValueIssue | undefined {
  const hidden = describeHiddenCharacter(comment, "line");
  return hidden === undefined
    ? undefined
    : {
        path: [],
        code: HIDDEN_CHARACTERS,
        message: `has a comment with the hidden character ${hidden}`,
        fix: "Delete the character.",
        offset,
      };
}

/** Keeps one issue per line: the parser reports the same mistake several times. */
function distinct(issues: TextIssue[]): TextIssue[] {
  const first = new Map(issues.toReversed().map((issue) => [issue.line, issue]));
  return [...first.values()].toSorted((a, b) => a.line - b.line).slice(0, MAX_ISSUES);
}

type Misreading = Omit<Issue, "path"> & { offset: number };

/** Finds valid YAML that hardly means what its author intended. */
function misreadings(document: Document): Misreading[] {
  const found: Misreading[] = [];
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== "1.2")
    found.push({
      offset: 0,
      code: "invalid_yaml",
      message: "must be YAML 1.2",
      fix: "Remove the %YAML directive.",
    });
  const open = new Set<string>();
  visit(document, {
    Alias(_, alias, path) {
      const inside = path.some((node) => isNode(node) && "anchor" in node && node.anchor === alias.source);
      if (inside)
        found.push({
          offset: start(alias),
          code: "invalid_yaml",
          message: "must not be an alias of a node around it",
        });
    },
    Pair(_, pair) {
      if (isScalar(pair.key) || isAlias(pair.key) || pair.key === null) return undefined;
      found.push({
        offset: start(pair.key),
        code: "invalid_yaml",
        message: "must be text as a key, got an object or a list: { begins an object in YAML",
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
          message: `must not have a tag, got ${tag}`,
          fix: QUOTE,
        });
      }
      if (isScalar(node) && isCutOff(node))
        found.push({
          offset: start(node),
          code: "invalid_yaml",
          message: "is cut off: # after a space begins a comment",
          fix: QUOTE,
        });
      return found.length >= MAX_ISSUES ? visit.BREAK : undefined;
    },
  });
  return found;
}

const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ["str", "map", "seq", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

const start = (node: unknown): number =>
  (node as { range?: [number, number, number] } | null)?.range?.[0] ?? 0;

/** Whether a comment cuts off the end of an expression, which leaves a brace or a quote open. */
function isCutOff({ type, comment, value }: Scalar): boolean {
  if (type !== "PLAIN" || typeof comment !== "string" || typeof value !== "string") return false;
  const open = value.lastIndexOf("${{");
  if (open >= 0 && !value.includes("}}", open)) return true;
  return ['"', "'"].some((quote) => value.split(quote).length % 2 === 0 && comment.includes(quote));
}
