/** Regular expressions in linear time (RE2), whose work is charged to the evaluation. */
import { RE2JS } from "re2js";
import { estimatePatternSize } from "../../../core/pattern-size.ts";
import { MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE } from "./limits.ts";
import { charge, chargeText } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

export interface Pattern {
  readonly regex: RE2JS;
  /** The evaluation that matches with it now. */
  evaluation: Evaluation | undefined;
  /** Whether its matcher charges for its work. */
  isMetered: boolean;
}

/** Work of compiling a pattern: at least, for each character, instruction and class of Unicode. */
const COMPILE_COST = 5_000;
const COMPILE_CHARACTER_COST = 100;
const COMPILE_INSTRUCTION_COST = 20;
const COMPILE_CLASS_COST = 8_000;

/** Returns the work of compiling a pattern, whether it is valid or not. */
export function compileCost(source: string): number {
  if (source.length > MAX_PATTERN_LENGTH) return 0;
  const classes = source.match(/\\p/gi)?.length ?? 0;
  const size = Math.min(estimatePatternSize(source), MAX_PATTERN_SIZE);
  return (
    COMPILE_COST +
    COMPILE_CHARACTER_COST * source.length +
    COMPILE_INSTRUCTION_COST * size +
    COMPILE_CLASS_COST * classes
  );
}

/** @throws RangeError whose message says why the pattern is rejected */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`it must be at most ${MAX_PATTERN_LENGTH} characters, got ${source.length}`);
  }
  if (estimatePatternSize(source) > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(source);
  } catch (error) {
    throw new RangeError(rejection(error as Error), { cause: error });
  }
  if (regex.programSize() > MAX_PATTERN_SIZE) throw new RangeError(TOO_LARGE);
  return { regex, evaluation: undefined, isMetered: false };
}

const TOO_LARGE = "it is too large, so use fewer repetitions";

/** Returns RE2's reason without the pattern, which may be computed from secret values. */
const rejection = ({ message }: Error): string =>
  message.replace(/^error parsing regexp: /, "").replace(/: `.*`$/su, "");

/** Work of preparing an instruction for the first match, and a range of characters that it accepts. */
const PREPARE_COST = 4;
const RANGE_COST = 4;
/** Work of visiting an instruction while RE2 makes a state of its automaton. */
const VISIT_COST = 6;
/** Work of one entry in the table of a new state. */
const TABLE_ENTRY_COST = 1 / 4;
/** Work of an instruction for each character, where RE2 follows all of them at once. */
const FOLLOW_COST = 2;

/**
 * Makes the matcher charge for its work. Its automaton (DFA) takes one step for a character, but it makes the states when
 * it reaches them, and a text that needs too many is searched by following all instructions at once. Which of these happens
 * is known only while it happens. RE2JS has no option for that, so its parts that count are replaced in this instance.
 */
function meter(pattern: Pattern): void {
  const { re2Input: engine } = pattern.regex;
  const { prog, dfa } = engine;
  const size = prog.numInst();
  const getInst = prog.getInst.bind(prog);
  prog.getInst = (pc: number): unknown => {
    if (pattern.evaluation !== undefined) charge(pattern.evaluation, VISIT_COST);
    return getInst(pc);
  };
  const allocTable = dfa.allocTable.bind(dfa);
  dfa.allocTable = (state: unknown, anchor: unknown) => {
    if (pattern.evaluation !== undefined) charge(pattern.evaluation, TABLE_ENTRY_COST * dfa.numClasses);
    return allocTable(state, anchor);
  };
  const execute = engine.executeEngine.bind(engine);
  engine.executeEngine = (input: { context(at: number): number }, ...rest: [unknown, unknown, unknown]) => {
    const context = input.context.bind(input);
    // Only the search that follows all instructions asks for the context of each character.
    input.context = (at) => {
      if (pattern.evaluation !== undefined) charge(pattern.evaluation, FOLLOW_COST * size);
      return context(at);
    };
    return execute(input, ...rest);
  };
}

/** Work of one step of the automaton, and of starting a search. */
const STEP_COST = 2;
const SEARCH_COST = 30;

/**
 * Tests whether a pattern matches anywhere in a text.
 * @throws StepError expression_limit
 */
export function matches(evaluation: Evaluation, pattern: Pattern, text: string): boolean {
  charge(evaluation, SEARCH_COST);
  chargeText(evaluation, text.length, STEP_COST);
  if (!pattern.isMetered) {
    const instructions = pattern.regex.re2Input.prog.inst as { runes: Int32Array }[];
    const ranges = instructions.reduce((sum, { runes }) => sum + runes.length / 2, 0);
    charge(evaluation, PREPARE_COST * instructions.length + RANGE_COST * ranges);
    meter(pattern);
    pattern.isMetered = true;
  }
  pattern.evaluation = evaluation;
  try {
    return pattern.regex.test(text);
  } finally {
    pattern.evaluation = undefined;
  }
}
