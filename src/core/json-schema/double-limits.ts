/** Writes the limits of a schema that are long numbers as doubles: the validators and readers of JSON Schema know no others. */
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { compareNumbers } from "../long-number-arithmetic.ts";
import { isSchemaObject, mapInnerSchemas } from "./map-schemas.ts";

/** The side on which values are excluded, and whether the limit itself is. */
const LIMITS: Readonly<Record<string, { direction: 1 | -1; isExclusive: boolean }>> = {
  minimum: { direction: -1, isExclusive: false },
  exclusiveMinimum: { direction: -1, isExclusive: true },
  maximum: { direction: 1, isExclusive: false },
  exclusiveMaximum: { direction: 1, isExclusive: true },
};

/** Whether the value of a keyword is a limit that is a long number. (`multipleOf` must be positive.) */
export const isLongLimit = (keyword: string, value: unknown): value is string =>
  isLongNumber(value) &&
  (Object.hasOwn(LIMITS, keyword) || (keyword === "multipleOf" && !value.startsWith("-")));

/**
 * Replaces each limit that is a long number by a double that excludes no value which the limit allows. Where there is none, as for
 * `multipleOf`, the limit is left out.
 */
export function withDoubleLimits(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const entries = Object.entries(mapInnerSchemas(schema, withDoubleLimits)).flatMap(([keyword, value]) => {
    if (!isLongLimit(keyword, value)) return [[keyword, value]];
    const limit = doubleOutside(keyword, value);
    return limit === undefined ? [] : [[keyword, limit]];
  });
  return Object.fromEntries(entries);
}

/**
 * A program that reads doubles compares rounded values: those within the limit are rounded to the double that is nearest to it at most.
 * A program that reads all digits compares with those that JSON has for the double.
 */
function doubleOutside(keyword: string, limit: string): number | undefined {
  const rule = LIMITS[keyword];
  if (rule === undefined) return undefined;
  const { direction, isExclusive } = rule;
  const nearest = Number(limit);
  let double = isExclusive ? next(nearest, direction) : nearest;
  while (Number.isFinite(double) && compareNumbers(double, limit) * direction < 0)
    double = next(double, direction);
  return Number.isFinite(double) ? double : undefined;
}

/** One of the next two doubles in a direction. */
const next = (double: number, direction: 1 | -1): number =>
  double + direction * (Math.abs(double) * Number.EPSILON || Number.MIN_VALUE);
