import { isLongNumber } from "../../schemas/long-numbers.ts";

/**
 * The SQL number behind a value. An `integer` or `decimal` that a double can't hold exactly is text in JSON, so its kind is
 * `any`; `scratch` loads it as a number nevertheless.
 */
export type SqlNumber = "integer" | "decimal" | "float";

/**
 * The static type of a value. The checker carries shapes from input schemas, step outputs and query columns into
 * expressions. `any` means unknown and never causes an issue.
 */
export type Shape = { nullable?: boolean; sqlNumber?: SqlNumber } & (
  | { kind: "any" | "null" | "string" | "number" | "boolean" }
  | { kind: "list"; of: Shape }
  /** An object with any keys and one type of value. */
  | { kind: "map"; of: Shape }
  /** An object with these fields: reading another one is an issue, unless it is open to others. */
  | {
      kind: "object";
      fields: Readonly<Record<string, Shape>>;
      open?: true;
      /** The shape of all other fields, if it is open and that is known. */
      others?: Shape;
      succeeded?: SucceededFields<Shape>;
    }
);

/** The fields of the result of a step that may fail or be skipped, where it has succeeded. */
export interface SucceededFields<T> {
  fields: Readonly<Record<string, T>>;
  /** Whether it has succeeded wherever its `error` is null. */
  byError: boolean;
}

/**
 * Maximum number of nodes of a shape, and of its levels; the rest becomes `any`. A step's output may contain the outputs
 * before it twice, so without a limit shapes would double from step to step.
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
/** An object with these fields, and possibly others, of unknown types unless `others` says more. */
export const openObjectOf = (fields: Readonly<Record<string, Shape>>, others?: Shape): Shape => ({
  kind: "object",
  fields,
  open: true,
  ...(others !== undefined && { others }),
});
export const nullable = (shape: Shape): Shape => ({ ...shape, nullable: true });

/** Returns the shape of a literal value; `any` for lists and objects. */
export function shapeOfConstant(value: unknown): Shape {
  switch (typeof value) {
    case "string":
      // It is a number as well as a text.
      return isLongNumber(value) ? ANY : STRING;
    case "number":
      return NUMBER;
    case "boolean":
      return BOOLEAN;
    default:
      return value === null ? { kind: "null" } : ANY;
  }
}
