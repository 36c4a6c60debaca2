/**
 * Shares the event loop between long steps of work and everything else, such as a health check or a short request. The
 * queue belongs to the event loop, of which a thread has one.
 */
import { setImmediate as onNextTurn } from "node:timers";
import { setImmediate, setTimeout } from "node:timers/promises";

/** Size from which one step of the work on a text takes long enough to be a turn of the event loop, in characters. */
const LARGE_CHARS = 64 * 1024;
/** How many times its own duration nothing follows a step while others wait: so they take half of the time at most. */
const PAUSE_FACTOR = 1;

const waiting: (() => void)[] = [];
let isSharing = false;

/**
 * Lets the event loop serve what has arrived. Await it before each long step: of all that wait, one begins in each turn of
 * the event loop, in their order.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (isSharing) return;
    isSharing = true;
    void shareEventLoop();
  });

async function shareEventLoop(): Promise<void> {
  while (waiting.length > 0) {
    // The first one ends before new connections and data are served.
    await setImmediate();
    await setImmediate();
    const startedAt = performance.now();
    waiting.shift()!();
    await setImmediate();
    if (waiting.length > 1) await setTimeout(PAUSE_FACTOR * (performance.now() - startedAt));
  }
  isSharing = false;
}

/** The same, if the work on a text of this length, in characters, takes long. */
export const nextTurnIfLarge = async (chars: number): Promise<void> =>
  chars < LARGE_CHARS ? undefined : nextTurn();

/** Time after which one turn of the event loop begins no further synchronous query, in milliseconds. */
const TURN_BUDGET_MS = 10;

let turnBeganAt: number | undefined;

/**
 * Lets the event loop serve what has arrived, if the present turn has done synchronous work for long. Call it before each query of
 * a database that answers synchronously: its promises are resolved at once, so a loop of awaits would never leave the turn.
 * @param now milliseconds of a monotonic clock
 * @returns undefined when there is nothing to wait for, which costs less than a resolved promise
 */
export function nextTurnIfUsedUp(now = performance.now()): Promise<void> | undefined {
  if (turnBeganAt === undefined) {
    turnBeganAt = now;
    onNextTurn(() => (turnBeganAt = undefined));
  }
  return now - turnBeganAt < TURN_BUDGET_MS ? undefined : setImmediate();
}
