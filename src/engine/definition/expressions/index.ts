/**
 * The expression language: CEL between `${{` and `}}`. Compile once, evaluate often; check before anything is saved.
 *
 * The output is plain JSON: timestamps become ISO text in UTC, durations a number of seconds. The compile functions throw
 * AppError `invalid_input` with the issues if a source does not parse, which never happens after the check.
 */
import type { CompileOptions, Origin } from "./evaluate.ts";
import { compileTemplates, compileConstant, compileExpression } from "./evaluate.ts";
import { checkTemplates, checkSource } from "./check-value.ts";
import { formatPath, invalidInput } from "../../../core/issues.ts";
import { BOOLEAN } from "../../../core/shapes.ts";
import { type Facts, factsOf, NO_FACTS, unite } from "./flow.ts";
import { unwrapExpression, parseCel } from "./parse.ts";
import type { CheckResult, CompiledExpression, ExpressionIssue, TypeScope } from "./types.ts";
import { runToCompletion } from "./value-tree.ts";

export * from "./limits.ts";
export { type Facts, unite as uniteFacts } from "./flow.ts";
export { isWorkExceeded } from "./evaluation-context.ts";
export { ExpressionError } from "./failures.ts";
export { OTHER_FIELDS_NULL } from "./values.ts";
export type { CompileOptions } from "./evaluate.ts";
export type { CompiledExpression as Compiled, ExpressionIssue, Scope, TypeScope } from "./types.ts";

/**
 * Compiles one bare expression, or one whole `${{ }}`.
 * @throws AppError invalid_input
 */
export function compileCel(source: string | boolean, options: CompileOptions = {}): CompiledExpression {
  if (typeof source === "boolean") return compileConstant(source);
  const bare = unwrapExpression(source);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  if ("issues" in parsed) throw invalidExpression(parsed.issues);
  return compileExpression(parsed, options);
}

/**
 * Compiles a JSON value of which every string, however deep, is a template.
 * @throws AppError invalid_input
 */
export function compileValue(value: unknown, options: CompileOptions = {}): CompiledExpression {
  const compiled = compileTemplates(value, options);
  if ("issues" in compiled) throw invalidExpression(compiled.issues);
  return compiled;
}

/** Compiles again what another thread has compiled. */
export function compileOrigin(text: string): CompiledExpression {
  const { kind, source, options } = JSON.parse(text) as Origin;
  return kind === "expression" ? compileCel(source as string, options) : compileValue(source, options);
}

/** What is known of values where a condition is true. A condition that does not parse says nothing. */
export function factsOfCondition(condition: unknown): Facts {
  if (typeof condition !== "string") return NO_FACTS;
  const bare = unwrapExpression(condition);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  return "issues" in parsed ? NO_FACTS : factsOf(parsed.expr, true);
}

/** Returns the scope of what is evaluated only where the facts hold. */
export const withFacts = <S extends TypeScope>(scope: S, facts: Facts): S => ({
  ...scope,
  facts: unite(scope.facts ?? NO_FACTS, facts),
});

/** Checks one bare expression, or one whole `${{ }}`. */
export function checkCel(source: string | boolean, scope: TypeScope): CheckResult {
  return typeof source === "boolean" ? { shape: BOOLEAN, issues: [] } : checkSource(source, scope);
}

/** Checks a JSON value of which every string is a template. Issues carry the path inside it. */
export function checkValue(value: unknown, scope: TypeScope): CheckResult {
  return runToCompletion(checkTemplates(value, scope));
}

/**
 * Does the same without blocking the event loop: a value may contain 50,000 expressions.
 * @param yieldToEventLoop awaited between them
 * @param encoding how values inside its texts are encoded
 */
export async function checkValueAsync(
  value: unknown,
  scope: TypeScope,
  yieldToEventLoop: () => Promise<void>,
  encoding?: "url",
): Promise<CheckResult> {
  const check = checkTemplates(value, scope, encoding);
  for (;;) {
    const { done, value: checked } = check.next();
    if (done === true) return checked;
    await yieldToEventLoop();
  }
}

const invalidExpression = (issues: readonly ExpressionIssue[]): Error =>
  invalidInput(
    issues.map(({ path = [], code, message, fix }) => ({
      path: formatPath(path),
      code,
      message,
      ...(fix !== undefined && { fix }),
    })),
  );
