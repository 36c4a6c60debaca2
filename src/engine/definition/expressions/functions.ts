/** The functions of the language, each defined once: what it takes, what it gives, what it does. */
import type { SourceLocation } from "./cel-parser.ts";
import { LIST_FUNCTIONS } from "./list-functions.ts";
import { NUMBER_FUNCTIONS } from "./number-functions.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { TEXT_FUNCTIONS } from "./text-functions.ts";
import { TIME_FUNCTIONS } from "./time-functions.ts";
import type { Type } from "./typing.ts";
import type { Kind } from "./values.ts";

/** Where a function is called, for its work and its errors. */
export interface CallContext {
  evaluation: Evaluation;
  location: SourceLocation;
  /** An argument as it is written. */
  argumentSource(index: number): string;
}

export type FunctionBody = (args: readonly unknown[], call: CallContext) => unknown;

export interface Param {
  /** What it may be; null is never among them, so that it ends as `null_value`. Left out: anything, null too. */
  kinds?: readonly Kind[];
  /** Where it is a list: what that may hold. */
  items?: readonly Kind[];
}

export interface CelFunction {
  /** As it is written, for whoever used it otherwise. */
  usage: string;
  params: readonly Param[];
  /** How many of the last ones may be left out. */
  optional?: number;
  /** Whether the last one may be repeated. */
  variadic?: boolean;
  /** What it gives, as far as that is known from its arguments. */
  result(args: readonly Type[]): Type;
  /** Its arguments are of the kinds that it takes. */
  call: FunctionBody;
  /** Looks at the arguments that are written out, once: gives what stands for `call`, or what is wrong with them. */
  prepare?(literals: readonly unknown[]): FunctionBody | { code: string; message: string } | undefined;
}

export const FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  ...LIST_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...TIME_FUNCTIONS,
};

/** What other languages call them, where that is not near enough to find. */
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
