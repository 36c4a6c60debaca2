/** Finds where a value of a known shape certainly does not have the expected shape. */
import type { PartialIssue } from "../../../core/connections.ts";
import type { Shape } from "../../../core/shapes.ts";
import { describeKind } from "./shape-fit.ts";

const OBJECTS: ReadonlySet<Shape["kind"]> = new Set(["map", "object"]);

/**
 * Returns issues with paths below the value; a warning where a value may be null that must not be. A list may be empty, so
 * its items are not judged.
 */
export function shapeConflicts(expected: Shape, actual: Shape): PartialIssue[] {
  if (expected.kind === "any" || actual.kind === "any") return [];
  const acceptsNull = expected.nullable === true || expected.kind === "null";
  if (actual.kind === "null") return acceptsNull ? [] : [conflict(expected, actual)];
  const found = kindConflicts(expected, actual);
  return found.length > 0 || acceptsNull || actual.nullable !== true ? found : [MAYBE_NULL];
}

function kindConflicts(expected: Shape, actual: Shape): PartialIssue[] {
  if (expected.kind === "object" && actual.kind === "object") {
    const { fields } = actual;
    return Object.entries(expected.fields).flatMap(([name, field]) =>
      Object.hasOwn(fields, name)
        ? shapeConflicts(field, fields[name]!).map((issue) =>
            Object.assign({}, issue, { path: [name, ...(issue.path ?? [])] }),
          )
        : [],
    );
  }
  const isSame = expected.kind === actual.kind || (OBJECTS.has(expected.kind) && OBJECTS.has(actual.kind));
  return isSame ? [] : [conflict(expected, actual)];
}

const conflict = (expected: Shape, actual: Shape): PartialIssue => ({
  path: [],
  code: "wrong_type",
  message: `must be ${describeKind(expected)}, but the expression returns ${describeKind(actual)}`,
});

const MAYBE_NULL: PartialIssue = {
  path: [],
  code: "maybe_null",
  message: "must not be null, but the expression may return null",
  fix: "Write a default inside it with ??.",
  severity: "warning",
};
