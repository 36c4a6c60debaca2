/** Compiles expressions and templates to functions that the executor calls. */
import { MAX_EXPRESSION_OUTPUT } from "./limits.ts";
import { compileBlock } from "./compile.ts";
import type { SourceLocation } from "./cel-parser.ts";
import type { ParsedExpression } from "./parse.ts";
import { ExpressionError } from "./failures.ts";
import { charge, chargeText, limitExceeded, startEvaluation } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import type { Reads } from "./resolve.ts";
import type { CompiledExpression, ExpressionIssue } from "./types.ts";
import { encodeForUrl } from "./text-functions.ts";
import { assertUrlParts, assertUrlText, isPercentEncoded, mustStay, type UrlValue } from "./url-parts.ts";
import { setField, toJson, formatAsText } from "./values.ts";
import { parseValue } from "./value-tree.ts";
import type { ValueTree } from "./value-tree.ts";

export interface CompileOptions {
  /** Maximum output, in bytes of JSON; MAX_EXPRESSION_OUTPUT by default. */
  maxOutputBytes?: number;
  /** `url`: values inside a text are percent-encoded, except at its start and those of raw() and url_encode(). */
  encoding?: "url" | undefined;
}

/** What an expression was compiled from. */
export interface Origin {
  kind: "expression" | "value";
  source: unknown;
  options: CompileOptions;
}

const NONE: ReadonlySet<string> = new Set();

export const compileConstant = (value: unknown): CompiledExpression => ({
  stepIds: NONE,
  names: NONE,
  get origin() {
    return JSON.stringify({ kind: "value", source: value, options: {} } satisfies Origin);
  },
  isConstant: true,
  evaluate: () => value,
  measure: () => ({ value, cost: 0 }),
});

export function compileExpression(parsed: ParsedExpression, options: CompileOptions): CompiledExpression {
  const { source, reads } = parsed;
  const origin: Origin = { kind: "expression", source, options };
  return compiled(evaluator(parsed), reads, { input: source, pos: 0 }, origin);
}

/** Compiles a JSON value with templates. Without an expression in it `evaluate` returns the same object each time. */
export function compileTemplates(
  value: unknown,
  options: CompileOptions,
): CompiledExpression | { issues: ExpressionIssue[] } {
  const { tree, issues } = parseValue(value);
  if (issues.length > 0) return { issues };
  if (tree.kind === "constant") return compileConstant(tree.value);
  const reads: Reads = { stepIds: new Set(), names: new Set() };
  const evaluate = compileTree(tree, reads, options.encoding);
  return compiled(evaluate, reads, { input: "", pos: 0 }, { kind: "value", source: value, options });
}

/** Returns plain JSON that was charged as output. */
type Evaluator = (evaluation: Evaluation) => unknown;

function compiled(
  evaluate: Evaluator,
  reads: Reads,
  place: SourceLocation,
  origin: Origin,
): CompiledExpression {
  const maxOutput = origin.options.maxOutputBytes ?? MAX_EXPRESSION_OUTPUT;
  let originText: string | undefined;
  const measure: CompiledExpression["measure"] = (scope, maxCost, throwIfInterrupted) => {
    const evaluation = startEvaluation(scope, place, maxOutput, maxCost, throwIfInterrupted);
    try {
      return { value: evaluate(evaluation), cost: evaluation.cost };
    } catch (error) {
      if (isStackOverflow(error)) throw limitExceeded(evaluation, "exceeds the call stack", "stack", 0);
      const reported = evaluation.detailedErrors.get(error as Error)?.() ?? error;
      if (reported instanceof ExpressionError) reported.cost = evaluation.cost;
      throw reported;
    }
  };
  return {
    ...reads,
    get origin() {
      return (originText ??= JSON.stringify(origin));
    },
    isConstant: false,
    measure,
    evaluate: (scope, maxCost) => measure(scope, maxCost).value,
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

function compileTree(tree: ValueTree, reads: Reads, encoding?: "url"): Evaluator {
  switch (tree.kind) {
    case "constant":
      return (evaluation) => toJson(evaluation, tree.value);
    case "expression":
      addReads(reads, tree.parsed.reads);
      return evaluator(tree.parsed);
    case "text":
      return compileText(tree.parts, reads, encoding);
    case "list": {
      const items = tree.items.map((item) => compileTree(item, reads, encoding));
      return (evaluation) => items.map((item) => item(evaluation));
    }
    default: {
      const fields = tree.fields.map(([name, of]) => ({ name, evaluate: compileTree(of, reads, encoding) }));
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
  reads: Reads,
  encoding?: "url",
): Evaluator {
  const compiledParts = parts.map((part, index): string | TextPart => {
    if (typeof part === "string") return part;
    addReads(reads, part.reads);
    const evaluate = compileTimed(part);
    const write = (evaluation: Evaluation): string => formatAsText(evaluation, evaluate(evaluation));
    return encoding === "url" ? urlPart(part, index, write) : { write };
  });
  return (evaluation) => {
    let text = "";
    const values: UrlValue[] = [];
    for (const part of compiledParts) {
      const addition = typeof part === "string" ? part : part.write(evaluation);
      chargeText(evaluation, text.length + addition.length);
      const start = text.length;
      text += addition;
      if (typeof part === "object" && part.staying !== undefined)
        values.push({ part: part.staying, start, end: text.length });
    }
    assertUrlParts(evaluation, text, values);
    return toJson(evaluation, text);
  };
}

/** A part of a text. `staying` is set where the value must stay in the URL. */
interface TextPart {
  write(evaluation: Evaluation): string;
  staying?: ParsedExpression;
}

function urlPart(part: ParsedExpression, index: number, write: TextPart["write"]): TextPart {
  const isEncoded = isPercentEncoded(part, index);
  return {
    write: (evaluation) => {
      const text = write(evaluation);
      assertUrlText(part, text);
      return isEncoded ? encodeForUrl(evaluation, text) : text;
    },
    ...(mustStay(part, index) && { staying: part }),
  };
}

function addReads(to: Reads, { stepIds, names }: Reads): void {
  for (const id of stepIds) to.stepIds.add(id);
  for (const name of names) to.names.add(name);
}
