import { describe, expect, it } from "vitest";
import { type StepState, StepStates } from "../../src/core/step-states.ts";
import { decodeState, decodeStates, encodeState, encodeStates } from "../../src/store/step-state-columns.ts";

const LETTERS: readonly [StepState, string][] = [
  ["pending", "p"],
  ["queued", "q"],
  ["running", "r"],
  ["waiting", "w"],
  ["succeeded", "s"],
  ["skipped", "k"],
  ["failed_continued", "e"],
  ["failed", "f"],
  ["cancelled", "c"],
];

describe("the columns of step states", () => {
  it.each(LETTERS)("hold %s as %s", (state, letter) => {
    expect(encodeState(state)).toBe(letter);
    expect(decodeState(letter)).toBe(state);
  });

  it("hold the states of a run in the order of its steps", () => {
    const states = new StepStates(LETTERS.map(([state]) => state));
    expect(encodeStates(states)).toBe("pqrwskefc");
    expect(decodeStates("pqrwskefc")).toEqual(states);
    expect(decodeStates("").list).toEqual([]);
  });

  it("are refused with an unknown letter", () => {
    expect(() => decodeState("x")).toThrow('unknown step state "x"');
  });
});
