/** Finds the issues of an expression before a run: unknown names and fields, operands of the wrong kind. */
import { ANY, BOOLEAN, STRING } from "../../../core/shapes.ts";
import { addIssue, issueAt, formatNode } from "./failures.ts";
import { closedIssues } from "./closed.ts";
import type { SyntaxNode } from "./cel-parser.ts";
import {
  type Check,
  type CheckBudget,
  eventUrlType,
  fieldType,
  isEventUrl,
  nameType,
  orNull,
  stepType,
} from "./check-names.ts";
import { mainField, replacement } from "./name-suggestions.ts";
import { convertedLiteral, convertedOperand, statusCode } from "./operand-rewrites.ts";
import { areComparable, isEquality, operatorMismatch, resultKind } from "./operators.ts";
import { type Facts, factsOf, localKey, narrow, narrowParts, NO_FACTS, unite } from "./flow.ts";
import { fixOfItems } from "./params.ts";
import { warnOfNull, warnOfNullItems, warnOfPrecedence } from "./check-null.ts";
import type { Expr } from "./tree.ts";
import type { ExpressionIssue, TypeScope } from "./types.ts";
import { knownKind, listType, literalType, notNull, unionOf, elementType, unionOfAll } from "./typing.ts";
import type { Type } from "./typing.ts";
import { mapKey, describeKind, describeKinds } from "./values.ts";

type Of<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

/**
 * Returns the type of an expression.
 * @param issues receives the issues, in the order of the source
 */
export function checkExpression(
  expr: Expr,
  scope: TypeScope,
  issues: ExpressionIssue[],
  budget: CheckBudget,
): Type {
  const wrong: SyntaxNode[] = [];
  const type = typeOf(expr, {
    scope,
    locals: [],
    facts: scope.facts ?? NO_FACTS,
    nullWarnings: new Set(),
    budget,
    report(code, at, message, more) {
      if (more?.severity === undefined) wrong.push(at);
      addIssue(issues, issueAt(code, at, message, more));
    },
  });
  for (const issue of closedIssues(expr, wrong, budget)) addIssue(issues, issue);
  return type;
}

/** Returns the type of an expression, without null where the conditions around it rule that out. */
const typeOf = (expr: Expr, context: Check): Type => narrow(expr, ownType(expr, context), context.facts);

const assuming = (context: Check, facts: Facts): Check => ({
  ...context,
  facts: unite(context.facts, facts),
});

function ownType(expr: Expr, context: Check): Type {
  switch (expr.kind) {
    case "literal":
      return literalType(expr.value);
    case "name":
      return nameType(expr, context);
    case "step":
      return stepType(expr, context);
    case "local":
      return context.locals[expr.slot] ?? ANY;
    case "field":
      return isEventUrl(expr, context)
        ? eventUrlType(expr, context)
        : fieldType(expr.at, typeOf(expr.of, context), expr.name, context);
    case "index":
      return indexType(expr, context);
    case "list":
      return listType(
        expr.items.map((item) => typeOf(item, context)),
        context.budget.unions,
      );
    case "map":
      return mapType(expr, context);
    case "logic":
      checkLogic(expr, context);
      return BOOLEAN;
    case "default":
      return defaultType(expr, context);
    case "not":
      checkCondition(expr.of, context, true);
      return BOOLEAN;
    case "negate":
      return negatedType(expr, context);
    case "choice":
      return choiceType(expr, context);
    case "binary":
      return binaryType(expr, context);
    case "call":
      return callType(expr, context);
    case "loop":
      return loopType(expr, context);
    case "has":
      checkHas(expr, context);
      return BOOLEAN;
    default:
      for (const part of expr.parts ?? []) typeOf(part, context);
      return ANY;
  }
}

function indexType({ at, of, key }: Of<"index">, context: Check): Type {
  const object = typeOf(of, context);
  const keyType = typeOf(key, context);
  const kind = knownKind(keyType);
  const literalKey = key.kind === "literal" ? mapKey(key.value) : undefined;
  if (object.kind === "object" && literalKey !== undefined) return fieldType(at, object, literalKey, context);
  warnOfNull(key, keyType, ["uses", "as an index"], context);
  if (object.kind === "any" || object.kind === "null") return object;
  if (object.kind === "list") {
    if (kind !== undefined && kind !== "number") {
      context.report("wrong_type", at, `uses ${describeKind(kind)} as a list index, expected a number`);
    }
  } else if (object.kind !== "map" && object.kind !== "object") {
    context.report("wrong_type", at, `indexes ${describeKind(object.kind)}, expected a list or an object`);
    return ANY;
  } else if (kind !== undefined && kind !== "string" && kind !== "number" && kind !== "boolean") {
    context.report("wrong_type", at, `uses ${describeKind(kind)} as a field name, expected text`);
  }
  return object.kind === "object" ? ANY : orNull(elementType(object, context.budget.unions), object);
}

/** The type of a map literal: an object if all keys are literals, else a map. */
function mapType({ entries }: Of<"map">, context: Check): Type {
  const fields: [string, Type][] = [];
  let hasComputedKey = false;
  for (const [key, value] of entries) {
    const keyType = typeOf(key, context);
    const kind = knownKind(keyType);
    warnOfNull(key, keyType, ["uses", "as a field name"], context);
    if (kind !== undefined && kind !== "string" && kind !== "number" && kind !== "boolean") {
      context.report("wrong_type", key.at, `uses ${describeKind(kind)} as a field name, expected text`);
    }
    if (key.kind !== "literal") hasComputedKey = true;
    fields.push([String(key.kind === "literal" ? key.value : ""), typeOf(value, context)]);
  }
  if (hasComputedKey)
    return {
      kind: "map",
      of: unionOfAll(
        fields.map(([, type]) => type),
        context.budget.unions,
      ),
    };
  return { kind: "object", fields: Object.fromEntries(fields) };
}

/** The right side matters only where the left one does not decide: `x != null && x > 5` accepts null. */
function checkLogic({ op, left, right }: Of<"logic">, context: Check): void {
  checkCondition(left, context);
  checkCondition(right, assuming(context, factsOf(left, op === "&&")));
}

function choiceType({ condition, yes, no }: Of<"choice">, context: Check): Type {
  checkCondition(condition, context);
  return unionOf(
    typeOf(yes, assuming(context, factsOf(condition, true))),
    typeOf(no, assuming(context, factsOf(condition, false))),
    context.budget.unions,
  );
}

/** @param negated whether the condition is the operand of `!`, which binds more tightly than a comparison */
function checkCondition(expr: Expr, context: Check, negated = false): void {
  if (expr.kind === "default") return checkDefaultCondition(expr, context);
  const kind = knownKind(typeOf(expr, context));
  if (kind === undefined || kind === "boolean" || kind === "null") return;
  const source = formatNode(expr.at);
  context.report(
    "wrong_type",
    expr.at,
    `uses ${source} as a condition, expected a boolean, got ${describeKind(kind)}`,
    kind === "list" || kind === "string" || kind === "map"
      ? replacement(expr.at, negated ? `(size(${source}) > 0)` : `size(${source}) > 0`)
      : { fix: `Compare it: ${source} == ….` },
  );
}

function checkDefaultCondition(expr: Of<"default">, context: Check): void {
  warnOfPrecedence(expr, context);
  checkCondition(expr.left, context);
  checkCondition(expr.right, context);
}

function defaultType(expr: Of<"default">, context: Check): Type {
  const { left, right } = expr;
  warnOfPrecedence(expr, context);
  const [first, second] = [typeOf(left, context), typeOf(right, context)];
  if (first.kind === "null") return second;
  return unionOf(notNull(first), second, context.budget.unions);
}

function negatedType({ at, of }: Of<"negate">, context: Check): Type {
  const type = typeOf(of, context);
  const kind = knownKind(type);
  if (kind !== undefined && kind !== "number" && kind !== "duration") {
    context.report("wrong_type", at, `negates ${describeKind(kind)}, expected a number or a duration`);
  } else {
    warnOfNull(of, type, ["negates", ""], context);
  }
  return kind === "number" || kind === "duration" ? { kind } : ANY;
}

function binaryType({ at, op, left, right }: Of<"binary">, context: Check): Type {
  const [first, second] = [typeOf(left, context), typeOf(right, context)];
  const [a, b] = [knownKind(first), knownKind(second)];
  const isComparison = !["+", "-", "*", "/", "%"].includes(op);
  const quietly = (expr: Expr): Type => typeOf(expr, { ...context, report: () => undefined });
  if (isEquality(op)) {
    const mayBothBeNull = first.nullable === true && second.nullable === true;
    if (a !== undefined && b !== undefined && !areComparable(a, b) && !mayBothBeNull) {
      const { fix } = operatorMismatch(op, a, b);
      const message = `compares ${describeKind(a)} with ${describeKind(b)}, which are never equal`;
      context.report("wrong_type", at, message, {
        ...(fix !== undefined && { fix }),
        ...(statusCode([left, a], [right, b], quietly) ??
          convertedLiteral(right, a) ??
          convertedLiteral(left, b)),
      });
    }
    return BOOLEAN;
  }
  const result = a === undefined || b === undefined ? "any" : resultKind(op, a, b);
  if (result === undefined) {
    const { message, ...fix } = operatorMismatch(op, a!, b!);
    context.report("wrong_type", at, message, {
      ...fix,
      ...((isComparison ? statusCode([left, a!], [right, b!], quietly) : undefined) ??
        convertedOperand(op, [left, a!], [right, b!])),
    });
    return isComparison ? BOOLEAN : ANY;
  }
  // null in [null] is true.
  if (op !== "in" || b === "map" || b === "string")
    warnOfNull(left, first, [`applies ${op} to`, ""], context);
  warnOfNull(right, second, [`applies ${op} to`, ""], context);
  if (isComparison) return BOOLEAN;
  if (result === "list") return unionOf(notNull(first), notNull(second), context.budget.unions);
  return result === "map" || result === "null" ? ANY : { kind: result };
}

function callType({ at, name, fn, args }: Of<"call">, context: Check): Type {
  const types = args.map((arg) => typeOf(arg, context));
  let wrong = false;
  types.forEach((type, index) => {
    const { besideText, items, itemsNotNull, ...param } = fn.params[index] ?? fn.params.at(-1)!;
    const kinds = types[0]?.kind === "string" ? (besideText ?? param.kinds) : param.kinds;
    const kind = knownKind(type);
    if (kinds === undefined || kind === undefined) return;
    const source = formatNode(args[index]!.at);
    if (!kinds.includes(kind)) {
      wrong = true;
      const message = `passes ${source} to ${name}, expected ${describeKinds(kinds)}, got ${describeKind(kind)}`;
      context.report("wrong_type", at, message, { fix: `Write ${fn.usage}.` });
      return;
    }
    warnOfNull(args[index]!, type, ["passes", `to ${name}`], context);
    const element = elementType(type, context.budget.unions);
    const item = items && knownKind(element);
    if (
      type.kind === "list" &&
      (item === undefined || items!.includes(item)) &&
      (items ?? itemsNotNull) !== undefined
    )
      warnOfNullItems(args[index]!, element, name, context);
    if (item === undefined || items!.includes(item)) return;
    wrong = true;
    const message = `passes ${source} to ${name}, expected each item to be ${describeKinds(items!)}, got ${describeKind(item)}`;
    context.report("wrong_type", at, message, { fix: fixOfItems(args[index]!, name, item) });
  });
  return wrong ? ANY : fn.result(types);
}

function loopType(expr: Of<"loop">, context: Check): Type {
  const { at, name, over, body, extra, slot } = expr;
  const list = listOfStep(expr, typeOf(over, context), context);
  const kind = knownKind(list);
  if (kind !== undefined && kind !== "list" && kind !== "map") {
    context.report(
      "wrong_type",
      at,
      `uses ${name} on ${formatNode(over.at)}, expected a list or an object, got ${describeKind(kind)}`,
    );
  } else {
    warnOfNull(over, list, ["uses", `in ${name}`], context);
  }
  const item = list.kind === "list" ? elementType(list) : kind === "map" ? STRING : ANY;
  const inside: Check = { ...context, locals: [...context.locals.slice(0, slot), item] };
  switch (name) {
    case "map":
      if (extra) checkCondition(extra, inside);
      return { kind: "list", of: typeOf(body, extra ? assuming(inside, factsOf(extra, true)) : inside) };
    case "filter":
      checkCondition(body, inside);
      return { kind: "list", of: narrowParts(localKey(slot), item, factsOf(body, true)) };
    case "sort_by":
      warnOfNull(body, typeOf(body, inside), ["sorts by", ""], inside);
      if (extra) checkDirection(extra, context);
      return { kind: "list", of: item };
    case "group_by":
      warnOfNull(body, typeOf(body, inside), ["groups by", ""], inside);
      return { kind: "map", of: { kind: "list", of: item } };
    default:
      checkCondition(body, inside);
      return BOOLEAN;
  }
}

/** A step that is used as a list stands for the list in its output, unless the names of its fields are meant. */
function listOfStep({ over, body, slot }: Of<"loop">, type: Type, context: Check): Type {
  const field = mainField(type, ["list"]);
  if (field === undefined || type.kind !== "object") return type;
  let isWrong = false;
  const locals = [...context.locals.slice(0, slot), STRING];
  typeOf(body, { ...context, locals, report: () => void (isWrong = true) });
  if (!isWrong) return type;
  const source = formatNode(over.at);
  const message = `uses ${source} as a list, but it is a step with the list ${field}`;
  context.report("wrong_type", over.at, message, replacement(over.at, `${source}.${field}`));
  return type.fields[field]!;
}

function checkDirection(expr: Expr, context: Check): void {
  typeOf(expr, context);
  if (expr.kind !== "literal" || expr.value === "asc" || expr.value === "desc") return;
  context.report("wrong_type", expr.at, 'has an unknown sort direction, expected "asc" or "desc"', {
    allowed: ["asc", "desc"],
  });
}

/** Reports `has()` of a field that the object can't have, because it is a misspelt name. */
function checkHas({ at, of, key }: Of<"has">, context: Check): void {
  const object = typeOf(of, context);
  if (object.kind === "object" && object.open === true) return;
  if (key.kind === "literal" && typeof key.value === "string") fieldType(at, object, key.value, context);
  else typeOf(key, context);
}
