/** The shapes of a run and of its steps in expressions. */
import { ANY, listOf, mapOf, NUMBER, nullable, objectOf, type Shape, STRING } from "../../../core/shapes.ts";
import { eventStepIds } from "../event-steps.ts";

/** The fields of `run` that every expression can read, also those of a schedule. */
export const RUN_FIELDS: Readonly<Record<string, Shape>> = {
  id: STRING,
  started_at: STRING,
  scheduled_for: nullable(STRING),
  workflow_id: STRING,
  trigger: STRING,
};

/** The shape of `run` in a definition with these steps. */
export const runShape = (steps: readonly StepFields[]): Shape =>
  objectOf({
    ...RUN_FIELDS,
    event_urls: objectOf(Object.fromEntries(eventStepIds(steps).map((id) => [id, STRING]))),
  });

/** The error of a step or of a run. */
export const ERROR_SHAPE = objectOf({
  code: STRING,
  message: STRING,
  fix: nullable(STRING),
  step_id: nullable(STRING),
  item: nullable(NUMBER),
  details: ANY,
});

/** Fields of every step. `error` is set if the step failed with `on_error: continue`. */
const STATUS: Readonly<Record<string, Shape>> = { status: STRING, error: nullable(ERROR_SHAPE) };

export const INDEX_SHAPE = NUMBER;

type StepFields = Readonly<Record<string, unknown>>;

/**
 * Returns the shape of `steps.<id>`: the output of its type with status and error, which hide output fields of the same
 * name.
 * @param step its `if`, `for_each`, `repeat` and `on_error` are used
 * @param output the output of its type
 */
export function stepResultShape(step: StepFields, output: Shape): Shape {
  const skippable = "if" in step && step["if"] !== true;
  const failing = step["on_error"] === "continue";
  const end = { skippable, failing };
  if ("repeat" in step) return repeatShape(step, output, end);
  if (!("for_each" in step)) return endedShape(step, output, end);
  return withStatus(objectOf({ items: listOf(iterationShape(step, output)) }), end);
}

/** How a step may end without an output. */
interface StepEnd {
  skippable: boolean;
  failing: boolean;
}

/** The shape of one item of a fan-out, or of one iteration of a repeated step. */
export const iterationShape = (step: StepFields, output: Shape): Shape =>
  endedShape(step, output, { skippable: false, failing: step["on_error"] === "continue" });

/** A repeated step that failed has no iteration only if the start of a variable failed. */
function repeatShape(step: StepFields, output: Shape, { skippable, failing }: StepEnd): Shape {
  const iteration = iterationShape(step, output);
  const last = failing ? nullable(iteration) : iteration;
  return withStatus(objectOf({ items: listOf(iteration), last, count: NUMBER }), {
    skippable,
    failing: false,
  });
}

/** Without an output, the names that one expression computes are not known. */
const endedShape = (step: StepFields, output: Shape, end: StepEnd): Shape =>
  (end.skippable || end.failing) && typeof step["values"] === "string" ? mapOf(ANY) : withStatus(output, end);

function withStatus(output: Shape, { skippable, failing }: StepEnd): Shape {
  if (output.kind !== "object") return output.kind === "map" ? mapOf(ANY) : ANY;
  const fields = { ...output.fields, ...STATUS };
  if (!skippable && !failing) return { ...output, fields };
  const nullableFields = Object.entries(output.fields).map(
    ([name, field]) => [name, nullable(field)] as const,
  );
  return {
    ...output,
    fields: { ...Object.fromEntries(nullableFields), ...STATUS },
    succeeded: { fields, byError: !skippable },
  };
}

/** Returns the output shape of a workflow without `output`: the output of its last step, without status and error. */
export function defaultOutputShape(step: StepFields, output: Shape): Shape {
  const result = stepResultShape(step, output);
  if (result.kind !== "object") return result;
  const { succeeded: _, ...shape } = result;
  const { status: _status, error: _error, ...fields } = shape.fields;
  return { ...shape, fields };
}

export const itemShape = (list: Shape): Shape => (list.kind === "list" ? list.of : ANY);
