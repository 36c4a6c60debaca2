/** Step states in the database: one letter each, so that one column of a run holds the states of all its steps. */
import { type StepState, StepStates } from "../core/step-states.ts";

const LETTERS: Readonly<Record<StepState, string>> = {
  pending: "p",
  queued: "q",
  running: "r",
  waiting: "w",
  succeeded: "s",
  skipped: "k",
  failed_continued: "e",
  failed: "f",
  cancelled: "c",
};

const STATES: ReadonlyMap<string, StepState> = new Map(
  Object.entries(LETTERS).map(([state, letter]) => [letter, state as StepState]),
);

export const encodeState = (state: StepState): string => LETTERS[state];

export function decodeState(letter: string): StepState {
  const state = STATES.get(letter);
  if (state === undefined) throw new Error(`unknown step state "${letter}" in the database`);
  return state;
}

export const encodeStates = ({ list }: StepStates): string => list.map(encodeState).join("");

export const decodeStates = (column: string): StepStates => new StepStates(column.split("").map(decodeState));
