/** What the starts of all long-lived processes share: they end when they are stopped, and wait for a state that is not usable yet. */
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { SECOND } from "../core/clock.ts";
import { throttledLogger } from "../core/throttled-logger.ts";
import { isTemporaryFailure } from "../store/temporary-failures.ts";
import type { Io } from "./io.ts";

/** Pause before the state is tried again, in milliseconds. */
const RETRY_MS = SECOND;

/** Ends a start, because the process must end. */
class StopRequested extends Error {
  override readonly name = "StopRequested";
}

/** Returns a signal that is aborted when the process must end. Call it first, so that no request to stop is missed. */
export function stopSignal(host: { onStop(stop: () => void): void }): AbortSignal {
  const stopping = new AbortController();
  host.onStop(() => stopping.abort(new StopRequested("The process was stopped.")));
  return stopping.signal;
}

/** Resolves when the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Runs a process to its end. One that is stopped before it is ready ends without an error. */
export async function runService(
  io: Pick<Io, "exitWhenDone">,
  log: Logger,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(originalError(error) instanceof StopRequested)) throw error;
    log.info("stopped before it was ready");
    // It may still wait for a lock.
    io.exitWhenDone?.();
  }
}

/** The error that ended something whose end failed too. */
const originalError = (error: unknown): unknown =>
  error instanceof SuppressedError ? originalError(error.suppressed) : error;

interface OpenOptions<T> {
  signal: AbortSignal;
  log: Logger;
  /** Closes what is opened too late. */
  close?: (opened: T) => Promise<void>;
  /** Waits before the state is tried again; tests do not wait. */
  delay?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown>;
}

/**
 * Opens something that needs the state, and tries again for as long as another process holds its lock, its disk is full, or its server is away.
 * @throws the reason of the signal when it is aborted; any other error of `open`
 */
export async function openWhenUsable<T>(
  open: () => Promise<T>,
  { signal, log, close = async () => {}, delay = setTimeout }: OpenOptions<T>,
): Promise<T> {
  const report = throttledLogger((line, reason) =>
    log.warn({ ...line, reason }, "state not usable yet, trying again"),
  );
  for (let failed = false; ; failed = true) {
    signal.throwIfAborted();
    const opening = open();
    try {
      // Another process that migrates can hold the lock for minutes.
      await Promise.race([opening, aborted(signal)]);
      if (signal.aborted) throw signal.reason;
      const opened = await opening;
      if (failed) log.info("state usable again");
      return opened;
    } catch (error) {
      if (signal.aborted) {
        void opening.then(close).catch(() => {});
        throw signal.reason;
      }
      if (!isTemporaryFailure(originalError(error))) throw error;
      report((originalError(error) as Error).message);
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}
