/**
 * Long numbers as parameters of SQLite: refuses those that a statement would round, and those for which it matters whether they are a
 * number or a text where the statement does not say it. (Child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";
import { lazy } from "../../core/lazy.ts";
import { childFailure } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import { mayCompareUntyped } from "./sqlite-bytecode.ts";
import { type InexactKind, mayRoundParameters } from "./sqlite-conversions.ts";
import { inexactKind, positionsWithTwoReadings } from "./sqlite-parameters.ts";
import { type Instruction, readProgram } from "./sqlite-program.ts";

/** A statement with its parameters. */
export interface BoundStatement {
  text: string;
  values: readonly SqlValue[];
  /** Reads the program of the statement, once. */
  program(): readonly Instruction[];
}

export const bindStatement = (
  db: DatabaseSync,
  text: string,
  values: readonly SqlValue[],
): BoundStatement => ({
  text,
  values,
  program: lazy(() => readProgram(db, text)),
});

const numbersOf = (positions: readonly number[]): ReadonlySet<number> =>
  new Set(positions.map((position) => position + 1));

/** The positions of long numbers that the statement may compare without a type, where the reading decides the result. */
export function unclearPositions({ text, values, program }: BoundStatement): number[] {
  const positions = positionsWithTwoReadings(text, values);
  return positions.length > 0 && mayCompareUntyped(program(), numbersOf(positions)) ? positions : [];
}

export const unclearNumber = (value: string): Error =>
  childFailure({
    code: "input_invalid",
    message: `SQLite may compare the parameter ${value} with a value that has no type, and orders every number before every text.`,
    fix: "Say in the query which it is, where x is the parameter: CAST(:x AS INTEGER), CAST(:x AS REAL) or CAST(:x AS TEXT).",
  });

/** Maximum number of positions that one answer names. */
const MAX_NAMED = 20;

/**
 * The first positions of numbers that the statement would round to a double, although the query does not say so. All numbers of a kind
 * are followed together. Only if one of them is rounded, halves of them are, to find out which.
 * @param db without an authorizer
 * @param limit maximum number of positions
 */
export function roundedPositions(db: DatabaseSync, statement: BoundStatement, limit = MAX_NAMED): number[] {
  const kinds = statement.values.map(inexactKind);
  const named = (kind: InexactKind): number[] => {
    const positions = [...kinds.keys()].filter((position) => kinds[position] === kind);
    if (positions.length === 0) return [];
    const program = statement.program();
    return namedBy(positions, limit, (some) => mayRoundParameters(db, program, numbersOf(some), kind));
  };
  return [...named("text"), ...named("integer")].toSorted((one, other) => one - other).slice(0, limit);
}

/** The first positions that an answer about several of them is about. */
function namedBy(
  positions: readonly number[],
  limit: number,
  isAbout: (positions: readonly number[]) => boolean,
): number[] {
  if (!isAbout(positions)) return [];
  if (positions.length === 1) return [...positions];
  const middle = positions.length >> 1;
  const first = namedBy(positions.slice(0, middle), limit, isAbout);
  if (first.length >= limit) return first;
  return [...first, ...namedBy(positions.slice(middle), limit - first.length, isAbout)];
}

const SHOWN_DIGITS = 60;
const shortened = (text: string): string =>
  text.length > SHOWN_DIGITS ? `${text.slice(0, SHOWN_DIGITS)}…` : text;

/** Says what the statement would do with a number that has a position of `roundedPositions`. */
export const roundingOf = (value: string): string =>
  `SQLite would take the parameter ${shortened(value)} as a number, which it rounds to ${Number(value)}`;

export const roundedNumber = (value: string): Error =>
  childFailure({
    code: "input_invalid",
    message: `${roundingOf(value)}.`,
    fix: "Write CAST(:x AS REAL) in the query, where x is the parameter, if the nearest double will do, as in most comparisons with an average. A column whose type is TEXT keeps all digits.",
  });
