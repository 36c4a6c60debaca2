/** Compiles expressions and templates to functions that the executor calls. */
import { MAX_EXPRESSION_OUTPUT } from "./limits.ts";
import { compileBlock } from "./compile.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { ParsedExpression } from "./parse.ts";
import { charge, chargeText, limitExceeded, startEvaluation } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import type { CompiledExpression, ExpressionIssue, Scope } from "./types.ts";
import { encodeForUrl } from "./text-functions.ts";
import { isPercentEncoded } from "./url-parts.ts";
import { setField, toJson, formatAsText } from "./values.ts";
import { parseValue } from "./value-tree.ts";
import type { ValueTree } from "./value-tree.ts";

export interface CompileOptions {
  /** Maximum output, in bytes of JSON; MAX_EXPRESSION_OUTPUT by default. */
  maxOutputBytes?: number;
  /** `url`: values inside a text are percent-encoded, except at its start and those of raw() and url_encode(). */
  encoding?: "url" | undefined;
}

const NO_STEPS: ReadonlySet<string> = new Set();

export const compileConstant = (value: unknown): CompiledExpression => ({
  stepIds: NO_STEPS,
  isConstant: true,
  evaluate: () => value,
});

export function compileExpression(parsed: ParsedExpression, options: CompileOptions): CompiledExpression {
  return compiled(evaluator(parsed), parsed.stepIds, { input: parsed.source, pos: 0 }, options);
}

/** Compiles a JSON value with templates. Without an expression in it `evaluate` returns the same object each time. */
export function compileTemplates(
  value: unknown,
  options: CompileOptions,
): CompiledExpression | { issues: ExpressionIssue[] } {
  const { tree, issues } = parseValue(value);
  if (issues.length > 0) return { issues };
  if (tree.kind === "constant") return compileConstant(tree.value);
  const steps = new Set<string>();
  const evaluate = compileTree(tree, steps, options.encoding);
  return compiled(evaluate, steps, { input: "", pos: 0 }, options);
}

/** Returns plain JSON that was charged as output. */
type Evaluator = (evaluation: Evaluation) => unknown;

function compiled(
  evaluate: Evaluator,
  stepIds: ReadonlySet<string>,
  place: SourceLocation,
  options: CompileOptions,
): CompiledExpression {
  const maxOutput = options.maxOutputBytes ?? MAX_EXPRESSION_OUTPUT;
  return {
    stepIds,
    isConstant: false,
    evaluate(scope: Scope, maxCost?: number) {
      const evaluation = startEvaluation(scope, place, maxOutput, maxCost);
      try {
        return evaluate(evaluation);
      } catch (error) {
        if (isStackOverflow(error)) throw limitExceeded(evaluation, "exceeds the call stack", "stack", 0);
        throw evaluation.detailedErrors.get(error as Error)?.() ?? error;
      }
    },
  };
}

/** The limits on depth keep expressions far from it, but their caller may have used up most of the stack. */
const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.startsWith("Maximum call stack");

function evaluator(parsed: ParsedExpression): Evaluator {
  const evaluate = compileTimed(parsed);
  return (evaluation) => toJson(evaluation, evaluate(evaluation));
}

/** Work of starting one of the expressions of a value. */
const START_COST = 5;

/** Compiles an expression. Its value is not yet converted to JSON or charged as output. */
function compileTimed({ source, expr }: ParsedExpression): Evaluator {
  const evaluate = compileBlock(expr);
  const place = { input: source, pos: 0 };
  return (evaluation) => {
    evaluation.location = place;
    charge(evaluation, START_COST);
    return evaluate(evaluation);
  };
}

function compileTree(tree: ValueTree, steps: Set<string>, encoding?: "url"): Evaluator {
  switch (tree.kind) {
    case "constant":
      return (evaluation) => toJson(evaluation, tree.value);
    case "expression":
      addAll(steps, tree.parsed.stepIds);
      return evaluator(tree.parsed);
    case "text":
      return compileText(tree.parts, steps, encoding);
    case "list": {
      const items = tree.items.map((item) => compileTree(item, steps, encoding));
      return (evaluation) => items.map((item) => item(evaluation));
    }
    default: {
      const fields = tree.fields.map(([name, of]) => ({ name, evaluate: compileTree(of, steps, encoding) }));
      return (evaluation) => {
        const object: Record<string, unknown> = {};
        for (const { name, evaluate } of fields) setField(object, name, evaluate(evaluation));
        return object;
      };
    }
  }
}

function compileText(
  parts: readonly (string | ParsedExpression)[],
  steps: Set<string>,
  encoding?: "url",
): Evaluator {
  const compiledParts = parts.map((part, index) => {
    if (typeof part === "string") return part;
    addAll(steps, part.stepIds);
    const evaluate = compileTimed(part);
    return encoding === "url" && isPercentEncoded(part, index)
      ? (evaluation: Evaluation) => encodeForUrl(evaluation, formatAsText(evaluation, evaluate(evaluation)))
      : (evaluation: Evaluation) => formatAsText(evaluation, evaluate(evaluation));
  });
  return (evaluation) => {
    let text = "";
    for (const part of compiledParts) {
      const addition = typeof part === "string" ? part : part(evaluation);
      chargeText(evaluation, text.length + addition.length);
      text += addition;
    }
    return toJson(evaluation, text);
  };
}

function addAll(to: Set<string>, from: ReadonlySet<string>): void {
  for (const id of from) to.add(id);
}
