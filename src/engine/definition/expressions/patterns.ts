/** Regular expressions in linear time (RE2), with a time-out where even that may be long. */
import vm from "node:vm";
import { RE2JS } from "re2js";
import { estimatePatternSize } from "../../../core/pattern-size.ts";
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from "./limits.ts";
import { charge, chargeText, timeLimitExceeded } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

export interface Pattern {
  regex: RE2JS;
  size: number;
}

/** Below this (characters times instructions) a match is over before a time-out would be set up (0.1 ms). */
const UNGUARDED = 100_000;

const CALL = new vm.Script("work()");
const ROOM: { work?: (() => unknown) | undefined } = vm.createContext({});

/** Runs what can't look at the clock itself, and really interrupts it. Costs 0.1 ms. */
function within<T>(milliseconds: number, work: () => T): T {
  ROOM.work = work;
  try {
    return CALL.runInContext(ROOM, { timeout: Math.max(1, Math.ceil(milliseconds)) }) as T;
  } finally {
    ROOM.work = undefined;
  }
}

const isTimeout = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * @param milliseconds how long it may take to compile
 * @throws RangeError that says what is wrong with it
 */
export function compilePattern(source: string, milliseconds = 1_000): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`it is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (estimatePatternSize(source) > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  let pattern: Pattern;
  try {
    pattern = within(milliseconds, () => {
      const regex = RE2JS.compile(source);
      return { regex, size: regex.programSize() };
    });
  } catch (error) {
    const message = isTimeout(error) ? "it takes too long to compile" : refusal(error as Error);
    throw new RangeError(message, { cause: error });
  }
  if (pattern.size > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  return pattern;
}

const TOO_LARGE = "it is too large: repeat less";

/** RE2's reason, without the pattern itself: that may be made of values. */
const refusal = ({ message }: Error): string =>
  message.replace(/^error parsing regexp: /, "").replace(/: `.*`$/su, "");

/**
 * Whether it matches anywhere in the text.
 * @throws StepError expression_limit
 */
export function matches(run: Evaluation, pattern: Pattern, text: string): boolean {
  const { regex, size } = pattern;
  chargeText(run, text.length);
  if (text.length * size < UNGUARDED) {
    charge(run, (text.length * size) / 20);
    return regex.test(text);
  }
  try {
    return within(run.deadline - performance.now(), () => regex.test(text));
  } catch (error) {
    if (!isTimeout(error)) throw error;
    // It remembers states, and was stopped in the middle of that.
    pattern.regex = RE2JS.compile(regex.pattern());
    throw timeLimitExceeded(run);
  }
}
