/**
 * A clock that the processes of an installation agree on. Each process measures how far its wall clock is ahead of one clock
 * that all of them can read. The clock of a database server is right: a process that differs from it uses the server's time.
 * Where there is no server, the executors publish their offsets, and what most of them have is the right one. A process with
 * another offset corrects its time by the difference, and decides nothing that depends on it.
 */
import { type Clock, SECOND, systemClock } from "./clock.ts";

/** Maximum difference between two clocks that agree, in milliseconds. */
const MAX_DEVIATION_MS = SECOND;
/** Maximum jump of the wall clock during a measurement, in milliseconds. */
const MAX_JUMP_MS = 100;
const MAX_MEASUREMENTS = 3;
/** Maximum duration of a reading while the clock is corrected, in milliseconds: less than the smallest correction. */
const MAX_READING_MS = MAX_DEVIATION_MS / 2;

/** A reading of a clock that all processes can read. */
export interface SharedTime {
  /** Milliseconds since 1970 UTC. */
  at: number;
  /** By how much the clock may be behind, because it moves in steps, in milliseconds. */
  resolutionMs: number;
}

/** The clock that all processes of an installation can read. */
export interface SharedClock {
  readTime(): Promise<SharedTime>;
  /** Whether it is the clock of a database server. Otherwise it may be that of this machine, or of a file server. */
  hasServerClock: boolean;
}

export interface AgreedClock extends Required<Clock> {
  /**
   * Measures by how much the wall clock of this process is ahead of the shared one, in milliseconds. Differences that the
   * duration of the reading explains are none.
   * @returns undefined when the wall clock jumped during each measurement, or each took too long to keep a correction
   */
  measure(readShared: () => Promise<SharedTime>): Promise<number | undefined>;
  /**
   * Compares the last measured offset with those of the executors.
   * @param others offsets of other processes, in milliseconds; without any the own clock is right
   * @returns by how much the wall clock is ahead of the agreed time, in milliseconds; 0 when it agrees
   */
  compare(offset: number, others: readonly number[]): number;
  /**
   * Uses the time of the shared clock from the last measurement on.
   * @returns by how much the wall clock is ahead of it, in milliseconds; 0 when it agrees
   */
  followShared(offset: number): number;
  /** Takes the own clock as right, where no other one can be read. */
  acceptOwn(): void;
  /** Takes the clock as wrong until it has been compared. */
  awaitComparison(): void;
}

/** @param monotonic milliseconds of a clock that nobody sets */
export function agreedClock(
  wall: Clock = systemClock,
  monotonic: () => number = () => performance.now(),
): AgreedClock {
  const read = (): Reading => ({ wall: wall.now(), monotonic: monotonic() });
  /** When the wall clock was last measured, and when it was last compared. */
  let measured = read();
  let compared = measured;
  /** By how much the wall clock was ahead of the agreed time, in milliseconds. */
  let correction = 0;
  /** Whether the corrected time may decide what is due. */
  let isTrusted = true;

  function correct(deviation: number): number {
    correction = Math.abs(deviation) > MAX_DEVIATION_MS ? deviation : 0;
    compared = measured;
    return correction;
  }

  return {
    // Between a jump and the next comparison the time goes on from the last one. The monotonic clock has fractions of a
    // millisecond, which no column of whole numbers takes.
    now() {
      const current = read();
      return Math.floor(current.wall - unexplained(compared, current) - correction);
    },
    isAgreed: () => isTrusted && unexplained(compared, read()) === 0,
    async measure(readShared) {
      for (let attempt = 0; attempt < MAX_MEASUREMENTS; attempt += 1) {
        const before = read();
        const { at, resolutionMs } = await readShared();
        measured = read();
        if (Math.abs(jump(before, measured)) > MAX_JUMP_MS) continue;
        // A reading that takes as long as the deviation would explain it, and end its correction.
        if (correction !== 0 && measured.monotonic - before.monotonic > MAX_READING_MS) continue;
        if (at > measured.wall) return measured.wall - at;
        return Math.max(before.wall - resolutionMs - at, 0);
      }
      return undefined;
    },
    compare(offset, others) {
      correct(offset - agreedOffset([offset, ...others]));
      isTrusted = correction === 0;
      return correction;
    },
    followShared(offset) {
      isTrusted = true;
      return correct(offset);
    },
    acceptOwn() {
      correction = 0;
      isTrusted = true;
      compared = read();
    },
    awaitComparison() {
      isTrusted = false;
    },
  };
}

interface Reading {
  wall: number;
  monotonic: number;
}

/** By how much the wall clock was set forward between two readings, in milliseconds. */
const jump = (from: Reading, to: Reading): number => to.wall - from.wall - (to.monotonic - from.monotonic);

/** A jump that is too large for an adjustment by the system, in milliseconds; 0 for none. */
function unexplained(from: Reading, to: Reading): number {
  const jumped = jump(from, to);
  return Math.abs(jumped) > MAX_DEVIATION_MS ? jumped : 0;
}

/** The offset that most others agree with; of several, the one that is nearest to the shared clock. */
function agreedOffset(offsets: readonly number[]): number {
  const support = (offset: number): number =>
    offsets.filter((other) => Math.abs(other - offset) <= MAX_DEVIATION_MS).length;
  return offsets.toSorted((a, b) => support(b) - support(a) || Math.abs(a) - Math.abs(b))[0]!;
}
