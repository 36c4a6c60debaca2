/** Functions on numbers, and conversions to numbers. There is one kind of number, that of JSON. */
import { throwFailed } from "./failures.ts";
import type { CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { chargeText } from "./evaluation-context.ts";
import { assertFinite, kindOf, Duration } from "./values.ts";

const onNumber = (name: string, compute: (value: number) => number): CelFunction => ({
  usage: `${name}(number)`,
  params: [is.number],
  result: is.returnsNumber,
  call: ([value]) => compute(value as number),
});

const NUMBER_FORMAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const toNumber: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Date) return value.getTime() / 1_000;
  if (value instanceof Duration) return value.ms / 1_000;
  if (typeof value !== "string") return Number(value);
  chargeText(evaluation, value.length);
  const text = value.trim();
  return NUMBER_FORMAT.test(text)
    ? assertFinite(location, Number(text))
    : throwFailed(location, "converts text to a number that does not contain one");
};

/** Moves the decimal point of a number in its decimal notation, which multiplication would not do exactly. */
function shift(value: number, by: number): number {
  const [mantissa, exponent = "0"] = String(value).split("e");
  return Number(`${mantissa}e${Number(exponent) + by}`);
}

/** Rounds half away from zero, in decimal notation: 1.005 becomes 1.01, 2.5 becomes 3, -2.5 becomes -3. */
const round: FunctionBody = ([value, digits = 0], { location }) => {
  const [number, places] = [value as number, digits as number];
  if (!Number.isInteger(places) || places < 0 || places > 15)
    throwFailed(location, "rounds to a number of decimals that is not an integer from 0 to 15");
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

/** CEL has several kinds of numbers. Here they differ only in that an int loses its fraction. */
const conversion = (name: string, convert: (value: number) => number): CelFunction => ({
  usage: `${name}(value)`,
  cost: 8,
  params: [CONVERTIBLE],
  result: is.returnsNumber,
  call: (args, call) => convert(toNumber(args, call) as number),
});

export const NUMBER_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  int: conversion("int", Math.trunc),
  double: conversion("double", (value) => value),
  bool: {
    usage: "bool(text)",
    params: [{ kinds: ["boolean", "string"] }],
    result: is.returnsBoolean,
    call: toBoolean,
  },
  abs: onNumber("abs", Math.abs),
  floor: onNumber("floor", Math.floor),
  ceil: onNumber("ceil", Math.ceil),
  round: {
    usage: "round(number) or round(number, decimals)",
    cost: 80,
    params: [is.number, is.number],
    optional: 1,
    result: is.returnsNumber,
    call: round,
  },
  type: {
    usage: 'type(value): "null", "boolean", "number", "string", "list", "map", "timestamp" or "duration"',
    params: [is.anything],
    result: is.returnsText,
    call: ([value]) => kindOf(value),
  },
  dyn: { usage: "dyn(value)", params: [is.anything], result: is.returnsAny, call: ([value]) => value },
};
