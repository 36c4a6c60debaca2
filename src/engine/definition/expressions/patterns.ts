/** Regular expressions in linear time (RE2), with a timeout for long texts and large patterns. */
import vm from "node:vm";
import { RE2JS } from "re2js";
import { estimatePatternSize } from "../../../core/pattern-size.ts";
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from "./limits.ts";
import { charge, chargeText, timeLimitExceeded } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

export interface Pattern {
  regex: RE2JS;
  /** Instructions of its program. */
  size: number;
}

/** Maximum work without a timeout, in characters times instructions: setting up a timeout (0.1 ms) would take longer. */
const MAX_UNGUARDED_WORK = 100_000;

const CALL = new vm.Script("work()");
const CONTEXT: { work?: (() => unknown) | undefined } = vm.createContext({});

/** Runs code that does not read the clock itself and interrupts it at the timeout. Costs 0.1 ms. */
function runInterruptibly<T>(milliseconds: number, work: () => T): T {
  CONTEXT.work = work;
  try {
    return CALL.runInContext(CONTEXT, { timeout: Math.max(1, Math.ceil(milliseconds)) }) as T;
  } finally {
    CONTEXT.work = undefined;
  }
}

const isTimeout = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * @param milliseconds the maximum duration of compiling
 * @throws RangeError whose message says why the pattern is rejected
 */
export function compilePattern(source: string, milliseconds = 1_000): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`it must be at most ${MAX_PATTERN_LENGTH} characters, got ${source.length}`);
  }
  if (estimatePatternSize(source) > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  let pattern: Pattern;
  try {
    pattern = runInterruptibly(milliseconds, () => {
      const regex = RE2JS.compile(source);
      return { regex, size: regex.programSize() };
    });
  } catch (error) {
    const message = isTimeout(error) ? "it takes too long to compile" : rejection(error as Error);
    throw new RangeError(message, { cause: error });
  }
  if (pattern.size > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  return pattern;
}

const TOO_LARGE = "it is too large, so use fewer repetitions";

/** Returns RE2's reason without the pattern, which may be computed from secret values. */
const rejection = ({ message }: Error): string =>
  message.replace(/^error parsing regexp: /, "").replace(/: `.*`$/su, "");

/**
 * Tests whether a pattern matches anywhere in a text.
 * @throws StepError expression_limit
 */
export function matches(evaluation: Evaluation, pattern: Pattern, text: string): boolean {
  const { regex, size } = pattern;
  chargeText(evaluation, text.length);
  if (text.length * size < MAX_UNGUARDED_WORK) {
    charge(evaluation, (text.length * size) / 20);
    return regex.test(text);
  }
  try {
    return runInterruptibly(evaluation.deadline - performance.now(), () => regex.test(text));
  } catch (error) {
    if (!isTimeout(error)) throw error;
    // The compiled pattern caches states, and the interruption may have left its cache inconsistent.
    pattern.regex = RE2JS.compile(regex.pattern());
    throw timeLimitExceeded(evaluation);
  }
}
