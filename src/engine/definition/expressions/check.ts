/** Finds what is wrong with an expression before anything runs: unknown names and fields, kinds that can't meet. */
import type { SyntaxNode } from "./cel-parser.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { ANY, BOOLEAN, STRING } from "../../../core/shapes.ts";
import { MAX_EXPRESSION_ISSUES } from "./limits.ts";
import { issueAt, formatNode } from "./failures.ts";
import { FUNCTION_SYNONYMS } from "./functions.ts";
import { areComparable, isEquality, operatorMismatch, resultKind } from "./operators.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue, TypeScope } from "./types.ts";
import { knownKind, unionOf, elementType, unionOfAll } from "./typing.ts";
import type { UnionBudget, Type } from "./typing.ts";
import { mapKey, describeKind } from "./values.ts";
import type { Kind } from "./values.ts";

/** Names that a fault lists at most. */
const MAX_ALLOWED = 100;

/** What checking one value may still cost: all its expressions share it. */
export interface CheckBudget {
  unions: UnionBudget;
  /** Faults for which is looked what was meant: each is held against up to thousands of names. */
  suggestionsLeft: number;
}
export const createCheckBudget = (): CheckBudget => ({
  unions: { remaining: MAX_JOINED },
  suggestionsLeft: MAX_NEARS,
});

const MAX_JOINED = 200_000;
const MAX_NEARS = 10;

type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

interface Check {
  scope: TypeScope;
  /** The types of the loops' variables, by slot. */
  locals: readonly Type[];
  allowance: CheckBudget;
  tell(
    code: string,
    at: SyntaxNode,
    message: string,
    more?: Pick<ExpressionIssue, "allowed" | "did_you_mean" | "fix">,
  ): void;
}

/** The type of an expression; its faults, in the order of the text, go to `faults`. */
export function checkExpression(
  expr: Expr,
  scope: TypeScope,
  issues: ExpressionIssue[],
  left: CheckBudget,
): Type {
  return typeOf(expr, {
    scope,
    locals: [],
    allowance: left,
    tell(code, at, message, more) {
      if (issues.length < MAX_EXPRESSION_ISSUES) issues.push(issueAt(code, at, message, more));
    },
  });
}

function typeOf(expr: Expr, all: Check): Type {
  switch (expr.kind) {
    case "literal":
      return literalType(expr.value);
    case "name":
      return nameType(expr, all);
    case "step":
      return stepType(expr, all);
    case "local":
      return all.locals[expr.slot] ?? ANY;
    case "field":
      return fieldType(expr.at, typeOf(expr.of, all), expr.name, all);
    case "index":
      return indexType(expr, all);
    case "list":
      return {
        kind: "list",
        of: unionOfAll(
          expr.items.map((item) => typeOf(item, all)),
          all.allowance.unions,
        ),
      };
    case "map":
      return mapType(expr, all);
    case "logic":
      condition(expr.left, all);
      condition(expr.right, all);
      return BOOLEAN;
    case "not":
      condition(expr.of, all);
      return BOOLEAN;
    case "negate":
      return negated(expr, all);
    case "choice":
      condition(expr.condition, all);
      return unionOf(typeOf(expr.yes, all), typeOf(expr.no, all), all.allowance.unions);
    case "binary":
      return binaryType(expr, all);
    case "call":
      return callType(expr, all);
    case "loop":
      return loopType(expr, all);
    case "has":
      hasField(expr, all);
      return BOOLEAN;
    default:
      return ANY;
  }
}

function literalType(value: Of<"literal">["value"]): Type {
  if (value === null) return { kind: "null" };
  return { kind: typeof value as "string" | "number" | "boolean" };
}

const near = (
  { allowance: left }: Check,
  word: string,
  allowed: readonly string[],
): { did_you_mean?: string; fix?: string } => {
  left.suggestionsLeft -= 1;
  if (left.suggestionsLeft < 0) return {};
  const found = nearMatch(word, allowed);
  return found === undefined ? {} : { did_you_mean: found, fix: `Write ${found}.` };
};

const listed = (allowed: readonly string[]): { allowed: string[] } => ({
  allowed: allowed.slice(0, MAX_ALLOWED),
});

function nameType({ at, name }: Of<"name">, all: Check): Type {
  const { scope, tell } = all;
  if (name === "inputs") return scope.inputs;
  if (name === "run") return scope.run;
  if (name === "item" && scope.item !== undefined) return scope.item;
  if (name === "index" && scope.index !== undefined) return scope.index;
  const allowed = ["inputs", "run", "steps"];
  if (scope.item !== undefined) allowed.push("item");
  if (scope.index !== undefined) allowed.push("index");
  const message = `uses the name ${name}, which is not known here`;
  if (name === "item" || name === "index") {
    tell("unknown_name", at, message, { allowed, fix: `${name} exists in a step with for_each.` });
  } else if (Object.hasOwn(scope.steps, name)) {
    const meant = `steps.${name}`;
    tell("unknown_name", at, message, { allowed, did_you_mean: meant, fix: `Write ${meant}.` });
  } else {
    tell("unknown_name", at, message, { allowed, ...near(all, name, allowed) });
  }
  return ANY;
}

function stepType({ at, id }: Of<"step">, all: Check): Type {
  const { scope, tell } = all;
  if (Object.hasOwn(scope.steps, id)) return scope.steps[id]!;
  const allowed = Object.keys(scope.steps);
  if (scope.otherSteps.has(id)) {
    tell("not_an_ancestor", at, `reads steps.${id}, which does not run before this`, {
      ...listed(allowed),
      fix: `Add ${id} to this step's needs.`,
    });
  } else {
    const found = near(all, id, [...allowed, ...scope.otherSteps]);
    tell("unknown_step", at, `reads steps.${id}, and there is no such step`, {
      ...listed(allowed),
      ...found,
    });
  }
  return ANY;
}

function fieldType(at: SyntaxNode, of: Type, name: string, all: Check): Type {
  switch (of.kind) {
    case "any":
    case "null":
      return of;
    case "map":
      return orNull(of.of, of);
    case "object": {
      if (Object.hasOwn(of.fields, name)) return orNull(of.fields[name]!, of);
      const allowed = Object.keys(of.fields);
      const message = `asks for the field ${name}, which does not exist`;
      all.tell("unknown_field", at, message, { ...listed(allowed), ...near(all, name, allowed) });
      return ANY;
    }
    default: {
      const kind = of.kind;
      all.tell(
        "wrong_type",
        at,
        `asks ${describeKind(kind)} for its field ${name}`,
        fieldFix(at, kind, name),
      );
      return ANY;
    }
  }
}

/** What was meant by a field of something that has none. */
function fieldFix(at: SyntaxNode, kind: Kind, name: string): { did_you_mean?: string; fix: string } {
  const object = at.op === "." || at.op === "[]" ? formatNode(at.args[0]) : "x";
  const fn = Object.hasOwn(FUNCTION_SYNONYMS, name) ? FUNCTION_SYNONYMS[name] : undefined;
  if (fn !== undefined) return { did_you_mean: `${fn}()`, fix: `Write ${object}.${fn}().` };
  if (kind === "list")
    return { fix: `Take one item, ${object}[0].${name}, or all: ${object}.map(x, x.${name}).` };
  if (kind === "string")
    return { fix: `Only objects have fields; where it is JSON: parse_json(${object}).${name}.` };
  return { fix: "Only objects have fields." };
}

const orNull = (type: Type, of: Type): Type =>
  of.nullable === true && type.kind !== "any" && type.kind !== "null" ? { ...type, nullable: true } : type;

function indexType({ at, of, key }: Of<"index">, all: Check): Type {
  const object = typeOf(of, all);
  const kind = knownKind(typeOf(key, all));
  const written = key.kind === "literal" ? mapKey(key.value) : undefined;
  if (object.kind === "object" && written !== undefined) return fieldType(at, object, written, all);
  if (object.kind === "any" || object.kind === "null") return object;
  if (object.kind === "list") {
    if (kind !== undefined && kind !== "number") {
      all.tell("wrong_type", at, `has ${describeKind(kind)} for a position in a list`);
    }
  } else if (object.kind !== "map" && object.kind !== "object") {
    all.tell("wrong_type", at, `asks ${describeKind(object.kind)} for an item`);
    return ANY;
  } else if (kind !== undefined && kind !== "string" && kind !== "number" && kind !== "boolean") {
    all.tell("wrong_type", at, `has ${describeKind(kind)} for a field's name`);
  }
  return object.kind === "object" ? ANY : orNull(elementType(object, all.allowance.unions), object);
}

/** The type of a map that is written out: an object where all its names are. */
function mapType({ entries }: Of<"map">, all: Check): Type {
  const fields: [string, Type][] = [];
  let open = false;
  for (const [key, value] of entries) {
    const kind = knownKind(typeOf(key, all));
    if (kind !== undefined && kind !== "string" && kind !== "number" && kind !== "boolean") {
      all.tell("wrong_type", key.at, `has ${describeKind(kind)} for a field's name`);
    }
    if (key.kind !== "literal") open = true;
    fields.push([String(key.kind === "literal" ? key.value : ""), typeOf(value, all)]);
  }
  if (open)
    return {
      kind: "map",
      of: unionOfAll(
        fields.map(([, type]) => type),
        all.allowance.unions,
      ),
    };
  return { kind: "object", fields: Object.fromEntries(fields) };
}

function condition(expr: Expr, all: Check): void {
  const kind = knownKind(typeOf(expr, all));
  if (kind === undefined || kind === "boolean" || kind === "null") return;
  const what = formatNode(expr.at);
  all.tell("wrong_type", expr.at, `uses ${what} as a condition, which is ${describeKind(kind)}`, {
    fix: kind === "list" || kind === "string" ? `Write size(${what}) > 0.` : `Compare it: ${what} == ….`,
  });
}

function negated({ at, of }: Of<"negate">, all: Check): Type {
  const type = typeOf(of, all);
  const kind = knownKind(type);
  if (kind !== undefined && kind !== "number" && kind !== "duration") {
    all.tell("wrong_type", at, `negates ${describeKind(kind)}`);
  }
  return kind === "number" || kind === "duration" ? { kind } : ANY;
}

function binaryType({ at, op, left, right }: Of<"binary">, all: Check): Type {
  const [first, second] = [typeOf(left, all), typeOf(right, all)];
  const [a, b] = [knownKind(first), knownKind(second)];
  const isComparison = !["+", "-", "*", "/", "%"].includes(op);
  if (a === undefined || b === undefined) return isComparison ? BOOLEAN : ANY;
  if (isEquality(op)) {
    if (!areComparable(a, b)) {
      const { fix } = operatorMismatch(op, a, b);
      const message = `compares ${describeKind(a)} with ${describeKind(b)}, which are never equal`;
      all.tell("wrong_type", at, message, fix === undefined ? {} : { fix });
    }
    return BOOLEAN;
  }
  const result = resultKind(op, a, b);
  if (result === undefined) {
    const { message, ...fix } = operatorMismatch(op, a, b);
    all.tell("wrong_type", at, message, fix);
    return isComparison ? BOOLEAN : ANY;
  }
  if (result === "list") return unionOf(first, second, all.allowance.unions);
  return result === "map" || result === "null" ? ANY : { kind: result };
}

function callType({ at, name, fn, args }: Of<"call">, all: Check): Type {
  const types = args.map((arg) => typeOf(arg, all));
  let wrong = false;
  types.forEach((type, index) => {
    const { kinds, items } = fn.params[index] ?? fn.params.at(-1)!;
    const kind = knownKind(type);
    if (kinds === undefined || kind === undefined) return;
    const written = formatNode(args[index]!.at);
    if (!kinds.includes(kind)) {
      wrong = true;
      const message = `gives ${name} ${written}, which is ${describeKind(kind)}`;
      all.tell("wrong_type", at, message, { fix: `Write ${fn.usage}.` });
      return;
    }
    const item = items && knownKind(elementType(type, all.allowance.unions));
    if (item === undefined || items!.includes(item)) return;
    wrong = true;
    all.tell("wrong_type", at, `gives ${name} ${written}, which holds ${describeKind(item)} in each place`, {
      fix: `It takes a list of ${items!.map(describeKind).join(" or ")}${item === "map" ? `: ${written}.map(x, x.…).${name}()` : ""}.`,
    });
  });
  return wrong ? ANY : fn.result(types);
}

function loopType({ at, name, over, body, extra, slot }: Of<"loop">, all: Check): Type {
  const list = typeOf(over, all);
  const kind = knownKind(list);
  if (kind !== undefined && kind !== "list" && kind !== "map") {
    all.tell(
      "wrong_type",
      at,
      `uses ${name} with ${formatNode(over.at)}, which is ${describeKind(kind)} and no list`,
    );
  }
  const item = list.kind === "list" ? list.of : kind === "map" ? STRING : ANY;
  const inside: Check = { ...all, locals: [...all.locals.slice(0, slot), item] };
  switch (name) {
    case "map":
      if (extra) condition(extra, inside);
      return { kind: "list", of: typeOf(body, inside) };
    case "filter":
      condition(body, inside);
      return { kind: "list", of: item };
    case "sort_by":
      typeOf(body, inside);
      if (extra) direction(extra, all);
      return { kind: "list", of: item };
    case "group_by":
      typeOf(body, inside);
      return { kind: "map", of: { kind: "list", of: item } };
    default:
      condition(body, inside);
      return BOOLEAN;
  }
}

function direction(expr: Expr, all: Check): void {
  typeOf(expr, all);
  if (expr.kind !== "literal" || expr.value === "asc" || expr.value === "desc") return;
  all.tell("wrong_type", expr.at, "sorts in a direction that does not exist", { allowed: ["asc", "desc"] });
}

/** A field of an object whose fields are all known is a slip of the hand where it is not among them. */
function hasField({ at, of, key }: Of<"has">, all: Check): void {
  const object = typeOf(of, all);
  if (key.kind === "literal" && typeof key.value === "string") fieldType(at, object, key.value, all);
  else typeOf(key, all);
}
