/** Checks whether a value that stands in for the output of a step has the shape of that output. */
import { isLongNumber } from "../../../../schemas/long-numbers.ts";
import { formatShape } from "../../../core/format-shape.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { shapeOfConstant, type Shape } from "../../../core/shapes.ts";
import { type LocatedIssue, UNFIT_OUTPUT } from "./check-report.ts";
import { describeKind } from "./shape-fit.ts";

/** Maximum number of issues that are reported for one output. */
const MAX_ISSUES = 5;
/** Maximum number of items of a list that are checked. */
const MAX_ITEMS = 100;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param shape that of `steps.<id>` */
export function outputFitIssues(output: unknown, shape: Shape, path: readonly PropertyKey[]): LocatedIssue[] {
  const issues: LocatedIssue[] = [];

  function visit(value: unknown, expected: Shape, at: readonly PropertyKey[]): void {
    // A value that is null as it is written may have another type after the next change.
    if (issues.length >= MAX_ISSUES || expected.kind === "any" || expected.kind === "null") return;
    if (value === null && expected.nullable === true) return;
    if (!fits(value, expected)) issues.push(unfit(value, expected, at));
    else if (expected.kind === "list")
      for (const [index, item] of (value as unknown[]).slice(0, MAX_ITEMS).entries())
        visit(item, expected.of, [...at, index]);
    else if (expected.kind === "map")
      for (const [key, item] of Object.entries(value as object)) visit(item, expected.of, [...at, key]);
    else if (expected.kind === "object")
      visitFields(value as Readonly<Record<string, unknown>>, expected, at);
  }

  function visitFields(
    value: Readonly<Record<string, unknown>>,
    { fields, open }: Extract<Shape, { kind: "object" }>,
    at: readonly PropertyKey[],
  ): void {
    // Of a failed step or item, which has no output.
    if ("error" in fields && isObject(value["error"])) return;
    for (const [name, field] of Object.entries(value)) {
      const expected = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (expected !== undefined) visit(field, expected, [...at, name]);
      else if (open !== true && issues.length < MAX_ISSUES)
        issues.push(unknownField(name, Object.keys(fields), [...at, name]));
    }
  }

  visit(output, shape, path);
  return issues;
}

function fits(value: unknown, { kind }: Shape): boolean {
  if (kind === "list") return Array.isArray(value);
  if (kind === "object" || kind === "map") return isObject(value);
  return typeof value === kind || (kind === "number" && isLongNumber(value));
}

const actualKind = (value: unknown): string =>
  Array.isArray(value) ? "a list" : isObject(value) ? "an object" : describeKind(shapeOfConstant(value));

const unfit = (value: unknown, expected: Shape, path: readonly PropertyKey[]): LocatedIssue => ({
  path,
  code: UNFIT_OUTPUT,
  message: `must be ${describeKind(expected)} as in the output of the step, is ${actualKind(value)}`,
  fix: `Write a value of the type ${formatShape(expected)}.`,
});

function unknownField(name: string, known: readonly string[], path: readonly PropertyKey[]): LocatedIssue {
  const near = nearMatch(name, known);
  return {
    path,
    code: UNFIT_OUTPUT,
    message: "is not in the output of the step",
    allowed: [...known],
    ...(near !== undefined && { did_you_mean: near }),
    fix: near === undefined ? "Remove it." : `Write ${near}.`,
  };
}
