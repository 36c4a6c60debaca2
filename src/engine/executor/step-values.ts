/** What the values of a step may be: its condition, what it fans out over, what it gives. */
import { StepError } from "../../core/step-errors.ts";

/** As many characters of JSON may a step give. */
const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;
const MAX_ITEMS = 100_000;
const MAX_ITEMS_CHARS = 16 * 1024 * 1024;

/**
 * Null is false; anything else but true and false is a mistake that is told.
 * @throws StepError expression_failed
 */
export function toCondition(value: unknown, where: string): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new StepError("expression_failed", `The ${where} must be true or false, but is ${describe(value)}.`);
}

const describe = (value: unknown): string =>
  Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "object"
      ? "an object"
      : `the ${typeof value} ${JSON.stringify(value).slice(0, 50)}`;

/** @throws StepError null_value, expression_failed, too_many_items */
export function validateItems(stepId: string, items: unknown): unknown[] {
  if (items === null) {
    throw new StepError("null_value", `The for_each of "${stepId}" is null, where a list is needed.`, {
      fix: "Guard it with if, or give a list: for_each: has(x) ? x : []",
    });
  }
  if (!Array.isArray(items)) {
    throw new StepError(
      "expression_failed",
      `The for_each of "${stepId}" must be a list, but is ${describe(items)}.`,
    );
  }
  if (items.length > MAX_ITEMS) {
    throw new StepError(
      "too_many_items",
      `The for_each of "${stepId}" has ${items.length} items; at most ${MAX_ITEMS} are taken.`,
      { fix: "Pick or group them first, for example in SQL." },
    );
  }
  const chars = JSON.stringify(items).length;
  if (chars > MAX_ITEMS_CHARS) {
    throw new StepError(
      "too_many_items",
      `The items of "${stepId}" come to ${chars} characters of JSON; at most ${MAX_ITEMS_CHARS} are taken.`,
      { fix: "Give each item less: its id, say, and let the step fetch the rest." },
    );
  }
  return items as unknown[];
}

/** @throws StepError output_too_large */
export function assertOutputSize(stepId: string, output: unknown): void {
  const chars = JSON.stringify(output).length;
  if (chars <= MAX_OUTPUT_CHARS) return;
  throw new StepError(
    "output_too_large",
    `"${stepId}" gave ${chars} characters of JSON; at most ${MAX_OUTPUT_CHARS} are kept.`,
    { fix: "Ask for less: fewer rows or fields." },
  );
}
