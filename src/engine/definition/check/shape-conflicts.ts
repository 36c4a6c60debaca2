/** Finds where a value of a known shape certainly does not have the expected shape. */
import type { PartialIssue } from "../../../core/connections.ts";
import type { Shape } from "../../../core/shapes.ts";
import { describeKind } from "./shape-fit.ts";

const OBJECTS: ReadonlySet<Shape["kind"]> = new Set(["map", "object"]);

/**
 * Returns issues with paths below the value. A nullable value may be null, and a list may be empty, so neither is judged
 * by what it may contain.
 */
export function shapeConflicts(expected: Shape, actual: Shape): PartialIssue[] {
  if ([expected, actual].some(({ kind, nullable }) => kind === "any" || nullable === true)) return [];
  if (expected.kind === "object" && actual.kind === "object") {
    const fields = actual.fields;
    return Object.entries(expected.fields).flatMap(([name, field]) =>
      Object.hasOwn(fields, name)
        ? shapeConflicts(field, fields[name]!).map((issue) =>
            Object.assign({}, issue, { path: [name, ...(issue.path ?? [])] }),
          )
        : [],
    );
  }
  if (expected.kind === actual.kind || (OBJECTS.has(expected.kind) && OBJECTS.has(actual.kind))) return [];
  return [
    {
      path: [],
      code: "wrong_type",
      message: `must be ${describeKind(expected)}, but the expression returns ${describeKind(actual)}`,
    },
  ];
}
