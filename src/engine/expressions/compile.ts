/** Makes functions of a tree: compiled once, called often. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { nearMatch } from "../../core/near-match.ts";
import { failed, isFatal, isNull, spoken, stepError } from "./failures.ts";
import type { Call } from "./functions.ts";
import { compileLoop } from "./compile-loop.ts";
import { apply, isEquality } from "./operators.ts";
import { charge, chargeCompared, chargeFailure } from "./run.ts";
import type { Run } from "./run.ts";
import type { Expr } from "./tree.ts";
import { finite, keyText, kindOf, setField, Span, wordOf } from "./values.ts";
import type { Fields } from "./values.ts";

export type Evaluate = (run: Run) => unknown;
type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

/** A tree as a function. Errors are StepErrors that quote the expression. */
export function compile(expr: Expr): Evaluate {
  switch (expr.kind) {
    case "literal": {
      const { value } = expr;
      return () => value;
    }
    case "name":
      return compileName(expr);
    case "step":
      return compileStep(expr);
    case "local": {
      const { slot } = expr;
      return (run) => run.locals[slot];
    }
    case "field":
      return compileField(expr);
    case "index":
      return compileIndex(expr);
    case "list": {
      const items = expr.items.map(compile);
      return (run) => {
        charge(run, items.length);
        return items.map((item) => item(run));
      };
    }
    case "map":
      return compileMap(expr);
    case "logic":
      return compileLogic(expr);
    case "not": {
      const of = compileCondition(expr.of);
      return (run) => !of(run);
    }
    case "negate":
      return compileNegate(expr);
    case "choice": {
      const [condition, yes, no] = [compileCondition(expr.condition), compile(expr.yes), compile(expr.no)];
      return (run) => (condition(run) ? yes(run) : no(run));
    }
    case "binary":
      return compileBinary(expr);
    case "call":
      return compileCall(expr);
    case "loop":
      return compileLoop(expr, compile, compileCondition);
    case "has":
      return compileHas(expr);
    default:
      throw new TypeError("A tree with faults can't be compiled");
  }
}

/** As a condition: null is false, and what is neither true nor false fails. */
function compileCondition(expr: Expr): (run: Run) => boolean {
  const evaluate = compile(expr);
  const { at } = expr;
  return (run) => {
    const value = evaluate(run);
    if (typeof value === "boolean") return value;
    if (value === null || value === undefined) return false;
    return failed(at, `uses ${spoken(at)} as a condition, which is ${wordOf(kindOf(value))}`, {
      fix: "Compare it with something, or ask for its size.",
    });
  };
}

function compileName({ at, name }: Of<"name">): Evaluate {
  return ({ scope }) =>
    Object.hasOwn(scope, name)
      ? (scope as unknown as Fields)[name]
      : failed(at, `uses the name ${name}, which is not known here`);
}

function compileStep({ at, id }: Of<"step">): Evaluate {
  return ({ scope }) =>
    Object.hasOwn(scope.steps, id)
      ? scope.steps[id]
      : failed(at, `reads steps.${id}, which is not known here`);
}

function compileField({ at, of, name }: Of<"field">): Evaluate {
  const object = compile(of);
  return (run) => {
    const value = object(run);
    return value === null || value === undefined ? null : fieldOf(run, at, value, name);
  };
}

/** An own field of an object that is not null. */
function fieldOf(run: Run, at: ASTNode, value: unknown, name: string): unknown {
  const kind = kindOf(value);
  if (kind !== "map") {
    const fix =
      kind === "list"
        ? `Take one item, [0].${name}, or all: .map(x, x.${name}).`
        : "Only objects have fields.";
    return failed(at, `asks ${wordOf(kind)} for its field ${name}`, { fix });
  }
  chargeCompared(run, name.length);
  if (Object.hasOwn(value as Fields, name)) return (value as Fields)[name];
  const missing = (near?: string): Error =>
    stepError("expression_failed", at, `asks for the field ${name}, which the object does not have`, {
      fix: near === undefined ? "Ask first with has(…)." : `Did you mean ${near}?`,
      unknown_field: name,
      ...(near !== undefined && { did_you_mean: near }),
    });
  const error = missing();
  run.fuller.set(error, () => missing(nearMatch(name, Object.keys(value as Fields).slice(0, 1_000))));
  throw error;
}

function compileIndex({ at, of, key }: Of<"index">): Evaluate {
  const [object, index] = [compile(of), compile(key)];
  return (run) => {
    const value = object(run);
    const place = index(run);
    if (value === null || value === undefined) return null;
    if (place === null || place === undefined) return isNull(key.at, spoken(key.at));
    if (!Array.isArray(value)) {
      const name = keyText(place);
      return name === undefined
        ? failed(at, `has ${wordOf(kindOf(place))} for a field's name`)
        : fieldOf(run, at, value, name);
    }
    if (!Number.isInteger(place))
      return failed(at, "has something else than a whole number for a position in a list");
    const position = place as number;
    if (position >= 0 && position < value.length) return value[position] as unknown;
    const items = `${value.length} item${value.length === 1 ? "" : "s"}`;
    return failed(at, `asks for item ${position} of a list that has ${items}`, {
      fix: "Positions count from 0. Ask first for the size.",
    });
  };
}

function compileMap({ entries }: Of<"map">): Evaluate {
  const compiled = entries.map(([key, value]) => ({ at: key.at, key: compile(key), value: compile(value) }));
  return (run) => {
    charge(run, compiled.length);
    const map: Record<string, unknown> = {};
    for (const entry of compiled) {
      const key = entry.key(run);
      if (key === null || key === undefined) isNull(entry.at, spoken(entry.at));
      const name = keyText(key) ?? failed(entry.at, `has ${wordOf(kindOf(key))} for a field's name`);
      chargeCompared(run, name.length);
      if (Object.hasOwn(map, name)) failed(entry.at, `names the field ${spoken(entry.at)} twice`);
      setField(map, name, entry.value(run));
    }
    return map;
  };
}

/**
 * CEL's && and ||: where one side decides, what the other fails with does not matter.
 * https://github.com/google/cel-spec/blob/master/doc/langdef.md#logical-operators
 */
function compileLogic(expr: Of<"logic">): Evaluate {
  const [left, right] = [compileCondition(expr.left), compileCondition(expr.right)];
  const decisive = expr.op === "||";
  return (run) => {
    try {
      if (left(run) === decisive) return decisive;
    } catch (error) {
      if (isFatal(error)) throw error;
      chargeFailure(run);
      if (right(run) !== decisive) throw error;
      return decisive;
    }
    return right(run);
  };
}

function compileNegate({ at, of }: Of<"negate">): Evaluate {
  const evaluate = compile(of);
  return (run) => {
    const value = evaluate(run);
    if (typeof value === "number") return -value;
    if (value instanceof Span) return new Span(-value.ms);
    if (value === null || value === undefined) return isNull(of.at, spoken(of.at));
    return failed(at, `negates ${wordOf(kindOf(value))}`);
  };
}

function compileBinary({ at, op, left, right }: Of<"binary">): Evaluate {
  const [first, second] = [compile(left), compile(right)];
  if (isEquality(op)) return (run) => apply(run, at, op, first(run), second(run));
  return (run) => {
    const a = first(run);
    const b = second(run);
    // A list may hold null.
    if ((a === null || a === undefined) && op !== "in") return isNull(left.at, spoken(left.at));
    if (b === null || b === undefined) return isNull(right.at, spoken(right.at));
    if (op === "in" && (a === null || a === undefined) && !Array.isArray(b))
      return isNull(left.at, spoken(left.at));
    return apply(run, at, op, a, b);
  };
}

function compileCall({ at, name, fn, args, body }: Of<"call">): Evaluate {
  const compiled = args.map(compile);
  const params = args.map((_, index) => fn.params[index] ?? fn.params.at(-1)!);
  const written = (index: number): string => spoken(args[index]!.at);
  return (run) => {
    charge(run, 1);
    const values = compiled.map((arg) => arg(run));
    const call: Call = { run, place: at, written };
    params.forEach(({ kinds, items }, index) => {
      if (kinds === undefined) return;
      const kind = kindOf(values[index]);
      if (kind === "null") isNull(args[index]!.at, written(index));
      if (!kinds.includes(kind)) failed(at, `gives ${name} ${wordOf(kind)}`, { fix: `Write ${fn.usage}.` });
      if (items === undefined) return;
      const list = values[index] as unknown[];
      charge(run, list.length);
      list.forEach((item, position) => {
        const found = kindOf(item);
        if (items.includes(found)) return;
        const which = `item ${position + 1} of ${written(index)}`;
        if (found === "null") isNull(at, which);
        failed(at, `gives ${name} a list in which ${which} is ${wordOf(found)}`, {
          fix: `It takes ${items.map(wordOf).join(" or ")}.`,
        });
      });
    });
    const result = body(values, call);
    return typeof result === "number" ? finite(at, result) : result;
  };
}

/** A field that is null is as good as none. */
function compileHas({ of, key }: Of<"has">): Evaluate {
  const [object, field] = [compilePath(of), compile(key)];
  return (run) => {
    const value = object(run);
    const name = field(run);
    if (Array.isArray(value)) return typeof name === "number" && (value[name] ?? null) !== null;
    const text = keyText(name);
    chargeCompared(run, text?.length ?? 0);
    if (kindOf(value) !== "map" || text === undefined || !Object.hasOwn(value as Fields, text)) return false;
    return ((value as Fields)[text] ?? null) !== null;
  };
}

/** The way to the field that has() asks for may be missing too. */
function compilePath(expr: Expr): Evaluate {
  if (expr.kind !== "field" && expr.kind !== "index") return compile(expr);
  const key: Expr = expr.kind === "index" ? expr.key : { kind: "literal", at: expr.at, value: expr.name };
  const [exists, value] = [compileHas({ kind: "has", at: expr.at, of: expr.of, key }), compile(expr)];
  return (run) => (exists(run) === true ? value(run) : null);
}
