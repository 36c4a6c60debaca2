/**
 * Finds out whether the value of a register was converted before an instruction of a SQLite program. (sqlite.org/opcode.html; child
 * processes load this file.)
 */
import { lazy } from "../../core/lazy.ts";
import { JUMPS, writtenRegisters } from "./sqlite-opcodes.ts";
import type { Instruction, Watch } from "./sqlite-program.ts";

/**
 * Reads the writes, the conversions and the jumps of a program once, so that an answer takes a search in lists of addresses.
 * @param writers the instructions that write a parameter; it may grow between two answers
 * @returns whether what a register holds at an address was converted, or is no parameter
 */
export function createClosings(
  program: readonly Instruction[],
  writers: ReadonlySet<number>,
  watch: Watch,
): (register: number, at: number) => boolean {
  const events = new Map<number, number[]>();
  /** They run others, which may write any register. */
  const switches: number[] = [];
  for (const [at, instruction] of program.entries()) {
    addWrites(events, instruction, at);
    for (const register of watch.closes(instruction)) addTo(events, register, at);
    if (instruction.opcode === "Yield" || instruction.opcode === "Gosub") switches.push(at);
  }
  const writes = lazy(() => {
    const found = new Map<number, number[]>();
    for (const [at, instruction] of program.entries()) addWrites(found, instruction, at);
    return found;
  });
  const sources = lazy(() => sourcesOfJumps(program));

  /** Whether a jump passes over the conversion, or comes back to behind it after another write. */
  function isBypassed(register: number, converted: number, at: number): boolean {
    const { first, last } = sources()(converted + 1, at);
    return first < converted || lastBefore(writes().get(register), last) >= at;
  }

  return (register, at) => {
    const event = lastBefore(events.get(register), at);
    if (event < 0 || event < lastBefore(switches, at) || writers.has(event)) return false;
    return !isBypassed(register, event, at);
  };
}

function addWrites(events: Map<number, number[]>, instruction: Instruction, at: number): void {
  const [first, count] = writtenRegisters(instruction) ?? [0, 0];
  for (let index = 0; index < count; index += 1) addTo(events, first + index, at);
}

function addTo(events: Map<number, number[]>, register: number, at: number): void {
  const known = events.get(register);
  if (known === undefined) events.set(register, [at]);
  else if (known.at(-1) !== at) known.push(at);
}

/** The last address before another one; -1 if there is none. */
function lastBefore(addresses: readonly number[] | undefined, at: number): number {
  let [from, to] = [0, addresses?.length ?? 0];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (addresses![middle]! < at) from = middle + 1;
    else to = middle;
  }
  return from === 0 ? -1 : addresses![from - 1]!;
}

interface Sources {
  first: number;
  last: number;
}

const NO_SOURCES: Sources = { first: Infinity, last: -1 };

const joined = (one: Sources, other: Sources): Sources => ({
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
});

/** @returns the first and the last jump to one of the addresses from `from` to `to` */
function sourcesOfJumps(program: readonly Instruction[]): (from: number, to: number) => Sources {
  const single = program.map(() => NO_SOURCES);
  for (const [at, { opcode, p2 }] of program.entries())
    if (JUMPS.has(opcode) && p2 < single.length) single[p2] = joined(single[p2]!, { first: at, last: at });
  // Each level has those of ranges twice as long.
  const levels = [single];
  for (let length = 1; length * 2 <= program.length; length *= 2) {
    const shorter = levels.at(-1)!;
    levels.push(shorter.slice(0, -length).map((sources, at) => joined(sources, shorter[at + length]!)));
  }
  return (from, to) => {
    if (from > to) return NO_SOURCES;
    const level = Math.floor(Math.log2(to - from + 1));
    return joined(levels[level]![from]!, levels[level]![to - 2 ** level + 1]!);
  };
}
