/**
 * Delays the claims of an executor while others claim the jobs first. Each new job wakes all executors of a database, and one of
 * them gets it: without a delay each further executor would cost a transaction per job, and make all of them slower.
 */

/** Maximum delay after one lost race, in milliseconds; each further one in a row doubles it. */
const FIRST_MS = 10;
/** Maximum delay, in milliseconds. A job may wait for it although the executor has free slots. */
const LONGEST_MS = 80;

export interface ClaimBackoff {
  /** Calls `wake` after a change of the store: at once, or after the delay. */
  wakeOnChange(): void;
  /** Records a claim. @param lostRace whether another executor has claimed the jobs first */
  record(claim: { claimed: number; lostRace: boolean }): void;
  stop(): void;
}

/** @param random tests pass another */
export function claimBackoff(wake: () => void, random: () => number = Math.random): ClaimBackoff {
  let lostInARow = 0;
  let timer: NodeJS.Timeout | undefined;

  function wakeNow(): void {
    timer = undefined;
    wake();
  }

  return {
    wakeOnChange() {
      if (lostInARow === 0) return wake();
      // Another share of the delay each time, so that executors do not meet again.
      const delay = random() * Math.min(FIRST_MS * 2 ** (lostInARow - 1), LONGEST_MS);
      timer ??= setTimeout(wakeNow, delay).unref();
    },
    record({ claimed, lostRace }) {
      lostInARow = claimed === 0 && lostRace ? lostInARow + 1 : 0;
    },
    stop: () => clearTimeout(timer),
  };
}
