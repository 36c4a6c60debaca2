/** The failures of a simulation. A seed draws how often they happen; each has a number, so that a story can do without it. */

/** The probability of each failure at each opportunity, from 0 to 1. */
export interface FailureRates {
  /** A process dies before or after it has used the database or the network. */
  kill: number;
  /** A process stops for a while, as with SIGSTOP, and goes on. */
  pause: number;
  /** A transaction fails. */
  fail: number;
  /** A transaction is rolled back and runs again. */
  repeat: number;
  /** A transaction commits, and its answer is lost. */
  loseAnswer: number;
  /** An answer takes long. */
  slow: number;
  /** A notification of a commit does not arrive. */
  missChange: number;
  /** A call fails with 503. */
  refuse: number;
  /** A connection breaks after the call was received. */
  cut: number;
  /** A call is never answered. */
  hang: number;
  /** Nothing listens where a call goes. */
  down: number;
  /** A worker is asked to stop, as with SIGTERM. Its opportunity comes about once a second, as those of the next two. */
  stop: number;
  /** The wall clock of a process jumps. */
  jump: number;
  /** No transaction commits for a while. */
  full: number;
}

export type Failure = keyof FailureRates;

const DESCRIPTIONS: Readonly<Record<Failure, string>> = {
  kill: "a process dies",
  pause: "a process stops for a while",
  fail: "a transaction fails",
  repeat: "a transaction is rolled back and runs again",
  loseAnswer: "a transaction commits, and its answer is lost",
  slow: "an answer takes long",
  missChange: "a process does not learn of a commit",
  refuse: "the receiver answers 503",
  cut: "the connection breaks before the answer",
  hang: "the receiver never answers",
  down: "nothing listens at the receiver",
  stop: "a worker is asked to stop",
  jump: "the clock of a process jumps",
  full: "the disk is full for a while",
};

export const FAILURES = Object.keys(DESCRIPTIONS) as Failure[];

/** The rates of a seed: most seeds have few kinds of failures, so that one kind does not hide another. */
export function drawRates(random: () => number): FailureRates {
  const drawRate = (rate: number, share = 0.5): number =>
    random() < share ? rate * 4 ** (2 * random() - 1) : 0;
  return {
    kill: drawRate(0.004, 0.7),
    pause: drawRate(0.003, 0.35),
    fail: drawRate(0.01, 0.3),
    repeat: drawRate(0.05, 0.3),
    loseAnswer: drawRate(0.01, 0.35),
    slow: drawRate(0.01, 0.35),
    missChange: drawRate(0.2),
    refuse: drawRate(0.1),
    cut: drawRate(0.05),
    hang: drawRate(0.02, 0.3),
    down: drawRate(0.05, 0.3),
    stop: drawRate(0.1, 0.3),
    jump: drawRate(0.1, 0.25),
    full: drawRate(0.05, 0.2),
  };
}

export interface FailurePlan {
  rates: FailureRates;
  /**
   * Draws whether a failure happens now.
   * @param at where, for the story
   * @param weight how many times as drawRate as usual it happens here
   */
  happens(failure: Failure, at: string, weight?: number): boolean;
  /** How many failures have happened. */
  count(): number;
  /** No more failures from now on. */
  end(): void;
}

/**
 * @param without numbers of failures that do not happen, to shorten a story
 * @param log called with each failure that happens
 */
export function failurePlan(
  rates: FailureRates,
  random: () => number,
  without: ReadonlySet<number>,
  log: (line: string) => void,
): FailurePlan {
  let count = 0;
  let ended = false;
  return {
    rates,
    happens(failure, at, weight = 1) {
      if (ended || random() >= rates[failure] * weight) return false;
      count += 1;
      if (without.has(count)) return false;
      log(`failure ${count}: ${DESCRIPTIONS[failure]} (${at})`);
      return true;
    },
    count: () => count,
    end: () => void (ended = true),
  };
}
