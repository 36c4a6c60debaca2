/**
 * Flow typing: what a condition that was evaluated says about values that may be null. `x != null && x > 5` compares `x`
 * only where it is not null, so the checker must not warn of it.
 */
import type { Expr } from "./tree.ts";
import { notNull, type Type } from "./typing.ts";

/**
 * What is known where an expression is evaluated. `<key>` says that the expression of that key is not null,
 * `<key> succeeded` that a step did not fail and was not skipped, `<key> no error` that its `error` is null.
 */
export type Facts = ReadonlySet<string>;

export const NO_FACTS: Facts = new Set();

const SUCCEEDED = " succeeded";
const NO_ERROR = " no error";

export function unite(...sets: readonly Facts[]): Facts {
  const notEmpty = sets.filter(({ size }) => size > 0);
  if (notEmpty.length <= 1) return notEmpty[0] ?? NO_FACTS;
  const all = new Set<string>();
  for (const set of notEmpty) for (const known of set) all.add(known);
  return all;
}

const intersect = (a: Facts, b: Facts): Facts => new Set([...a].filter((fact) => b.has(fact)));

/**
 * Returns a text that two expressions share only if they have the same value where both are evaluated: expressions have
 * no effects. Undefined for expressions that hardly anybody tests for null.
 */
export function keyOf(expr: Expr): string | undefined {
  switch (expr.kind) {
    case "literal":
      return JSON.stringify(expr.value);
    case "name":
      return expr.name;
    case "step":
      return `steps.${JSON.stringify(expr.id)}`;
    case "local":
      return localKey(expr.slot);
    case "field": {
      const of = keyOf(expr.of);
      return of && fieldKey(of, expr.name);
    }
    case "index": {
      const [of, key] = [keyOf(expr.of), keyOf(expr.key)];
      return of && key && `${of}[${key}]`;
    }
    case "list": {
      const items = expr.items.map(keyOf);
      return items.includes(undefined) ? undefined : `[${items.join()}]`;
    }
    case "call": {
      const args = expr.args.map(keyOf);
      return args.includes(undefined) ? undefined : `${expr.name}(${args.join()})`;
    }
    default:
      return undefined;
  }
}

/** The key of a loop variable. */
export const localKey = (slot: number): string => `$${slot}`;

const fieldKey = (of: string, name: string): string => `${of}.${JSON.stringify(name)}`;

const fact = (key: string | undefined): Facts => (key === undefined ? NO_FACTS : new Set([key]));

/** What holds where an expression was evaluated without failing, whatever its value. */
function evaluated(expr: Expr): Facts {
  switch (expr.kind) {
    case "binary": {
      if (expr.op === "==" || expr.op === "!=") return unite(evaluated(expr.left), evaluated(expr.right));
      // null in [null] is true.
      return unite(expr.op === "in" ? evaluated(expr.left) : present(expr.left), present(expr.right));
    }
    case "negate":
      return present(expr.of);
    case "call":
      return unite(
        ...expr.args.map((arg, index) => {
          const { kinds } = expr.fn.params[index] ?? expr.fn.params.at(-1)!;
          return kinds === undefined ? evaluated(arg) : present(arg);
        }),
      );
    case "loop":
      return present(expr.over);
    case "field":
      return evaluated(expr.of);
    case "index":
      return unite(evaluated(expr.of), present(expr.key));
    default:
      return NO_FACTS;
  }
}

/** What holds where an expression is not null. */
function present(expr: Expr): Facts {
  const own = fact(keyOf(expr));
  // A field of null is null.
  if (expr.kind === "field") return unite(own, present(expr.of));
  if (expr.kind === "index") return unite(own, present(expr.of), present(expr.key));
  return unite(own, evaluated(expr));
}

/** What holds where a condition is true, or where it is not true (false or null). */
export function factsOf(expr: Expr, isTrue: boolean): Facts {
  switch (expr.kind) {
    case "not":
      return factsOf(expr.of, !isTrue);
    case "logic": {
      const [left, right] = [factsOf(expr.left, isTrue), factsOf(expr.right, isTrue)];
      if (isTrue === (expr.op === "&&")) return unite(left, right);
      if (isImpossible(expr.left, isTrue)) return right;
      return isImpossible(expr.right, isTrue) ? left : intersect(left, right);
    }
    case "default":
      return defaultFacts(expr, isTrue);
    case "has":
      return hasFacts(expr, isTrue);
    case "binary":
      return unite(
        evaluated(expr),
        expr.op === "==" || expr.op === "!=" ? equalityFacts(expr, isTrue) : NO_FACTS,
      );
    default:
      return isTrue ? present(expr) : evaluated(expr);
  }
}

/** Whether a condition never has a value: `|| false` says nothing. */
const isImpossible = (expr: Expr, value: boolean): boolean =>
  expr.kind === "literal" && (expr.value === true) !== value;

/** `x ?? false` is true only where `x` is; `x ?? true` is false only where `x` is. */
function defaultFacts({ left, right }: Extract<Expr, { kind: "default" }>, isTrue: boolean): Facts {
  if (right.kind !== "literal") return NO_FACTS;
  if (isTrue) return right.value === true ? NO_FACTS : factsOf(left, true);
  return right.value === true ? present(left) : NO_FACTS;
}

function hasFacts({ of, key }: Extract<Expr, { kind: "has" }>, isTrue: boolean): Facts {
  const object = keyOf(of);
  if (object === undefined) return NO_FACTS;
  if (key.kind !== "literal") {
    const index = keyOf(key);
    return isTrue && index !== undefined ? unite(present(of), fact(`${object}[${index}]`)) : NO_FACTS;
  }
  if (!isTrue) return key.value === "error" ? fact(object + NO_ERROR) : NO_FACTS;
  const own =
    typeof key.value === "string" ? fieldKey(object, key.value) : `${object}[${JSON.stringify(key.value)}]`;
  return unite(present(of), fact(own));
}

function equalityFacts({ op, left, right }: Extract<Expr, { kind: "binary" }>, isTrue: boolean): Facts {
  const areEqual = isTrue === (op === "==");
  for (const [expr, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (other.kind === "literal" && other.value === null) {
      if (!areEqual) return present(expr);
      return expr.kind === "field" && expr.name === "error" ? fact(suffixed(expr.of, NO_ERROR)) : NO_FACTS;
    }
    if (areEqual && isNeverNull(other)) {
      const isStatus = expr.kind === "field" && expr.name === "status";
      const hasSucceeded = isStatus && other.kind === "literal" && other.value === "succeeded";
      return unite(present(expr), hasSucceeded ? fact(suffixed(expr.of, SUCCEEDED)) : NO_FACTS);
    }
  }
  return NO_FACTS;
}

const suffixed = (expr: Expr, suffix: string): string | undefined => {
  const key = keyOf(expr);
  return key && key + suffix;
};

const isNeverNull = ({ kind }: Expr): boolean => kind === "literal" || kind === "list" || kind === "map";

/** Returns the type of an expression where the facts hold. */
export function narrow(expr: Expr, type: Type, facts: Facts): Type {
  if (facts.size === 0) return type;
  const key = keyOf(expr);
  return key === undefined ? type : narrowValue(key, type, facts);
}

/** Returns the type of a value with all of its parts that the facts mention. */
export function narrowParts(key: string, type: Type, facts: Facts): Type {
  if (![...facts].some((known) => known.startsWith(key))) return type;
  const narrowed = narrowValue(key, type, facts);
  if (narrowed.kind !== "object") return narrowed;
  const fields = Object.entries(narrowed.fields).map(
    ([name, field]) => [name, narrowParts(fieldKey(key, name), field, facts)] as const,
  );
  return { ...narrowed, fields: Object.fromEntries(fields) };
}

function narrowValue(key: string, type: Type, facts: Facts): Type {
  const known = facts.has(key) ? notNull(type) : type;
  if (known.kind !== "object" || known.succeeded === undefined) return known;
  const { fields, byError } = known.succeeded;
  const hasSucceeded =
    facts.has(key + SUCCEEDED) ||
    (byError && facts.has(key + NO_ERROR)) ||
    // The output of a step that failed or was skipped is null.
    Object.keys(fields).some(
      (name) => fields[name]!.nullable !== true && isOutput(name) && facts.has(fieldKey(key, name)),
    );
  if (!hasSucceeded) return known;
  const { succeeded: _, ...rest } = known;
  return { ...rest, fields };
}

const isOutput = (name: string): boolean => name !== "status" && name !== "error";
