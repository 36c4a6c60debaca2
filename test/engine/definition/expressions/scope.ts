/** The scope that the tests of expressions evaluate in, and its types. */
import { ANY, listOf, nullable, NUMBER, objectOf, STRING } from "../../../../src/core/shapes.ts";
import { compileCel } from "../../../../src/engine/definition/expressions/index.ts";
import type { Scope, TypeScope } from "../../../../src/engine/definition/expressions/index.ts";
import { StepError } from "../../../../src/core/step-errors.ts";

const rows = [
  { region: "north", total: 3, note: null },
  { region: "south", total: 5.5, note: "x" },
  { region: "north", total: 1, note: null },
];

export const scope: Scope = {
  inputs: { n: 5, name: "Ann", since: "2026-01-31", nothing: null, nested: { a: { b: 1 } } },
  run: {
    id: "run_1",
    started_at: "2026-11-21T08:00:00.000Z",
    scheduled_for: null,
    workflow_id: "w",
    trigger: "api",
  },
  steps: { revenue: { rows, row_count: 3 }, skipped: { rows: null, row_count: null } },
};

const row = objectOf({ region: STRING, total: NUMBER, note: nullable(STRING) });

export const typeScope: TypeScope = {
  inputs: objectOf({
    n: NUMBER,
    name: STRING,
    since: STRING,
    nothing: nullable(NUMBER),
    nested: objectOf({ a: objectOf({ b: NUMBER }) }),
  }),
  run: objectOf({
    id: STRING,
    started_at: STRING,
    scheduled_for: nullable(STRING),
    workflow_id: STRING,
    trigger: STRING,
  }),
  steps: {
    revenue: objectOf({ rows: listOf(row), row_count: NUMBER }),
    skipped: objectOf({ rows: nullable(listOf(row)), row_count: nullable(NUMBER) }),
    open: ANY,
  },
  otherSteps: new Set(["later"]),
};

export const evaluate = (source: string, inputs: Record<string, unknown> = scope.inputs): unknown =>
  compileCel(source).evaluate({ ...scope, inputs });

/** Returns the StepError that an expression fails with. */
export function failure(source: string, inputs?: Record<string, unknown>): StepError {
  try {
    evaluate(source, inputs);
  } catch (error) {
    if (error instanceof StepError) return error;
    throw error;
  }
  throw new Error(`${source} does not fail`);
}
