/** Checks expressions and values with templates against the types of their scope. */
import { ANY, shapeOfConstant } from "../../../core/shapes.ts";
import { checkExpression } from "./check.ts";
import { createCheckBudget, type CheckBudget } from "./check-names.ts";
import { operandsOf, type SyntaxNode } from "./cel-parser.ts";
import { addIssue, formatNode, issueAt, truncate } from "./failures.ts";
import { type DottedNames, dottedNamesOf } from "./field-names.ts";
import { bracketNames, rewriteWhole } from "./syntax-rewrites.ts";
import { isPercentEncoded } from "./url-parts.ts";
import { unwrapExpression, parseCel } from "./parse.ts";
import type { ParsedExpression, ParseResult } from "./parse.ts";
import type { CheckResult, ExpressionIssue, TypeScope } from "./types.ts";
import { listType, toShape } from "./typing.ts";
import type { UnionBudget, Type } from "./typing.ts";
import { parseValueIncrementally } from "./value-tree.ts";
import type { Resumable, ValueTree } from "./value-tree.ts";

/** @param source one bare expression, or one whole `${{ }}` */
export function checkSource(source: string, scope: TypeScope): CheckResult {
  const bare = unwrapExpression(source);
  const names = dottedNamesOf(scope);
  const parsed: ParseResult = typeof bare === "string" ? parseCel(bare, names) : bare;
  const issues: ExpressionIssue[] = "issues" in parsed ? [...parsed.issues] : [];
  const expression = "issues" in parsed ? parsed.partial : parsed;
  if (expression === undefined) return { shape: ANY, issues };
  const { type, found } = checkParsed(expression, scope, createCheckBudget(), names);
  for (const issue of found) addIssue(issues, issue);
  return { shape: toShape(type), issues };
}

interface CheckedExpression {
  type: Type;
  found: readonly ExpressionIssue[];
}

/** Checks an expression. If it is wrong only because it reads the name of a field as a subtraction, that is its issue. */
function checkParsed(
  { source, expr }: ParsedExpression,
  scope: TypeScope,
  budget: CheckBudget,
  names: DottedNames,
): CheckedExpression {
  const found: ExpressionIssue[] = [];
  const type = checkExpression(expr, scope, found, budget);
  if (!found.some(isError)) return { type, found };
  const meant = bracketNames(source, names);
  const parsed = meant === undefined ? undefined : parseCel(meant);
  if (meant === undefined || parsed === undefined || "issues" in parsed) return { type, found };
  const others: ExpressionIssue[] = [];
  const meantType = checkExpression(parsed.expr, scope, others, budget);
  if (others.filter(isError).length >= found.filter(isError).length) return { type, found };
  const pos = source.split("").findIndex((unit, at) => unit !== meant[at]);
  const issue = issueAt(
    "unknown_field",
    { input: source, pos },
    "reads a name with - or another operator in it, which CEL takes apart",
    {
      fix: `Write ${truncate(meant)}.`,
      did_you_mean: truncate(meant),
      rewrite: rewriteWhole(source, meant),
    },
  );
  return { type: meantType, found: [issue] };
}

const isError = ({ severity }: ExpressionIssue): boolean => severity === undefined;

/**
 * @param value any JSON; each string in it is a template
 * @param encoding how values inside its texts are encoded
 */
export function* checkTemplates(value: unknown, scope: TypeScope, encoding?: "url"): Resumable<CheckResult> {
  const names = dottedNamesOf(scope);
  const { tree, issues } = yield* parseValueIncrementally(value, names);
  const budget = createCheckBudget();
  const checkOne = (parsed: ParsedExpression, path: readonly PropertyKey[]): Type => {
    const { type, found } = checkParsed(parsed, scope, budget, names);
    for (const issue of found) addIssue(issues, { ...issue, path: [...path] });
    return type;
  };
  const shape = toShape(yield* treeType(tree, checkOne, budget.unions));
  if (encoding === "url" && tree.kind === "text")
    for (const issue of encodedParts(tree.parts)) addIssue(issues, { ...issue, path: [...tree.path] });
  return { shape, issues };
}

/** Warns of text with the delimiters of a URL where it is encoded. */
const encodedParts = (parts: readonly (string | ParsedExpression)[]): ExpressionIssue[] =>
  parts.flatMap((part, index) => {
    if (typeof part === "string" || !isPercentEncoded(part, index)) return [];
    const { expr } = part;
    if (!containsDelimiter(expr.at)) return [];
    const source = formatNode(expr.at);
    return [
      issueAt(
        "encoded",
        expr.at,
        `inserts ${source} into a URL, where its /, ?, # and & are percent-encoded`,
        {
          severity: "warning",
          fix: `Write raw(${source}) if they are delimiters of the URL, or encode its parts with url_encode(…).`,
        },
      ),
    ];
  });

const containsDelimiter = (node: SyntaxNode): boolean =>
  node.op === "value"
    ? typeof node.args === "string" && /[/?#&]/.test(node.args)
    : operandsOf(node).some(containsDelimiter);

type CheckOne = (parsed: ParsedExpression, path: readonly PropertyKey[]) => Type;

function* treeType(tree: ValueTree, checkOne: CheckOne, unions: UnionBudget): Resumable<Type> {
  switch (tree.kind) {
    case "constant":
      return typeOfConstant(tree.value, unions);
    case "expression":
      yield;
      return checkOne(tree.parsed, tree.path);
    case "text":
      for (const part of tree.parts) {
        if (typeof part === "string") continue;
        yield;
        checkOne(part, tree.path);
      }
      return { kind: "string" };
    case "list": {
      const types: Type[] = [];
      for (const item of tree.items) types.push(yield* treeType(item, checkOne, unions));
      return listType(types, unions);
    }
    default: {
      const fields: [string, Type][] = [];
      for (const [name, of] of tree.fields) fields.push([name, yield* treeType(of, checkOne, unions)]);
      return { kind: "object", fields: Object.fromEntries(fields) };
    }
  }
}

/** The depth of the value is limited: the parser checked it. */
function typeOfConstant(value: unknown, unions: UnionBudget): Type {
  if (typeof value !== "object" || value === null) return shapeOfConstant(value);
  const typeOf = (inner: unknown): Type => typeOfConstant(inner, unions);
  if (Array.isArray(value)) return listType(value.map(typeOf), unions);
  return {
    kind: "object",
    fields: Object.fromEntries(Object.entries(value).map(([name, of]) => [name, typeOf(of)])),
  };
}
