/** A counted estimate of how long a validation can take, so that only short ones run on the event loop. */
import { estimatePatternSize } from "../pattern-size.ts";
import type { JsonSchema } from "./dialect.ts";
import { sizeUpTo } from "./json-size.ts";
import { containsLongNumber } from "./long-numbers.ts";
import { isContainer } from "./read-written.ts";

/** Maximum size of what is compiled of a schema, in JSON values: it takes a few milliseconds. */
const MAX_SCHEMA_VALUES = 300;
/** Maximum work, in pairs of a part of the schema and a part of the value. */
const MAX_WORK = 50_000;
/** Work of matching one character of text by one instruction of a pattern. */
const CHARACTER_WORK = 1;

/** Maximum length of the text of a value that formats are matched with, in characters: the time may grow with its square. */
const MAX_FORMAT_CHARS = 1_000;

/**
 * Whether validating a value takes a few milliseconds at most, whatever the schema, so that nothing has to interrupt it. Without
 * references, each part of the schema meets each part of the value at most once.
 * @param asWritten whether JSON text in the value is read before (`readWritten`)
 */
export function isCheapValidation(schema: JsonSchema, value: unknown, asWritten = false): boolean {
  const schemaSize = sizeUpTo(schema, MAX_SCHEMA_VALUES * 40);
  if (schemaSize === undefined || schemaSize.values > MAX_SCHEMA_VALUES) return false;
  const valueSize = sizeUpTo(value, MAX_WORK);
  if (valueSize === undefined) return false;
  if (asWritten) valueSize.values += valuesInTexts(value);
  const { hasReference, comparesItems, patternSize, hasFormat, formValues } = traitsOf(schema);
  if (hasReference || (hasFormat && valueSize.chars > MAX_FORMAT_CHARS)) return false;
  // For long numbers, the schema is compiled again (`acceptLongNumbers`), with the forms of `oneOf` as written beside it.
  const compiledValues =
    containsLongNumber(value) || containsLongNumber(schema)
      ? 2 * schemaSize.values + formValues
      : schemaSize.values;
  if (compiledValues > MAX_SCHEMA_VALUES) return false;
  const work =
    compiledValues * valueSize.values +
    (comparesItems ? valueSize.values ** 2 : 0) +
    patternSize * valueSize.chars * CHARACTER_WORK;
  return work <= MAX_WORK;
}

/** The largest number of values that JSON texts in a value can hold: each takes two characters, such as `1,`. */
function valuesInTexts(value: unknown): number {
  let chars = 0;
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next === "string" && isContainer(next)) chars += next.length;
    if (typeof next === "object" && next !== null) for (const inner of Object.values(next)) stack.push(inner);
  }
  return Math.ceil(chars / 2);
}

/** Reads all keys, also those of values that are no schemas, which only makes the estimate higher. */
function traitsOf(schema: JsonSchema) {
  const traits = {
    hasReference: false,
    comparesItems: false,
    patternSize: 0,
    hasFormat: false,
    /** Number of values inside `oneOf`, counted once for each `oneOf` around them. */
    formValues: 0,
  };
  const stack: { value: unknown; forms: number }[] = [{ value: schema, forms: 0 }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { value: next, forms } = entry;
    traits.formValues += forms;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      if (key === "$ref") traits.hasReference = true;
      else if (key === "format") traits.hasFormat = true;
      else if (key === "uniqueItems") traits.comparesItems = true;
      else if (key === "pattern" && typeof inner === "string")
        traits.patternSize += estimatePatternSize(inner) + inner.length;
      else if (key === "patternProperties" && typeof inner === "object" && inner !== null)
        for (const pattern of Object.keys(inner))
          traits.patternSize += estimatePatternSize(pattern) + pattern.length;
      stack.push({ value: inner, forms: key === "oneOf" ? forms + 1 : forms });
    }
  }
  return traits;
}
