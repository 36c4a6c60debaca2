/** Parses an expression and resolves its names and functions. All issues are found at once. */
import { operandsOf, parseSyntax, type SyntaxFailure, type SyntaxNode } from "./cel-parser.ts";
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_ISSUES, MAX_EXPRESSION_LENGTH } from "./limits.ts";
import { truncate, issueAt } from "./failures.ts";
import type { DottedNames } from "./field-names.ts";
import { type Reads, resolve } from "./resolve.ts";
import { closeTemplate, joinTemplates, rewriteWhole, translateSyntax } from "./syntax-rewrites.ts";
import { splitTemplate, wholeExpression } from "./template.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue } from "./types.ts";

export interface ParsedExpression {
  source: string;
  expr: Expr;
  reads: Reads;
}

/** With issues, `partial` is what can be checked nevertheless. */
export type ParseResult = ParsedExpression | { issues: ExpressionIssue[]; partial?: ParsedExpression };

/** Returns the source of a field that takes bare CEL or one whole `${{ }}`. */
export function unwrapExpression(text: string): string | { issues: ExpressionIssue[] } {
  // Bare CEL has no `$` outside of its strings.
  if (!text.trimStart().startsWith("${{")) return text.trim();
  const whole = wholeExpression(splitTemplate(text));
  if (whole !== undefined) return whole;
  const joined = joinTemplates(text) ?? closeTemplate(text);
  const fix =
    joined === undefined ? "Write one expression, bare or inside a single ${{ … }}." : `Write ${joined}.`;
  const more = { fix, ...(joined !== undefined && { rewrite: rewriteWhole(text, joined) }) };
  return {
    issues: [issueAt("expression_syntax", { input: text, pos: 0 }, "must be a single expression", more)],
  };
}

/**
 * Parses one expression, without its `${{ }}`.
 * @param names the fields that it may read, for the fix of one that does not parse
 */
export function parseCel(source: string, names?: DottedNames): ParseResult {
  const start = { input: source, pos: 0 };
  if (source.length > MAX_EXPRESSION_LENGTH) {
    const message = `must be at most ${MAX_EXPRESSION_LENGTH} characters, got ${source.length}`;
    const fix = "Split it over several set steps, or write it as SQL.";
    return { issues: [issueAt("expression_too_long", start, message, { fix })] };
  }
  if (source.trim() === "") {
    const fix =
      "Write an expression, such as ${{ inputs.name }}. For the characters ${{ themselves, write $${{.";
    return { issues: [issueAt("expression_syntax", start, "must not be an empty expression", { fix })] };
  }
  const parsed = parseSyntax(source);
  if ("failure" in parsed) {
    const { failure } = parsed;
    return { issues: [failure.kind === "too_deep" ? tooDeep(source) : syntaxIssue(source, failure, names)] };
  }
  if (isTooDeep(parsed.root)) return { issues: [tooDeep(source)] };
  const issues: ExpressionIssue[] = [];
  const reads: Reads = { stepIds: new Set(), names: new Set() };
  const expr = resolve(parsed.root, reads, (issue) => {
    if (issues.length < MAX_EXPRESSION_ISSUES) issues.push(issue);
  });
  const expression = { source, expr, reads };
  return issues.length > 0 ? { issues, partial: expression } : expression;
}

function tooDeep(source: string): ExpressionIssue {
  const message = `must not be nested deeper than ${MAX_EXPRESSION_DEPTH} levels (each operator of a chain is one)`;
  const fix = "Split it over several set steps.";
  return issueAt("expression_too_deep", { input: source, pos: 0 }, message, { fix });
}

function isTooDeep(root: SyntaxNode): boolean {
  let level = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_EXPRESSION_DEPTH) return true;
    level = level.flatMap(operandsOf);
  }
  return false;
}

function syntaxIssue(source: string, failure: SyntaxFailure, names?: DottedNames): ExpressionIssue {
  const translated = translateSyntax(source, names);
  const sentences = [
    syntaxFix(source, failure.start) ?? nameFix(source, failure, translated),
    translated && `Write ${truncate(translated)}.`,
  ];
  const fix = sentences.filter((sentence) => sentence !== undefined).join(" ");
  return issueAt(
    "expression_syntax",
    { input: source, pos: failure.start },
    `has a syntax error: ${describeFailure(source, failure)}`,
    {
      ...(fix !== "" && { fix }),
      ...(translated !== undefined && { rewrite: rewriteWhole(source, translated) }),
    },
  );
}

/** Recognizes syntax of JavaScript and SQL that CEL does not have. */
function syntaxFix(source: string, pos: number): string | undefined {
  const rest = source.slice(pos);
  const before = source.slice(0, pos);
  if (rest.startsWith("$")) return "Write names without ${{ }} inside an expression.";
  if (rest.startsWith("=>") || /=>/.test(source.slice(pos, pos + 3)))
    return "CEL has no arrow functions. Write rows.map(r, r.name).";
  if (/^=(?!=)/.test(rest)) return "Compare two values with ==.";
  if (/^\?\s*[.[]/.test(rest) || (/^[.[]/.test(rest.trimStart()) && /\?\s*$/.test(before)))
    return "Write . without ?: a field of null is null. For a default, write x ?? ….";
  if (/^\.\d+(?!\w)/.test(rest)) return "Write the position in brackets: list[0].";
  if (/^[&|]/.test(rest)) return "Write && or ||.";
  if (/^and\b/i.test(rest)) return "Write &&.";
  if (/^or\b/i.test(rest)) return "Write ||.";
  if (/\bnot\s+$/i.test(before)) return "Write !.";
  if (rest.startsWith("`")) return "Write texts in single or double quotes, and join them with +.";
  return /\.\s*$/.test(before) ? 'Write this name in brackets: x["in"].' : undefined;
}

/** Says how names with letters beyond ASCII are written, where no translation shows it. */
const nameFix = (source: string, { start }: SyntaxFailure, translated?: string): string | undefined =>
  translated === undefined && /^(?=\P{ASCII})\p{L}/u.test(source.slice(start))
    ? 'Name variables with A-Z, a-z, 0-9 and _, and write other fields in brackets: inputs["größe"].'
    : undefined;

/** The parser names an unexpected word by its last letter only, so the message quotes the source instead. */
function describeFailure(source: string, { kind, start, end, token, summary }: SyntaxFailure): string {
  const found =
    start >= source.trimEnd().length
      ? "the end of the expression"
      : truncate(source.slice(start, Math.max(end, start + 1)));
  if (kind === "unexpected") return `unexpected ${found}`;
  if (kind === "expected") return `expected ${token}, got ${found}`;
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
}
