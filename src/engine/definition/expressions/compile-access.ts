/** Compiles the reading of fields and items, and the two forms that accept absent ones: `has()` and `??`. */
import { nearMatch } from "../../../core/near-match.ts";
import type { SyntaxNode } from "./cel-parser.ts";
import type { Evaluate } from "./compile.ts";
import { chargeComparison } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { expressionError, formatNode, throwFailed, throwNullValue } from "./failures.ts";
import type { Expr } from "./tree.ts";
import { describeKind, kindOf, mapKey, OTHER_FIELDS_NULL } from "./values.ts";
import type { Fields } from "./values.ts";

type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;
type Compile = (expr: Expr) => Evaluate;

export function compileField({ at, of, name }: Of<"field">, compile: Compile): Evaluate {
  const object = compile(of);
  return (evaluation) => {
    const value = object(evaluation);
    return value === null || value === undefined ? null : fieldOf(evaluation, at, value, name);
  };
}

/** Reads an own field of a value that is not null. */
function fieldOf(evaluation: Evaluation, at: SyntaxNode, value: unknown, name: string): unknown {
  const kind = kindOf(value);
  if (kind !== "map") {
    const fix =
      kind === "list"
        ? `Read it from one item, [0].${name}, or from all: .map(x, x.${name}).`
        : "Remove the field: only objects have fields.";
    return throwFailed(at, `reads the field ${name} of ${describeKind(kind)}, expected an object`, { fix });
  }
  chargeComparison(evaluation, name.length);
  if (Object.hasOwn(value as Fields, name)) return (value as Fields)[name];
  if (OTHER_FIELDS_NULL in (value as object)) return null;
  const missing = (near?: string): Error =>
    expressionError(
      "expression_failed",
      at,
      `The expression reads the field ${name}, which the object lacks`,
      {
        fix: near === undefined ? "Test for it first with has(…)." : `Did you mean ${near}?`,
        unknown_field: name,
        ...(near !== undefined && { did_you_mean: near }),
      },
    );
  const error = missing();
  evaluation.detailedErrors.set(error, () =>
    missing(nearMatch(name, Object.keys(value as Fields).slice(0, 1_000))),
  );
  throw error;
}

export function compileIndex(expr: Of<"index">, compile: Compile): Evaluate {
  const [object, index, read] = [compile(expr.of), compile(expr.key), indexReader(expr)];
  return (evaluation) => read(evaluation, object(evaluation), index(evaluation));
}

type ReadIndex = (evaluation: Evaluation, value: unknown, key: unknown) => unknown;

function indexReader({ at, key }: Of<"index">): ReadIndex {
  return (evaluation, value, keyValue) => {
    if (value === null || value === undefined) return null;
    if (keyValue === null || keyValue === undefined) return throwNullValue(key.at, formatNode(key.at));
    if (!Array.isArray(value)) {
      const name = mapKey(keyValue);
      return name === undefined
        ? throwFailed(at, `uses ${describeKind(kindOf(keyValue))} as a field name, expected text`)
        : fieldOf(evaluation, at, value, name);
    }
    if (!Number.isInteger(keyValue)) return throwFailed(at, "uses a list index that is not an integer");
    const position = keyValue as number;
    if (position >= 0 && position < value.length) return value[position] as unknown;
    const items = `${value.length} item${value.length === 1 ? "" : "s"}`;
    return throwFailed(at, `reads item ${position} of a list that has ${items}`, {
      fix: "Indexes start at 0. Test the size of the list first.",
    });
  };
}

/** Compiles `left ?? right`. The right side is evaluated only where the left one is null or absent. */
export function compileDefault(
  { left, right }: Of<"default">,
  compile: Compile,
  compileBlock: Compile,
): Evaluate {
  const [value, fallback] = [compileOptional(left, compile), compileBlock(right)];
  return (evaluation) => value(evaluation) ?? fallback(evaluation);
}

/** Compiles an expression so that a field or item that does not exist is null, at each level of `a.b[0].c`. */
function compileOptional(expr: Expr, compile: Compile): Evaluate {
  // The middle of `a ?? b ?? c` has a default too.
  if (expr.kind === "default") {
    const [value, fallback] = [compileOptional(expr.left, compile), compileOptional(expr.right, compile)];
    return (evaluation) => value(evaluation) ?? fallback(evaluation);
  }
  if (expr.kind !== "field" && expr.kind !== "index") return compile(expr);
  const { at } = expr;
  const object = compileOptional(expr.of, compile);
  if (expr.kind === "field") {
    const { name } = expr;
    return (evaluation) => optionalField(evaluation, at, object(evaluation), name);
  }
  const key = compile(expr.key);
  const read = indexReader(expr);
  return (evaluation) => {
    const value = object(evaluation);
    const keyValue = key(evaluation);
    if (Array.isArray(value) && Number.isInteger(keyValue))
      return (value[keyValue as number] as unknown) ?? null;
    const name = Array.isArray(value) ? undefined : mapKey(keyValue);
    return name === undefined
      ? read(evaluation, value, keyValue)
      : optionalField(evaluation, at, value, name);
  };
}

function optionalField(evaluation: Evaluation, at: SyntaxNode, value: unknown, name: string): unknown {
  if (value === null || value === undefined) return null;
  const isAbsent = kindOf(value) === "map" && !Object.hasOwn(value, name);
  chargeComparison(evaluation, name.length);
  return isAbsent ? null : fieldOf(evaluation, at, value, name);
}

/** Compiles has(): whether a field exists and is not null. Values that have no fields lack it. */
export function compileHas({ of, key }: Of<"has">, compile: Compile): Evaluate {
  const [object, field] = [compileLenient(of, compile), compile(key)];
  return (evaluation) => readLenient(evaluation, object(evaluation), field(evaluation)) !== null;
}

/** Compiles the object of has(): what does not exist is null, also a field of a value that has no fields. */
function compileLenient(expr: Expr, compile: Compile): Evaluate {
  if (expr.kind !== "field" && expr.kind !== "index") return compile(expr);
  const object = compileLenient(expr.of, compile);
  const key: Evaluate = expr.kind === "index" ? compile(expr.key) : () => expr.name;
  return (evaluation) => readLenient(evaluation, object(evaluation), key(evaluation));
}

function readLenient(evaluation: Evaluation, value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? ((value[key] as unknown) ?? null) : null;
  const name = mapKey(key);
  chargeComparison(evaluation, name?.length ?? 0);
  const isField = name !== undefined && kindOf(value) === "map" && Object.hasOwn(value as Fields, name);
  return isField ? ((value as Fields)[name] ?? null) : null;
}
