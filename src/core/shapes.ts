/**
 * What is known of a value before anything runs: the types that the checker carries from input schemas, step outputs
 * and query columns into expressions. `any` is "not known", and never a fault.
 */
export type Shape = { nullable?: boolean } & (
  | { kind: "any" | "null" | "string" | "number" | "boolean" }
  | { kind: "list"; of: Shape }
  /** Any key, one type of value. */
  | { kind: "map"; of: Shape }
  /** These fields and no other: to name another is a fault with a near match. */
  | { kind: "object"; fields: Readonly<Record<string, Shape>> }
);

/**
 * Nodes of one shape, and levels; beyond them nothing is known. A step's output may hold those of the steps before it,
 * twice each: unbounded, shapes would double from step to step.
 */
export const MAX_SHAPE_NODES = 2_000;
export const MAX_SHAPE_DEPTH = 12;

export const ANY: Shape = { kind: "any" };
export const STRING: Shape = { kind: "string" };
export const NUMBER: Shape = { kind: "number" };
export const BOOLEAN: Shape = { kind: "boolean" };
export const listOf = (of: Shape): Shape => ({ kind: "list", of });
export const mapOf = (of: Shape): Shape => ({ kind: "map", of });
export const objectOf = (fields: Readonly<Record<string, Shape>>): Shape => ({ kind: "object", fields });
export const nullable = (shape: Shape): Shape => ({ ...shape, nullable: true });

/** The shape of a value that is written out, not computed; of lists and objects nothing is said. */
export function shapeOfConstant(value: unknown): Shape {
  switch (typeof value) {
    case "string":
      return STRING;
    case "number":
      return NUMBER;
    case "boolean":
      return BOOLEAN;
    default:
      return value === null ? { kind: "null" } : ANY;
  }
}
