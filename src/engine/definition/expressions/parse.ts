/** From source to a tree: cel-js parses, names and functions are resolved here. Faults come all at once. */
import { Environment, ParseError } from "@marcbachmann/cel-js";
import type { ASTNode } from "@marcbachmann/cel-js";
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_ISSUES, MAX_EXPRESSION_LENGTH } from "./limits.ts";
import { truncate, issueAt } from "./failures.ts";
import { resolve } from "./resolve.ts";
import { splitTemplate, wholeExpression } from "./template.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue } from "./types.ts";

export interface ParsedExpression {
  source: string;
  expr: Expr;
  /** Ids of the steps that it reads. */
  stepIds: Set<string>;
}

export type ParseResult = ParsedExpression | { issues: ExpressionIssue[] };

// Only its parser is used: the evaluation that JSON numbers need (5 / 2 == 2.5) can't be registered with it.
const CEL = new Environment({
  limits: {
    maxDepth: MAX_EXPRESSION_DEPTH,
    maxAstNodes: MAX_EXPRESSION_LENGTH * 2,
    maxListElements: MAX_EXPRESSION_LENGTH,
    maxMapEntries: MAX_EXPRESSION_LENGTH,
    maxCallArguments: 100,
  },
});

/** The source of a field that takes bare CEL or one whole `${{ }}`. */
export function unwrapExpression(text: string): string | { issues: ExpressionIssue[] } {
  // Bare CEL has no `$`, apart from what stands in its strings.
  if (!text.trimStart().startsWith("${{")) return text.trim();
  const whole = wholeExpression(splitTemplate(text));
  if (whole !== undefined) return whole;
  const fix = "Write one expression, bare or as one whole ${{ … }}.";
  return {
    issues: [issueAt("expression_syntax", { input: text, pos: 0 }, "is not one expression", { fix })],
  };
}

/** Parses one expression, without its `${{ }}`. */
export function parseCel(source: string): ParseResult {
  const start = { input: source, pos: 0 };
  if (source.length > MAX_EXPRESSION_LENGTH) {
    const message = `has ${source.length} characters; ${MAX_EXPRESSION_LENGTH} is the most`;
    const fix = "Split it over several steps (type: set), or write it as SQL.";
    return { issues: [issueAt("expression_too_long", start, message, { fix })] };
  }
  if (source.trim() === "") {
    const fix = "Write an expression, such as ${{ inputs.name }}; $${{ stands for the characters themselves.";
    return { issues: [issueAt("expression_syntax", start, "is empty", { fix })] };
  }
  const tooDeep = (): ParseResult => {
    const message = `is nested deeper than ${MAX_EXPRESSION_DEPTH} levels (each operator of a chain is one)`;
    const fix = "Split it over several steps (type: set).";
    return { issues: [issueAt("expression_too_deep", start, message, { fix })] };
  };
  let ast: ASTNode;
  try {
    ast = (CEL.parse(source) as unknown as { ast: ASTNode }).ast;
  } catch (error) {
    // The parser goes down a level for each of `----1` uncounted.
    if (error instanceof RangeError) return tooDeep();
    if (!(error instanceof ParseError)) throw error;
    if (error.code === "limit_exceeded" && error.summary.includes("maxDepth")) return tooDeep();
    return { issues: [syntaxIssue(source, error)] };
  }
  if (isTooDeep(ast)) return tooDeep();
  const issues: ExpressionIssue[] = [];
  const stepIds = new Set<string>();
  const expr = resolve(ast, stepIds, (issue) => {
    if (issues.length < MAX_EXPRESSION_ISSUES) issues.push(issue);
  });
  return issues.length > 0 ? { issues } : { source, expr, stepIds };
}

/** Why it does not parse, with the words of JavaScript and of SQL that CEL spells otherwise. */
function syntaxIssue(source: string, error: ParseError): ExpressionIssue {
  const pos = error.range?.start ?? 0;
  const rest = source.slice(pos);
  const before = source.slice(0, pos);
  let fix: string | undefined;
  if (rest.startsWith("$")) fix = "Inside an expression names stand as they are, without ${{ }}.";
  else if (rest.startsWith("=>") || /=>/.test(source.slice(pos, pos + 3)))
    fix = "There are no arrow functions in CEL: write rows.map(r, r.name).";
  else if (/^=(?!=)/.test(rest)) fix = "Two values are compared with ==.";
  else if (rest.startsWith("?") || /\?\s*$/.test(before))
    fix = "There is no ?. or ?? in CEL: a field of null is null, and x == null ? … : … chooses.";
  else if (/^[&|]/.test(rest)) fix = "Write && or ||.";
  else if (/^and\b/i.test(rest)) fix = "Write &&.";
  else if (/^or\b/i.test(rest)) fix = "Write ||.";
  else if (/\bnot\s+$/i.test(before)) fix = "Write !.";
  else if (rest.startsWith("`")) fix = "Texts stand in single or double quotes; + joins them.";
  else if (/\.\s*$/.test(before)) fix = 'Write a name of this kind in brackets: x["in"].';
  return issueAt(
    "expression_syntax",
    { input: source, pos },
    reason(source, error),
    fix === undefined ? {} : { fix },
  );
}

/** What the parser met; it names its tokens (RPAREN) and of an unexpected word only the last letter. */
function reason(source: string, error: ParseError): string {
  const { start, end } = error.range ?? { start: 0, end: 0 };
  const met =
    start >= source.trimEnd().length ? "the end" : truncate(source.slice(start, Math.max(end, start + 1)));
  switch (error.code) {
    case "unexpected_character":
    case "unexpected_token":
      return `does not parse: ${met} is not expected here`;
    case "expected_token": {
      const name = /^Expected (\w+)/.exec(error.summary)?.[1] ?? "";
      return `does not parse: ${TOKENS[name] ?? name.toLowerCase()} is expected here, not ${met}`;
    }
    default:
      return `does not parse: ${error.summary.charAt(0).toLowerCase()}${error.summary.slice(1)}`;
  }
}

const TOKENS: Readonly<Record<string, string>> = {
  COLON: ":",
  IDENTIFIER: "a name",
  RBRACE: "}",
  RBRACKET: "]",
  RPAREN: ")",
};

/** The nodes right below one, whatever its operator. */
function below(node: ASTNode): ASTNode[] {
  const args: unknown = node.args;
  if (!Array.isArray(args)) return isNode(args) ? [args] : [];
  return args.flat(2).filter(isNode);
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === "object" && value !== null && "op" in value && "args" in value;

function isTooDeep(root: ASTNode): boolean {
  let level = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_EXPRESSION_DEPTH) return true;
    level = level.flatMap(below);
  }
  return false;
}
