/** The limits of an expression: those of its source hold when it is checked, the others when it is evaluated. */
import { DAY } from "../../../core/clock.ts";

/** Maximum length of an expression, in characters. */
export const MAX_EXPRESSION_LENGTH = 10_000;

/** Maximum nesting of an expression: each operator, call and pair of brackets is one level. */
export const MAX_EXPRESSION_DEPTH = 200;

/** Maximum number of issues reported for one value. */
export const MAX_EXPRESSION_ISSUES = 100;

/**
 * Maximum work of all expressions of one value together, in units of 10 ns of processor time on a common machine: 1 s. What
 * an operation costs was measured, and does not depend on the machine or on what else it does.
 */
export const MAX_EXPRESSION_COST = 100_000_000;

/**
 * Maximum work of expressions that are evaluated on the event loop: 5 ms. What needs more is evaluated again from the start
 * in a thread, with MAX_EXPRESSION_COST.
 */
export const MAX_INLINE_COST = 500_000;

/** Default maximum output, in bytes of JSON. */
export const MAX_EXPRESSION_OUTPUT = 1_048_576;

/** Maximum length of an intermediate string, in characters. */
export const MAX_EXPRESSION_TEXT = 4 * MAX_EXPRESSION_OUTPUT;

/**
 * Maximum length of an intermediate list, in items. A thread that has used up its memory ends in order only if no single
 * allocation is larger than 16 MiB; a larger one would end its process.
 */
export const MAX_EXPRESSION_LIST = 1_000_000;

/** Maximum nesting of a value that is compared, written as JSON or returned. */
export const MAX_EXPRESSION_VALUE_DEPTH = 200;

/** Maximum length of a regular expression, in characters, and of its RE2 program, in instructions. */
export const MAX_PATTERN_LENGTH = 1_000;
export const MAX_PATTERN_SIZE = 10_000;

/** Maximum duration value, in milliseconds: the range between the years 1 and 9999, as in CEL. */
export const MAX_DURATION_MS = 9_999 * 366 * DAY;
