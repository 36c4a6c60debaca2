/** The current time as React state, so that texts such as "3 minutes ago" stay up to date. */
import { useSyncExternalStore } from "react";

const UPDATE_INTERVAL_MS = 10_000;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, UPDATE_INTERVAL_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** @returns the current time in milliseconds since 1970, at most ten seconds old */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
