/** Progress of long work on standard error: a bar that is redrawn on a terminal, else a line now and then. */
import { SECOND } from "../core/clock.ts";
import type { Io } from "./io.ts";

/** Width of the bar, in characters. */
const WIDTH = 30;
/** Minimum time between two redraws, in milliseconds. */
const REDRAW_MS = 100;
/** Minimum time between two lines without a terminal, in milliseconds: work that takes less prints none. */
const LINE_MS = 30 * SECOND;

export interface Progress {
  /** @param done how much of the total is done, in the unit of the total */
  update(done: number, what?: string): void;
  /** Removes the bar. */
  end(): void;
}

/**
 * Begins to show progress. Callers call `end` also when the work fails.
 * @param label what is done, such as `Backing up`
 * @param total 0 if there is nothing to do
 * @param now the time in milliseconds, from any origin
 */
export function showProgress(
  io: Pick<Io, "err" | "errTerminal" | "eraseLines">,
  label: string,
  total: number,
  now: () => number = () => performance.now(),
): Progress {
  let printedAt = io.errTerminal ? -Infinity : now();
  let isDrawn = false;
  const erase = (): void => {
    if (isDrawn) io.eraseLines?.(1);
    isDrawn = false;
  };
  return {
    update(done, what) {
      const at = now();
      if (at - printedAt < (io.errTerminal ? REDRAW_MS : LINE_MS)) return;
      printedAt = at;
      const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
      const percent = `${Math.floor(100 * share)} %`;
      const detail = what === undefined ? "" : `, ${what}`;
      if (!io.errTerminal) return io.err(`${label}: ${percent}${detail}\n`);
      erase();
      const filled = Math.round(WIDTH * share);
      io.err(
        `${label} [${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${percent.padStart(5)}${detail}\n`,
      );
      isDrawn = true;
    },
    end: erase,
  };
}
