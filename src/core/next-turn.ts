import { setImmediate } from "node:timers/promises";

/** Size from which one step of the work on a text takes long enough to be a turn of the event loop, in characters. */
const LARGE_CHARS = 64 * 1024;

/** Lets the event loop serve what has arrived, such as a health check. Await it between two long steps. */
export async function nextTurn(): Promise<void> {
  // The first one ends before new connections and data are served.
  await setImmediate();
  await setImmediate();
}

/** The same, if the work on a text of this length, in characters, takes long. */
export const nextTurnIfLarge = async (chars: number): Promise<void> =>
  chars < LARGE_CHARS ? undefined : nextTurn();
