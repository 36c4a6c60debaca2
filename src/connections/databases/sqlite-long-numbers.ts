/**
 * Long numbers as parameters of SQLite: refuses those that a statement would round, and those for which it matters whether they are a
 * number or a text where the statement does not say it. (Child processes load this file.)
 */
import type { DatabaseSync } from "node:sqlite";
import { childFailure } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import { mayCompareUntyped } from "./sqlite-bytecode.ts";
import { mayRoundParameter } from "./sqlite-conversions.ts";
import { inexactKind, positionsWithTwoReadings } from "./sqlite-parameters.ts";

/** The positions of long numbers that the statement may compare without a type, where the reading decides the result. */
export function unclearPositions(db: DatabaseSync, text: string, values: readonly SqlValue[]): number[] {
  const positions = positionsWithTwoReadings(text, values);
  const numbers = new Set(positions.map((position) => position + 1));
  return positions.length > 0 && mayCompareUntyped(db, text, numbers) ? positions : [];
}

export const unclearNumber = (value: string): Error =>
  childFailure({
    code: "input_invalid",
    message: `SQLite may compare the parameter ${value} with a value that has no type, and orders every number before every text.`,
    fix: "Say in the query which it is, where x is the parameter: CAST(:x AS INTEGER), CAST(:x AS REAL) or CAST(:x AS TEXT).",
  });

/** The positions of numbers that the statement would round to a double, although the query does not say so. */
export const roundedPositions = (db: DatabaseSync, text: string, values: readonly SqlValue[]): number[] =>
  [...values.keys()].filter((position) => {
    const kind = inexactKind(values[position]!);
    return kind !== undefined && mayRoundParameter(db, text, position + 1, kind);
  });

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
    fix: "Round it in an expression, or say in the query that the nearest double will do, where x is the parameter: CAST(:x AS REAL). A column whose type is TEXT keeps all digits.",
  });
