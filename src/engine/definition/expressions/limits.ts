/** The bounds of an expression: those of its text when it is checked, the others when it runs. */
import { DAY, SECOND } from "../../../core/clock.ts";

/** Characters of one expression. */
export const MAX_EXPRESSION_LENGTH = 10_000;

/** Levels of one expression: each operator, call and pair of brackets is one. */
export const MAX_EXPRESSION_DEPTH = 200;

/** Faults told of one value; each may cost a search for what was meant. */
export const MAX_EXPRESSION_ISSUES = 100;

/** Milliseconds that all expressions of one value may take together. */
export const MAX_EXPRESSION_MS = SECOND / 10;

/**
 * Elements that they may visit or make together (text counts a fourth of its characters). It bounds the memory, and the
 * same expression over the same values hits it everywhere.
 */
export const MAX_EXPRESSION_COST = 10_000_000;

/** Bytes of JSON that come out, unless the caller sets another bound. */
export const MAX_EXPRESSION_OUTPUT = 1_048_576;

/** Characters of a text made on the way. */
export const MAX_EXPRESSION_TEXT = 4 * MAX_EXPRESSION_OUTPUT;

/** Levels of a value that is compared, written as JSON or given out. */
export const MAX_EXPRESSION_VALUE_DEPTH = 200;

/** Characters of a regular expression, and instructions of the program that RE2 makes of it. */
export const MAX_PATTERN_LENGTH = 1_000;
export const MAX_PATTERN_SIZE = 10_000;

/** Milliseconds of a duration: what lies between the years 1 and 9999, as CEL has it. */
export const MAX_DURATION_MS = 9_999 * 366 * DAY;
