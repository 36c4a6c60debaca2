/** Logs similar messages once a minute. */
import { MINUTE } from "./clock.ts";

/** Minimum time between two similar messages. */
const INTERVAL_MS = MINUTE;
/** Maximum number of messages to remember. */
const MAX_MESSAGES = 20;
/** Maximum length of a message, in characters. */
const MAX_LENGTH = 300;

/**
 * Logs a message unless a similar one, which differs only in numbers, was logged within the last minute. The next one then
 * says how many were left out. A trace collector that is down, for example, fails every batch.
 * @param now a monotonic clock, in milliseconds
 */
export function throttledLogger(
  log: (line: { repeated?: number }, message: string) => void,
  now: () => number = () => performance.now(),
): (message: string) => void {
  const logged = new Map<string, { at: number; repeated: number }>();
  return (text) => {
    const message = text.slice(0, MAX_LENGTH);
    const kind = message.replace(/\d+/g, "0");
    const previous = logged.get(kind);
    if (previous !== undefined && now() - previous.at < INTERVAL_MS) {
      previous.repeated += 1;
      return;
    }
    if (previous === undefined && logged.size >= MAX_MESSAGES) logged.delete(logged.keys().next().value!);
    logged.set(kind, { at: now(), repeated: 0 });
    log(previous === undefined || previous.repeated === 0 ? {} : { repeated: previous.repeated }, message);
  };
}
