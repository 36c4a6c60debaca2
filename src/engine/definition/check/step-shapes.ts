/** What expressions see of a run and of its steps. */
import { ANY, listOf, mapOf, NUMBER, nullable, objectOf, type Shape, STRING } from "../../../core/shapes.ts";

/** `run` in expressions. */
export const RUN_SHAPE = objectOf({
  id: STRING,
  started_at: STRING,
  scheduled_for: nullable(STRING),
  workflow_id: STRING,
  trigger: STRING,
});

/** Beside a step's own fields; `error` of a step that failed under `on_error: continue`. */
const STATUS: Readonly<Record<string, Shape>> = {
  status: STRING,
  error: nullable(
    objectOf({
      code: STRING,
      message: STRING,
      fix: nullable(STRING),
      step_id: nullable(STRING),
      item: nullable(NUMBER),
      details: ANY,
    }),
  ),
};

export const INDEX_SHAPE = NUMBER;

type Flags = Readonly<Record<string, unknown>>;

/**
 * `steps.<id>`: the type's fields, and status and error, which win where a field has the same name.
 * @param written the step, whose `if`, `for_each` and `on_error` matter here
 * @param own what its type gives
 */
export function stepResultShape(written: Flags, own: Shape): Shape {
  const skippable = "if" in written && written["if"] !== true;
  const failing = written["on_error"] === "continue";
  if (!("for_each" in written)) return withStatus(own, skippable || failing);
  const items = listOf(withStatus(own, failing));
  return objectOf({ ...STATUS, items: skippable || failing ? nullable(items) : items });
}

function withStatus(own: Shape, maybeNull: boolean): Shape {
  if (own.kind !== "object") return own.kind === "map" ? mapOf(ANY) : ANY;
  const fields = Object.entries(own.fields).map(
    ([name, it]) => [name, maybeNull ? nullable(it) : it] as const,
  );
  return objectOf({ ...Object.fromEntries(fields), ...STATUS });
}

/** What a run gives that has no `output`: the last step's own fields. */
export function defaultOutputShape(written: Flags, own: Shape): Shape {
  if ("for_each" in written) return stepResultShape(written, own);
  const nulls = "if" in written || written["on_error"] === "continue";
  return nulls ? nullable(own) : own;
}

/** What is known of the items of a list. */
export const itemShape = (list: Shape): Shape => (list.kind === "list" ? list.of : ANY);
