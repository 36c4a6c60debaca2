/**
 * Whether the server answers. Requests that fail report it; /health is asked until it answers again. Meanwhile queries pause and
 * pages keep what they have (TanStack Query's onlineManager).
 */

/** Interval of probes while the server does not answer, in milliseconds. */
const PROBE_INTERVAL_MS = 3_000;
/** How long a probe waits for an answer, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

export interface ConnectionState {
  /** When the server answered last before it could not be reached (milliseconds since 1970); null while it answers. */
  lostSince: number | null;
}

export interface Connection {
  getState(): ConnectionState;
  /** @returns a function that removes the listener */
  subscribe(listener: () => void): () => void;
  reportAnswer(): void;
  /** Asks the server whether it answers, also while it is not lost. @returns whether it does */
  probe(): Promise<boolean>;
  /** Resolves at once while the server answers, else as soon as it does. */
  untilBack(): Promise<void>;
}

export interface ConnectionEnvironment {
  /** Asks /health. @returns whether there was an answer of Millrace */
  ask(signal: AbortSignal): Promise<boolean>;
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  /** Called when the connection is lost, and when it is back. */
  onChange(isOnline: boolean): void;
}

export function createConnection({
  ask,
  now,
  setTimeout: later,
  onChange,
}: ConnectionEnvironment): Connection {
  const listeners = new Set<() => void>();
  let state: ConnectionState = { lostSince: null };
  let lastAnswerAt = now();
  let asking: Promise<boolean> | undefined;

  function change(lostSince: number | null): void {
    state = { lostSince };
    onChange(lostSince === null);
    for (const listener of listeners) listener();
  }

  function reportAnswer(): void {
    lastAnswerAt = now();
    if (state.lostSince !== null) change(null);
  }

  async function askOnce(): Promise<boolean> {
    const answers = await ask(AbortSignal.timeout(PROBE_TIMEOUT_MS)).catch(() => false);
    if (answers) reportAnswer();
    else {
      if (state.lostSince === null) change(lastAnswerAt);
      later(() => void probe(), PROBE_INTERVAL_MS);
    }
    return answers;
  }

  /** Concurrent calls share one request. */
  function probe(): Promise<boolean> {
    asking ??= askOnce().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return {
    getState: () => state,
    subscribe,
    reportAnswer,
    probe,
    async untilBack() {
      if (state.lostSince === null) return;
      await new Promise<void>((resolve) => {
        const unsubscribe = subscribe(() => {
          if (state.lostSince !== null) return;
          unsubscribe();
          resolve();
        });
      });
    },
  };
}

/** Asks /health: an error of Millrace is an answer too, one of a proxy is none. */
export async function askHealth(signal: AbortSignal): Promise<boolean> {
  const response = await fetch("/health", { signal, cache: "no-store" });
  return response.ok || response.headers.get("Content-Type")?.includes("json") === true;
}
