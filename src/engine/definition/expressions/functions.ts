/** The functions of the language, each defined once: its parameters, its result type and its implementation. */
import type { SourceLocation } from "./cel-parser.ts";
import { CALENDAR_FUNCTIONS } from "./calendar-functions.ts";
import { LIST_FUNCTIONS } from "./list-functions.ts";
import { NUMBER_FUNCTIONS } from "./number-functions.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { TEXT_FUNCTIONS } from "./text-functions.ts";
import { TIME_FUNCTIONS } from "./time-functions.ts";
import type { IssueDetails } from "./failures.ts";
import type { Type } from "./typing.ts";
import type { Kind } from "./values.ts";

/** The call of a function, for charges and errors. */
export interface CallContext {
  evaluation: Evaluation;
  location: SourceLocation;
  /** The source of an argument. */
  argumentSource(index: number): string;
}

export type FunctionBody = (args: readonly unknown[], call: CallContext) => unknown;

export interface Param {
  /** Accepted kinds. Null is never one of them, so that it fails as `null_value`. Left out: anything, null included. */
  kinds?: readonly Kind[];
  /** Accepted kinds where the first argument is text. */
  besideText?: readonly Kind[];
  /** Accepted kinds of the items of a list. */
  items?: readonly Kind[];
  /** Whether a long number is accepted as a number: as the argument, or as an item of it. */
  takesLongNumbers?: true;
  /** Checks a literal argument of an accepted kind before a run. Values of a map that are no literals are undefined. */
  literalIssue?(value: unknown): (IssueDetails & { code: string; message: string }) | undefined;
  /** Whether null as an item fails, where items of any kind are accepted. */
  itemsNotNull?: true;
}

export interface CelFunction {
  /** Correct calls, for error messages. */
  usage: string;
  params: readonly Param[];
  /** How many of the last parameters are optional. */
  optional?: number;
  /** Whether the last parameter may be repeated. */
  variadic?: boolean;
  /** The type of the result, as far as the argument types determine it. */
  result(args: readonly Type[]): Type;
  /** Work of one call, whatever its arguments are. */
  cost?: number;
  /** Runs with arguments of accepted kinds. */
  call: FunctionBody;
  /** Checks literal arguments at compile time. Returns a specialized `call`, or an issue. */
  prepare?(literals: readonly unknown[]): FunctionBody | { code: string; message: string } | undefined;
}

export const FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  ...LIST_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...CALENDAR_FUNCTIONS,
};

/** Names of other languages that are too different for a near match. */
export const FUNCTION_SYNONYMS: Readonly<Record<string, string>> = {
  average: "avg",
  count: "size",
  distinct: "unique",
  every: "all",
  includes: "contains",
  len: "size",
  length: "size",
  lowerAscii: "lower",
  mean: "avg",
  number: "double",
  orderBy: "sort_by",
  parseFloat: "double",
  parseInt: "int",
  some: "exists",
  str: "string",
  stringify: "to_json",
  substr: "substring",
  toLowerCase: "lower",
  toString: "string",
  toUpperCase: "upper",
  upperAscii: "upper",
};
