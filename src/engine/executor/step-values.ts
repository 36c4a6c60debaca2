/** Checks the values of a step: its condition, the list of its fan-out, its output. */
import { encodeFields, type EncodedJson } from "../../core/encoded-json.ts";
import { StepError } from "../../core/step-errors.ts";

/** Maximum size of a step's output, in characters of JSON. */
export const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;
/** Maximum number of items of a fan-out. */
export const MAX_ITEMS = 100_000;
/** Maximum size of a fan-out's list, in characters of JSON. */
const MAX_ITEMS_CHARS = 16 * 1024 * 1024;

/**
 * Null counts as false.
 * @param where the expression, for the message
 * @throws StepError expression_failed for anything else but true and false
 */
export function toCondition(value: unknown, where: string): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new StepError("expression_failed", `The ${where} must be true or false, got ${describe(value)}.`);
}

const describe = (value: unknown): string =>
  Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "object"
      ? "an object"
      : `a ${typeof value}`;

/** @throws StepError null_value, expression_failed, too_many_items */
export function validateItems(stepId: string, items: unknown): unknown[] {
  if (items === null) {
    throw new StepError("null_value", `The for_each of "${stepId}" must be a list, got null.`, {
      fix: "Skip the step with if, or use an empty list instead: for_each: has(x) ? x : []",
    });
  }
  if (!Array.isArray(items)) {
    throw new StepError(
      "expression_failed",
      `The for_each of "${stepId}" must be a list, got ${describe(items)}.`,
    );
  }
  if (items.length > MAX_ITEMS) {
    throw new StepError(
      "too_many_items",
      `The for_each of "${stepId}" has ${items.length} items; at most ${MAX_ITEMS} are allowed.`,
      { fix: "Filter or group them first, for example in SQL." },
    );
  }
  const chars = JSON.stringify(items).length;
  if (chars > MAX_ITEMS_CHARS) {
    throw new StepError(
      "too_many_items",
      `The items of "${stepId}" have ${chars} characters of JSON; at most ${MAX_ITEMS_CHARS} are allowed.`,
      { fix: "Put less into each item, for example only its id, and let the step fetch the rest." },
    );
  }
  return items as unknown[];
}

/** Encodes an output, whose fields may be encoded already. @throws StepError output_too_large */
export function encodeOutput(stepId: string, output: Readonly<Record<string, unknown>>): EncodedJson {
  const encoded = encodeFields(output);
  const chars = encoded.text.length;
  if (chars <= MAX_OUTPUT_CHARS) return encoded;
  throw new StepError(
    "output_too_large",
    `The output of "${stepId}" has ${chars} characters of JSON; at most ${MAX_OUTPUT_CHARS} are allowed.`,
    { fix: "Return less, for example fewer rows or fields." },
  );
}
