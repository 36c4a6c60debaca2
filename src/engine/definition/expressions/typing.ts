/** What the checker knows of a value: a shape, or a timestamp or duration, which only expressions have. */
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
import type { Shape } from "../../../core/shapes.ts";
import type { Kind } from "./values.ts";

export type Type = { nullable?: boolean } & (
  | { kind: "any" | "null" | "string" | "number" | "boolean" | "timestamp" | "duration" }
  | { kind: "list" | "map"; of: Type }
  | { kind: "object"; fields: Readonly<Record<string, Type>> }
);

/** The kind that the value has for certain: a nullable one may be anything as far as the checker says. */
export function knownKind(type: Type): Kind | undefined {
  if (type.kind === "any" || type.nullable === true) return undefined;
  return type.kind === "object" ? "map" : type.kind;
}

/** How many nodes may still be held against each other. What is not known for want of them is any. */
export interface UnionBudget {
  remaining: number;
}

/** Where nothing else is said: one call of a function is not worth more. */
const FEW = 500;

/** What a list holds, what a map's fields hold; any where it is neither. */
export function elementType(type: Type, joins: UnionBudget = { remaining: FEW }): Type {
  if (type.kind === "list" || type.kind === "map") return type.of;
  return type.kind === "object" ? unionOfAll(Object.values(type.fields), joins) : ANY;
}

/** The type of no value at all: joined with another it is the other. */
const NOTHING: Type = { kind: "null" };

/** The type of a value that is of one or of the other. */
export function unionOf(a: Type, b: Type, joins: UnionBudget): Type {
  if (a === b) return a;
  if (a.kind === "null") return maybeNull(b, a !== NOTHING);
  if (b.kind === "null") return maybeNull(a, b !== NOTHING);
  return maybeNull(joined(a, b, joins), a.nullable === true || b.nullable === true);
}

export const unionOfAll = (types: readonly Type[], joins: UnionBudget): Type => {
  const joint = types.reduce((one, other) => unionOf(one, other, joins), NOTHING);
  return joint === NOTHING ? ANY : joint;
};

const maybeNull = (type: Type, isMaybe: boolean): Type =>
  isMaybe && type.kind !== "any" ? { ...type, nullable: true } : type;

function joined(a: Type, b: Type, joins: UnionBudget): Type {
  joins.remaining -= 1;
  if (joins.remaining < 0) return ANY;
  if (a.kind === "list" && b.kind === "list") return { kind: "list", of: unionOf(a.of, b.of, joins) };
  if (a.kind === "map" && b.kind === "map") return { kind: "map", of: unionOf(a.of, b.of, joins) };
  if (a.kind === "object" && b.kind === "object") {
    const names = Object.keys(a.fields);
    joins.remaining -= names.length;
    if (joins.remaining < 0) return ANY;
    const same =
      names.length === Object.keys(b.fields).length && names.every((name) => Object.hasOwn(b.fields, name));
    if (!same) return ANY;
    return {
      kind: "object",
      fields: Object.fromEntries(
        names.map((name) => [name, unionOf(a.fields[name]!, b.fields[name]!, joins)]),
      ),
    };
  }
  return a.kind === b.kind && a.kind !== "list" && a.kind !== "map" && a.kind !== "object"
    ? { kind: a.kind }
    : ANY;
}

/** The shape of what comes out: timestamps are text then, durations numbers. As far down as a shape may go. */
export const toShape = (type: Type): Shape => outward(type, levelsOf(type));

/** How many levels of a type fit into a shape. Those that every field has are told before those of the first. */
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

/** What is a shape already is given as it is: the steps that pass an output on share it. */
function outward(type: Type, levels: number): Shape {
  const shape = ((): Shape => {
    switch (type.kind) {
      case "timestamp":
        return STRING;
      case "duration":
        return NUMBER;
      case "list":
      case "map": {
        if (levels === 1) return type.kind === "list" ? listOf(ANY) : mapOf(ANY);
        const of = outward(type.of, levels - 1);
        return of === type.of ? (type as Shape) : { kind: type.kind, of };
      }
      case "object": {
        if (levels === 1) return mapOf(ANY);
        const fields = Object.entries(type.fields).map(
          ([name, of]) => [name, outward(of, levels - 1)] as const,
        );
        if (fields.every(([name, of]) => of === type.fields[name])) return type as Shape;
        return { kind: "object", fields: Object.fromEntries(fields) };
      }
      default:
        return type as Shape;
    }
  })();
  return type.nullable === true && shape !== type ? nullable(shape) : shape;
}
