/** Continues to read from a server that is unavailable for some time: it restarts, or the network is interrupted. */
import { setTimeout as delay } from "node:timers/promises";
import { MillraceError } from "../../../packages/client/src/index.ts";
import { MINUTE, SECOND } from "../../core/clock.ts";

/** How long a command waits for an answer that it can use, in milliseconds. */
const MAX_OUTAGE_MS = 10 * MINUTE;
/** The pause after the first failure, in milliseconds. It doubles. */
const FIRST_PAUSE_MS = SECOND / 2;
/** The longest pause unless the server asks for a longer one, in milliseconds. */
const MAX_PAUSE_MS = 8 * SECOND;
/** Too many requests, and what proxies and servers answer that are starting, stopping or busy. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface ReadingOptions {
  /** Ends the attempts. */
  stop: AbortSignal;
  /** Is called before the first pause. */
  onOutage?: (error: Error) => void;
  /** The time in milliseconds. */
  now?: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Reads until there is an answer.
 * @throws the error of the last attempt: one that is not temporary, after 10 minutes, or when `stop` is aborted
 */
export async function continueReading<T>(
  read: () => Promise<T>,
  {
    stop,
    onOutage = () => {},
    now = () => performance.now(),
    pause = (ms, signal) => delay(ms, undefined, { signal }),
  }: ReadingOptions,
): Promise<T> {
  let since: number | undefined;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, MAX_PAUSE_MS)) {
    try {
      return await read();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      if (since === undefined) onOutage(error);
      since ??= now();
      const rest = since + MAX_OUTAGE_MS - now();
      if (rest <= 0 || stop.aborted) throw error;
      const asked = (error.cause.retryAfter ?? 0) * SECOND;
      await pause(Math.min(Math.max(wait, asked), rest), stop).catch(() => undefined);
      if (stop.aborted) throw error;
    }
  }
}

const isTemporary = (error: unknown): error is Error & { cause: MillraceError } => {
  const { cause } = error as Error;
  return cause instanceof MillraceError && (cause.code === "unreachable" || TEMPORARY.has(cause.status));
};
