/** Compiles expressions and templates to what the executor evaluates. */
import { MAX_EXPRESSION_OUTPUT } from "./limits.ts";
import { compile } from "./compile.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { ParsedExpression } from "./parse.ts";
import { charge, chargeText, limitExceeded, startEvaluation } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import type { CompiledExpression, ExpressionIssue, Scope } from "./types.ts";
import { setField, toJson, formatAsText } from "./values.ts";
import { parseValue } from "./value-tree.ts";
import type { ValueTree } from "./value-tree.ts";

export interface CompileOptions {
  /** Maximum output, in bytes of JSON; MAX_EXPRESSION_OUTPUT by default. */
  maxOutputBytes?: number;
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
  const evaluate = compileTree(tree, steps);
  return compiled(evaluate, steps, { input: "", pos: 0 }, options);
}

/** Returns plain JSON that was charged as output. */
type Evaluator = (run: Evaluation) => unknown;

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
    evaluate(scope: Scope) {
      const run = startEvaluation(scope, place, maxOutput);
      try {
        return evaluate(run);
      } catch (error) {
        if (isStackOverflow(error)) throw limitExceeded(run, "exceeds the call stack", "stack", 0);
        throw run.detailedErrors.get(error as Error)?.() ?? error;
      }
    },
  };
}

/** The limits on depth keep expressions far from it, but their caller may have used up most of the stack. */
const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message.startsWith("Maximum call stack");

function evaluator(parsed: ParsedExpression): Evaluator {
  const evaluate = valueOf(parsed);
  return (run) => toJson(run, evaluate(run));
}

/** Returns the value of an expression before it becomes JSON and is charged as output. */
function valueOf({ source, expr }: ParsedExpression): Evaluator {
  const evaluate = compile(expr);
  const place = { input: source, pos: 0 };
  return (run) => {
    run.location = place;
    charge(run, 1);
    return evaluate(run);
  };
}

function compileTree(tree: ValueTree, steps: Set<string>): Evaluator {
  switch (tree.kind) {
    case "constant":
      return (run) => toJson(run, tree.value);
    case "expression":
      addAll(steps, tree.parsed.stepIds);
      return evaluator(tree.parsed);
    case "text":
      return compileText(tree.parts, steps);
    case "list": {
      const items = tree.items.map((item) => compileTree(item, steps));
      return (run) => items.map((item) => item(run));
    }
    default: {
      const fields = tree.fields.map(([name, of]) => ({ name, evaluate: compileTree(of, steps) }));
      return (run) => {
        const object: Record<string, unknown> = {};
        for (const { name, evaluate } of fields) setField(object, name, evaluate(run));
        return object;
      };
    }
  }
}

function compileText(parts: readonly (string | ParsedExpression)[], steps: Set<string>): Evaluator {
  const compiledParts = parts.map((part) => {
    if (typeof part === "string") return part;
    addAll(steps, part.stepIds);
    return valueOf(part);
  });
  return (run) => {
    let text = "";
    for (const part of compiledParts) {
      const more = typeof part === "string" ? part : formatAsText(run, part(run));
      chargeText(run, text.length + more.length);
      text += more;
    }
    return toJson(run, text);
  };
}

function addAll(to: Set<string>, from: ReadonlySet<string>): void {
  for (const id of from) to.add(id);
}
