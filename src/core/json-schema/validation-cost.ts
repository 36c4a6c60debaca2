/** A counted estimate of how long a validation can take, so that only short ones run on the event loop. */
import { estimatePatternSize } from "../pattern-size.ts";
import type { JsonSchema } from "./dialect.ts";
import { sizeUpTo } from "./json-size.ts";

/** Maximum size of a schema, in JSON values: it is compiled in a few milliseconds. */
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
 */
export function isCheapValidation(schema: JsonSchema, value: unknown): boolean {
  const schemaSize = sizeUpTo(schema, MAX_SCHEMA_VALUES * 40);
  if (schemaSize === undefined || schemaSize.values > MAX_SCHEMA_VALUES) return false;
  const valueSize = sizeUpTo(value, MAX_WORK);
  if (valueSize === undefined) return false;
  const { hasReference, comparesItems, patternSize, hasFormat } = traitsOf(schema);
  if (hasReference || (hasFormat && valueSize.chars > MAX_FORMAT_CHARS)) return false;
  const work =
    schemaSize.values * valueSize.values +
    (comparesItems ? valueSize.values ** 2 : 0) +
    patternSize * valueSize.chars * CHARACTER_WORK;
  return work <= MAX_WORK;
}

/** Reads all keys, also those of values that are no schemas, which only makes the estimate higher. */
function traitsOf(schema: JsonSchema) {
  const traits = { hasReference: false, comparesItems: false, patternSize: 0, hasFormat: false };
  const stack: unknown[] = [schema];
  while (stack.length > 0) {
    const next = stack.pop();
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
      stack.push(inner);
    }
  }
  return traits;
}
