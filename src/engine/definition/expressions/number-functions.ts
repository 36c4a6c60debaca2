/** Functions on numbers, and conversions to numbers. There is one kind of number: a double, or a long number where that loses digits. */
import {
  ceilExactly,
  type ExactNumber,
  floorExactly,
  isExactNumber,
  roundExactly,
  truncateExactly,
} from "../../../core/long-number-arithmetic.ts";
import { isLongNumber, readNumber } from "../../../../schemas/long-numbers.ts";
import { isNumberText, readNumberText } from "../../../core/number-text.ts";
import { throwFailed } from "./failures.ts";
import type { CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { chargeText } from "./evaluation-context.ts";
import { exactTime, secondsText } from "./exact-times.ts";
import { assertWritable, chargeDigits, kindOf, Duration } from "./values.ts";

/** @param computeExactly does the same with a long number */
const onNumber = (
  name: string,
  compute: (value: number) => number,
  computeExactly: (value: string) => ExactNumber,
): CelFunction => ({
  usage: `${name}(number)`,
  params: [is.exactNumber],
  result: is.returnsNumber,
  call: ([value], { evaluation }) => {
    if (typeof value === "number") return compute(value);
    chargeDigits(evaluation, value);
    return computeExactly(value as string);
  },
});

/** Converts a value to the number that it is or writes, with all digits. */
const toNumber: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Date || value instanceof Duration) return readNumber(secondsText(exactTime(value)));
  if (typeof value !== "string") return Number(value);
  chargeText(evaluation, value.length);
  const text = value.trim();
  if (!isNumberText(text))
    return throwFailed(location, "converts text to a number that does not contain one");
  if (text.length > SHORT_NUMBER) chargeDigits(evaluation, text);
  return assertWritable(location, readNumberText(text));
};

/** Length up to which a text has no digits that a double would lose, in characters. */
const SHORT_NUMBER = 15;

const toInteger: FunctionBody = (args, call) => {
  const number = toNumber(args, call) as ExactNumber;
  return typeof number === "number" ? Math.trunc(number) : truncateExactly(number);
};

/** Moves the decimal point of a number in its decimal notation, which multiplication would not do exactly. */
function shift(value: number, by: number): number {
  const [mantissa, exponent = "0"] = String(value).split("e");
  return Number(`${mantissa}e${Number(exponent) + by}`);
}

/** Rounds half away from zero, in decimal notation: 1.005 becomes 1.01, 2.5 becomes 3, -2.5 becomes -3. */
const round: FunctionBody = ([value, digits = 0], { evaluation, location }) => {
  const [number, places] = [value as number, digits as number];
  if (!Number.isInteger(places) || places < 0 || places > 15)
    throwFailed(location, "rounds to a number of decimals that is not an integer from 0 to 15");
  if (isLongNumber(value)) {
    chargeDigits(evaluation, value);
    return roundExactly(value, places);
  }
  const shifted = shift(Math.abs(number), places);
  // Larger numbers have no decimals.
  if (shifted > Number.MAX_SAFE_INTEGER) return number;
  return Math.sign(number) * shift(Math.round(shifted), -places);
};

const toBoolean: FunctionBody = ([value], { location }) => {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  return throwFailed(location, 'converts text other than "true" and "false" to a boolean');
};

const CONVERTIBLE = { kinds: ["number", "string", "boolean", "timestamp", "duration"] } as const;

/** CEL has several kinds of numbers. Here they differ only in that an int has no fraction. */
const conversion = (name: string, call: FunctionBody): CelFunction => ({
  usage: `${name}(value)`,
  cost: 8,
  params: [CONVERTIBLE],
  result: is.returnsNumber,
  call,
});

export const NUMBER_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  int: conversion("int", toInteger),
  double: conversion("double", toNumber),
  bool: {
    usage: "bool(text)",
    params: [{ kinds: ["boolean", "string"] }],
    result: is.returnsBoolean,
    call: toBoolean,
  },
  abs: onNumber("abs", Math.abs, (value) => value.replace(/^-/, "")),
  floor: onNumber("floor", Math.floor, floorExactly),
  ceil: onNumber("ceil", Math.ceil, ceilExactly),
  round: {
    usage: "round(number) or round(number, decimals)",
    cost: 80,
    params: [is.exactNumber, is.number],
    optional: 1,
    result: is.returnsNumber,
    call: round,
  },
  type: {
    usage: 'type(value): "null", "boolean", "number", "string", "list", "map", "timestamp" or "duration"',
    params: [is.anything],
    result: is.returnsText,
    call: ([value]) => (isExactNumber(value) ? "number" : kindOf(value)),
  },
  dyn: { usage: "dyn(value)", params: [is.anything], result: is.returnsAny, call: ([value]) => value },
};
