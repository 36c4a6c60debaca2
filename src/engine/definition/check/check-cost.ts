/** A counted estimate of how long a check can take, so that only short ones run on the event loop. */
import { sizeUpTo } from "../../../core/json-schema/json-size.ts";
import type { CheckOptions } from "./check-report.ts";

/** Maximum size of a definition that is checked inline, in characters of its text, or in JSON values and characters. */
const MAX_SIZE = 8 * 1024;
/** Maximum number of JSON Schemas in it: each is compiled. */
const MAX_SCHEMAS = 4;

/** Words of schemas that can make a validation long, and of calls of other workflows, which are checked too. */
const EXPENSIVE = /\$ref|uniqueItems|pattern|anyOf|oneOf|allOf|unevaluated|\bworkflow\b|on_failure/;
const SCHEMA_FIELD = /\b(?:inputs|output_schema|schema|form|state)\b/g;

/**
 * Whether a check takes a few milliseconds at most.
 * @param source an object, or YAML or JSON text
 */
export function isCheapCheck(
  source: unknown,
  { inputs, mocks, given, applyFixes, baseText }: CheckOptions,
): boolean {
  if ((baseText?.text.length ?? 0) > MAX_SIZE) return false;
  if (applyFixes === true || mocks !== undefined || sizeUpTo([inputs, given], MAX_SIZE) === undefined)
    return false;
  const text = typeof source === "string" ? source : sizeUpTo(source, MAX_SIZE) && JSON.stringify(source);
  if (text === undefined || text.length > 2 * MAX_SIZE) return false;
  // An escape could hide a word in text.
  if (typeof source === "string" && (text.length > MAX_SIZE || text.includes("\\"))) return false;
  return !EXPENSIVE.test(text) && (text.match(SCHEMA_FIELD)?.length ?? 0) <= MAX_SCHEMAS;
}
