/** The values of steps in expressions. */
import type { RunError } from "../../../schemas/run.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { OTHER_FIELDS_NULL } from "./expressions/index.ts";

/** A step as far as its value depends on it. */
interface ValuedStep {
  type: AnyStepType;
  /** Its fields, as they are written. */
  step: Readonly<Record<string, unknown>>;
}

/** The fields of a step without output: expressions see all as null. */
export function emptyOutput({ type, step }: ValuedStep): Record<PropertyKey, unknown> {
  // The fields of a `set` step are those of its `values`, which one expression may compute.
  const names = type.output.kind === "object" ? Object.keys(type.output.fields) : namesOf(step["values"]);
  return names === undefined
    ? { [OTHER_FIELDS_NULL]: true }
    : Object.fromEntries(names.map((name) => [name, null]));
}

const namesOf = (values: unknown): string[] | undefined =>
  typeof values === "object" && values !== null ? Object.keys(values) : undefined;

/** The fields of an error that it may lack. */
const NO_DETAILS = { fix: null, step_id: null, item: null, details: null } satisfies Record<
  Exclude<keyof RunError, "code" | "message">,
  null
>;

/** The value of `steps.<id>.error` in expressions: every declared field is present. */
export const errorValue = (error: RunError | null) => error && { ...NO_DETAILS, ...error };

/** The output of a fan-out, or of a repeated step. */
export const listed = (
  { step }: ValuedStep,
  items: readonly Record<string, unknown>[],
): Record<string, unknown> =>
  step["repeat"] === undefined ? { items } : { items, last: items.at(-1) ?? null, count: items.length };

/** The output of a step that was skipped. */
export function skippedOutput(step: ValuedStep): Record<PropertyKey, unknown> {
  if (step.step["for_each"] !== undefined) return { items: null };
  return step.step["repeat"] === undefined ? emptyOutput(step) : { items: null, last: null, count: null };
}

/** Whether an output that stands in for a step counts for each item of its fan-out: it has no list of them. */
export const isForEachItem = (
  step: Readonly<Record<string, unknown>>,
  output: Readonly<Record<string, unknown>>,
): boolean => step["for_each"] !== undefined && !Object.hasOwn(output, "items");

/** An output that stands in for an item or iteration, with all its fields. */
export function givenItem(
  valued: ValuedStep,
  item: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const error = (item["error"] ?? null) as RunError | null;
  return Object.assign(emptyOutput(valued), { status: error === null ? "succeeded" : "failed" }, item, {
    error: errorValue(error),
  });
}

/** The output that a trial was given for a step: its items too have all their fields, although their author left some out. */
export function givenValue(
  valued: ValuedStep,
  output: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { step } = valued;
  if (step["for_each"] === undefined && step["repeat"] === undefined)
    return { ...emptyOutput(valued), ...output };
  const given = Array.isArray(output["items"]) ? (output["items"] as Record<string, unknown>[]) : [];
  const items = given.map((item) => givenItem(valued, item));
  return { ...listed(valued, items), ...output, items };
}
