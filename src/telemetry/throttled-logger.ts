/** A collector that is away fails every batch: the log hears of it now and then. */
import { MINUTE } from "../core/clock.ts";

const QUIET_MS = MINUTE;
/** As many messages are told apart. */
const MOST_KNOWN = 20;
const LONGEST = 300;

/**
 * Passes a message on unless the like of it, but for its numbers, was within the last minute; then the next one says how
 * many there were.
 * @param now a monotonic clock, in milliseconds
 */
export function throttledLogger(
  tell: (line: { repeated?: number }, message: string) => void,
  now: () => number = () => performance.now(),
): (message: string) => void {
  const known = new Map<string, { at: number; repeated: number }>();
  return (text) => {
    const message = text.slice(0, LONGEST);
    const kind = message.replace(/\d+/g, "0");
    const before = known.get(kind);
    if (before !== undefined && now() - before.at < QUIET_MS) {
      before.repeated += 1;
      return;
    }
    if (before === undefined && known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
    known.set(kind, { at: now(), repeated: 0 });
    tell(before === undefined || before.repeated === 0 ? {} : { repeated: before.repeated }, message);
  };
}
