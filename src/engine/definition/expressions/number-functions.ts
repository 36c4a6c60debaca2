/** Functions on numbers, and from other values to them. There is one kind of number, that of JSON. */
import { throwFailed } from "./failures.ts";
import type { CelFunction, FunctionBody } from "./functions.ts";
import * as is from "./params.ts";
import { chargeText } from "./evaluation-context.ts";
import { assertFinite, kindOf, Duration } from "./values.ts";

const onNumber = (name: string, work: (value: number) => number): CelFunction => ({
  usage: `${name}(number)`,
  params: [is.number],
  result: is.returnsNumber,
  call: ([value]) => work(value as number),
});

const NUMERAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const toNumber: FunctionBody = ([value], { evaluation, location }) => {
  if (value instanceof Date) return value.getTime() / 1_000;
  if (value instanceof Duration) return value.ms / 1_000;
  if (typeof value !== "string") return Number(value);
  chargeText(evaluation, value.length);
  const text = value.trim();
  return NUMERAL.test(text)
    ? assertFinite(location, Number(text))
    : throwFailed(location, "makes a number of a text that is none");
};

/** A number with its decimal point moved, as it is written. */
function shift(value: number, by: number): number {
  const [mantissa, exponent = "0"] = String(value).split("e");
  return Number(`${mantissa}e${Number(exponent) + by}`);
}

/** Rounds half away from zero at so many decimals of the number as it is written: 1.005 is 1.01, 2.5 is 3, -2.5 is -3. */
const round: FunctionBody = ([value, digits = 0], { location }) => {
  const [number, places] = [value as number, digits as number];
  if (!Number.isInteger(places) || places < 0 || places > 15)
    throwFailed(location, "rounds to other than 0 to 15 decimals");
  const shifted = shift(Math.abs(number), places);
  // From here on every number is whole.
  if (shifted > Number.MAX_SAFE_INTEGER) return number;
  return Math.sign(number) * shift(Math.round(shifted), -places);
};

const toBoolean: FunctionBody = ([value], { location }) => {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  return throwFailed(location, 'makes true or false of a text other than "true" and "false"');
};

const CONVERTIBLE = { kinds: ["number", "string", "boolean", "timestamp", "duration"] } as const;

/** CEL knows several kinds of numbers; here these differ in that whole ones lose their fraction. */
const conversion = (name: string, work: (value: number) => number): CelFunction => ({
  usage: `${name}(value)`,
  params: [CONVERTIBLE],
  result: is.returnsNumber,
  call: (args, call) => work(toNumber(args, call) as number),
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
    params: [is.number, is.number],
    optional: 1,
    result: is.returnsNumber,
    call: round,
  },
  type: {
    usage: "type(value)",
    params: [is.anything],
    result: is.returnsText,
    call: ([value]) => kindOf(value),
  },
  dyn: { usage: "dyn(value)", params: [is.anything], result: is.returnsAny, call: ([value]) => value },
};
