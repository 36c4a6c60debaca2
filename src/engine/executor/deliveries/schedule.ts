/** When a failed delivery is attempted again: for about a day, as Standard Webhooks recommends. */
import { DAY, HOUR, SECOND } from "../../../core/clock.ts";

const FIRST_PAUSE_MS = 5 * SECOND;
const FACTOR = 4;
const MAX_PAUSE_MS = 8 * HOUR;
/** Number of attempts. The pauses are 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h, 8 h and 8 h, or up to a quarter shorter. */
export const MAX_ATTEMPTS = 10;
/** How long every attempt may fail before the subscription is paused, in milliseconds. */
export const PAUSE_AFTER_MS = 5 * DAY;
/** Number of pending deliveries at which a subscription that fails is paused. */
export const MAX_PENDING = 10_000;

/**
 * The pause before the next attempt, with jitter, and at least as long as the receiver asks.
 * @param random 0 ≤ random < 1
 * @returns milliseconds; undefined after the last attempt
 */
export function deliveryPause(
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  if (attempts >= MAX_ATTEMPTS) return undefined;
  const pause = Math.min(FIRST_PAUSE_MS * FACTOR ** (attempts - 1), MAX_PAUSE_MS) * (1 - random() / 4);
  return Math.max(pause, Math.min(retryAfterMs ?? 0, DAY));
}
