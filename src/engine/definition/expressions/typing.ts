/** The types of the checker: shapes, and timestamps and durations, which exist only inside expressions. */
import {
  ANY,
  listOf,
  mapOf,
  MAX_SHAPE_DEPTH,
  MAX_SHAPE_NODES,
  nullable,
  NUMBER,
  STRING,
} from "../../../core/shapes.ts";
import { isLongNumber } from "../../../../schemas/long-numbers.ts";
import type { Shape, SucceededFields } from "../../../core/shapes.ts";
import type { Kind } from "./values.ts";

export type Type = { nullable?: boolean } & (
  | { kind: "any" | "null" | "string" | "number" | "boolean" | "timestamp" | "duration" }
  | { kind: "list" | "map"; of: Type }
  | {
      kind: "object";
      fields: Readonly<Record<string, Type>>;
      open?: true;
      others?: Type;
      succeeded?: SucceededFields<Type>;
    }
);

/** Returns the kind that a value surely has, if it is not null; undefined if the kind is unknown. */
export function knownKind(type: Type): Kind | undefined {
  if (type.kind === "any") return undefined;
  return type.kind === "object" ? "map" : type.kind;
}

/** Returns the type of a literal. */
export const literalType = (value: string | number | boolean | null): Type => ({
  kind:
    value === null ? "null" : isLongNumber(value) ? "any" : (typeof value as "string" | "number" | "boolean"),
});

/** How many nodes may still be compared when types are joined. Beyond it the result is `any`. */
export interface UnionBudget {
  remaining: number;
}

/** Default budget, in nodes: enough for one function call. */
const DEFAULT_BUDGET = 500;

/** Returns the type of the items of a list or the fields of an object; `any` for other types. */
export function elementType(type: Type, budget: UnionBudget = { remaining: DEFAULT_BUDGET }): Type {
  if (type.kind === "list" || type.kind === "map") return type.of === NOTHING ? ANY : type.of;
  return type.kind === "object" && type.open !== true ? unionOfAll(Object.values(type.fields), budget) : ANY;
}

/** The type of no value at all: its union with another type is the other type. */
const NOTHING: Type = { kind: "null" };

/** Returns the type of a value that has one type or the other. */
export function unionOf(a: Type, b: Type, budget: UnionBudget): Type {
  if (a === b) return a;
  if (a.kind === "null") return maybeNull(b, a !== NOTHING);
  if (b.kind === "null") return maybeNull(a, b !== NOTHING);
  return maybeNull(joinTypes(a, b, budget), a.nullable === true || b.nullable === true);
}

const join = (types: readonly Type[], budget: UnionBudget): Type =>
  types.reduce((one, other) => unionOf(one, other, budget), NOTHING);

export const unionOfAll = (types: readonly Type[], budget: UnionBudget): Type => {
  const union = join(types, budget);
  return union === NOTHING ? ANY : union;
};

/** The type of a list of items of these types. An empty list joins with any other list to the type of the other. */
export const listType = (items: readonly Type[], budget: UnionBudget): Type => ({
  kind: "list",
  of: join(items, budget),
});

/** The type of the same value where it is known not to be null. */
export function notNull(type: Type): Type {
  if (type.nullable === undefined) return type;
  const { nullable: _, ...rest } = type;
  return rest;
}

const maybeNull = (type: Type, isMaybe: boolean): Type =>
  isMaybe && type.kind !== "any" ? { ...type, nullable: true } : type;

const objectType = (fields: Readonly<Record<string, Type>>, isOpen: boolean): Type => ({
  kind: "object",
  fields,
  ...(isOpen && { open: true }),
});

function joinTypes(a: Type, b: Type, budget: UnionBudget): Type {
  budget.remaining -= 1;
  if (budget.remaining < 0) return ANY;
  if (a.kind === "list" && b.kind === "list") return { kind: "list", of: unionOf(a.of, b.of, budget) };
  if (a.kind === "map" && b.kind === "map") return { kind: "map", of: unionOf(a.of, b.of, budget) };
  if (a.kind === "object" && b.kind === "object") {
    const names = Object.keys(a.fields);
    budget.remaining -= names.length;
    if (budget.remaining < 0) return ANY;
    const same =
      names.length === Object.keys(b.fields).length && names.every((name) => Object.hasOwn(b.fields, name));
    if (!same) return ANY;
    const fields = names.map((name) => [name, unionOf(a.fields[name]!, b.fields[name]!, budget)] as const);
    return objectType(Object.fromEntries(fields), a.open === true || b.open === true);
  }
  return a.kind === b.kind && a.kind !== "list" && a.kind !== "map" && a.kind !== "object"
    ? { kind: a.kind }
    : ANY;
}

/** Converts a type to the shape of its JSON, in which timestamps are strings and durations numbers. Cuts it at the limits of shapes. */
export const toShape = (type: Type): Shape => convert(type, levelsOf(type));

/** Counts the levels of a type that fit into a shape. All fields are cut at the same level. */
function levelsOf(type: Type): number {
  let level: readonly Type[] = [type];
  let count = 1;
  for (let depth = 1; depth < MAX_SHAPE_DEPTH; depth += 1) {
    const next: Type[] = [];
    for (const outer of level) {
      for (const inner of insideOf(outer)) {
        count += 1;
        if (count > MAX_SHAPE_NODES) return depth;
        next.push(inner);
      }
    }
    level = next;
  }
  return MAX_SHAPE_DEPTH;
}

function insideOf(type: Type): readonly Type[] {
  if (type.kind === "list" || type.kind === "map") return [type.of];
  return type.kind === "object" ? Object.values(type.fields) : [];
}

/** A type that is a shape already is returned itself: steps that pass an output on share it. */
function convert(type: Type, levels: number): Shape {
  const shape = ((): Shape => {
    switch (type.kind) {
      case "timestamp":
        return STRING;
      case "duration":
        return NUMBER;
      case "list":
      case "map": {
        if (levels === 1) return type.kind === "list" ? listOf(ANY) : mapOf(ANY);
        if (type.of === NOTHING) return listOf(ANY);
        const of = convert(type.of, levels - 1);
        return of === type.of ? (type as Shape) : { kind: type.kind, of };
      }
      case "object": {
        if (levels === 1) return mapOf(ANY);
        const fields = Object.entries(type.fields).map(
          ([name, of]) => [name, convert(of, levels - 1)] as const,
        );
        if (fields.every(([name, of]) => of === type.fields[name])) return type as Shape;
        return objectType(Object.fromEntries(fields), type.open === true) as Shape;
      }
      default:
        return type as Shape;
    }
  })();
  return type.nullable === true && shape !== type ? nullable(shape) : shape;
}
