/** What the checker knows of a value: a shape, or a timestamp or duration, which only expressions have. */
import { ANY, nullable } from "../../core/shapes.ts";
import type { Shape } from "../../core/shapes.ts";
import type { Kind } from "./values.ts";

export type Type = { nullable?: boolean } & (
  | { kind: "any" | "null" | "string" | "number" | "boolean" | "timestamp" | "duration" }
  | { kind: "list" | "map"; of: Type }
  | { kind: "object"; fields: Readonly<Record<string, Type>> }
);

/** The kind that the value has for certain: a nullable one may be anything as far as the checker says. */
export function certainKind(type: Type): Kind | undefined {
  if (type.kind === "any" || type.nullable === true) return undefined;
  return type.kind === "object" ? "map" : type.kind;
}

/** What a list holds, what a map's fields hold; any where it is neither. */
export function elementOf(type: Type): Type {
  if (type.kind === "list" || type.kind === "map") return type.of;
  return type.kind === "object" ? joinAll(Object.values(type.fields)) : ANY;
}

/** The type of no value at all: joined with another it is the other. */
const NOTHING: Type = { kind: "null" };

/** The type of a value that is of one or of the other. */
export function either(a: Type, b: Type): Type {
  if (a === b) return a;
  if (a.kind === "null") return maybeNull(b, a !== NOTHING);
  if (b.kind === "null") return maybeNull(a, b !== NOTHING);
  return maybeNull(joined(a, b), a.nullable === true || b.nullable === true);
}

export const joinAll = (types: readonly Type[]): Type => {
  const joint = types.reduce(either, NOTHING);
  return joint === NOTHING ? ANY : joint;
};

const maybeNull = (type: Type, isMaybe: boolean): Type =>
  isMaybe && type.kind !== "any" ? { ...type, nullable: true } : type;

function joined(a: Type, b: Type): Type {
  if (a.kind === "list" && b.kind === "list") return { kind: "list", of: either(a.of, b.of) };
  if (a.kind === "map" && b.kind === "map") return { kind: "map", of: either(a.of, b.of) };
  if (a.kind === "object" && b.kind === "object") {
    const names = Object.keys(a.fields);
    const same =
      names.length === Object.keys(b.fields).length && names.every((name) => Object.hasOwn(b.fields, name));
    if (!same) return ANY;
    return {
      kind: "object",
      fields: Object.fromEntries(names.map((name) => [name, either(a.fields[name]!, b.fields[name]!)])),
    };
  }
  return a.kind === b.kind && a.kind !== "list" && a.kind !== "map" && a.kind !== "object"
    ? { kind: a.kind }
    : ANY;
}

/** The shape of what comes out: timestamps are text then, durations numbers. */
export function shapeOf(type: Type): Shape {
  const shape = ((): Shape => {
    switch (type.kind) {
      case "timestamp":
        return { kind: "string" };
      case "duration":
        return { kind: "number" };
      case "list":
      case "map":
        return { kind: type.kind, of: shapeOf(type.of) };
      case "object":
        return {
          kind: "object",
          fields: Object.fromEntries(Object.entries(type.fields).map(([name, of]) => [name, shapeOf(of)])),
        };
      default:
        return { kind: type.kind };
    }
  })();
  return type.nullable === true ? nullable(shape) : shape;
}
