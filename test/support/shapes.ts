/** Compares values with the shapes that the checker claims for them. */
import type { Shape } from "../../src/core/shapes.ts";

/**
 * Finds where a value differs from a shape. Fields that the shape does not name are allowed.
 * @returns the first difference, as text; undefined if there is none
 */
export function describeMismatch(shape: Shape, value: unknown, path = "value"): string | undefined {
  if (shape.kind === "any") return undefined;
  if (value === null)
    return shape.nullable === true || shape.kind === "null"
      ? undefined
      : `${path} is null, not ${shape.kind}`;
  switch (shape.kind) {
    case "list":
      return Array.isArray(value)
        ? firstOf(value.map((item, index) => describeMismatch(shape.of, item, `${path}[${index}]`)))
        : `${path} is no list`;
    case "map":
      return isObject(value)
        ? firstOf(
            Object.entries(value).map(([name, field]) =>
              describeMismatch(shape.of, field, `${path}.${name}`),
            ),
          )
        : `${path} is no object`;
    case "object":
      if (!isObject(value)) return `${path} is no object`;
      return firstOf(
        Object.entries(shape.fields).map(([name, of]) =>
          Object.hasOwn(value, name)
            ? describeMismatch(of, value[name], `${path}.${name}`)
            : `${path}.${name} is missing`,
        ),
      );
    default:
      return typeof value === shape.kind ? undefined : `${path} is ${typeof value}, not ${shape.kind}`;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const firstOf = (found: readonly (string | undefined)[]): string | undefined =>
  found.find((text) => text !== undefined);
