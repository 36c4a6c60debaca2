/**
 * The expression language: CEL between `${{` and `}}`. Compile once, evaluate often; check before anything is saved.
 *
 * What comes out is plain JSON: numbers are JSON's, timestamps become ISO text in UTC, durations a number of seconds.
 * The compile functions throw AppError `invalid_input` with the faults where a source does not parse; after the check
 * that never happens.
 */
import type { CompileOptions } from "./evaluate.ts";
import { compileTemplates, constant, expression } from "./evaluate.ts";
import { checkTemplates, checkSource } from "./check-value.ts";
import { dotted, invalidInput } from "../../core/faults.ts";
import { BOOLEAN } from "../../core/shapes.ts";
import { bareSource, parseCel } from "./parse.ts";
import type { Checked, Compiled, ExpressionFault, TypeScope } from "./types.ts";
import { atOnce } from "./value-tree.ts";

export * from "./bounds.ts";
export type { CompileOptions } from "./evaluate.ts";
export type { Checked, Compiled, ExpressionFault, Scope, TypeScope } from "./types.ts";

/**
 * Compiles one bare expression, or one whole `${{ }}`.
 * @throws AppError invalid_input
 */
export function compileCel(source: string | boolean, options: CompileOptions = {}): Compiled {
  if (typeof source === "boolean") return constant(source);
  const bare = bareSource(source);
  const parsed = typeof bare === "string" ? parseCel(bare) : bare;
  if ("faults" in parsed) throw refused(parsed.faults);
  return expression(parsed, options);
}

/**
 * Compiles a JSON value of which every string, however deep, is a template.
 * @throws AppError invalid_input
 */
export function compileValue(value: unknown, options: CompileOptions = {}): Compiled {
  const compiled = compileTemplates(value, options);
  if ("faults" in compiled) throw refused(compiled.faults);
  return compiled;
}

/** Checks one bare expression, or one whole `${{ }}`. */
export function checkCel(source: string | boolean, scope: TypeScope): Checked {
  return typeof source === "boolean" ? { shape: BOOLEAN, faults: [] } : checkSource(source, scope);
}

/** Checks a JSON value of which every string is a template; faults carry the path inside it. */
export function checkValue(value: unknown, scope: TypeScope): Checked {
  return atOnce(checkTemplates(value, scope));
}

/**
 * The same, for a listener that has others to answer: a value may hold 50,000 expressions.
 * @param breathe awaited between them
 */
export async function checkValueSlowly(
  value: unknown,
  scope: TypeScope,
  breathe: () => Promise<void>,
): Promise<Checked> {
  const pieces = checkTemplates(value, scope);
  for (;;) {
    const { done, value: checked } = pieces.next();
    if (done === true) return checked;
    await breathe();
  }
}

const refused = (faults: readonly ExpressionFault[]): Error =>
  invalidInput(faults.map(({ path = [], ...fault }) => ({ path: dotted(path), ...fault })));
