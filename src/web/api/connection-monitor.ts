/** Tracks whether the server can be reached. After a failed request it asks the server until there is an answer. */

/** `suspected`: a request has failed, and whether the server answers is being asked. */
type ConnectionStatus = "reachable" | "suspected" | "unreachable";

interface ConnectionState {
  status: ConnectionStatus;
  /** When the server answered last before its status changed, in milliseconds since 1970. */
  lastContact: number;
}

export interface ConnectionMonitor {
  getState: () => ConnectionState;
  subscribe: (listener: () => void) => () => void;
  /** Records that the server has answered. */
  reportContact: () => void;
  /** Records that a request found no server. */
  reportFailure: () => void;
  /** Asks the server now, unless it is being asked already or is known to answer. */
  check: () => void;
}

interface MonitorOptions {
  /** Whether the server answers. It never rejects. */
  probe: () => Promise<boolean>;
  /** Nothing is asked for a hidden tab. */
  isVisible: () => boolean;
}

/** Times between two probes, in milliseconds; the last one repeats. */
const PROBE_DELAYS_MS = [2_000, 3_000, 5_000];

export function createConnectionMonitor({ probe, isVisible }: MonitorOptions): ConnectionMonitor {
  let lastContact = Date.now();
  let state: ConnectionState = { status: "reachable", lastContact };
  let isAsking = false;
  let failedProbes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();

  const setStatus = (status: ConnectionStatus): void => {
    if (state.status === status) return;
    state = { status, lastContact };
    for (const notify of listeners) notify();
  };
  const reportContact = (): void => {
    clearTimeout(timer);
    lastContact = Date.now();
    failedProbes = 0;
    setStatus("reachable");
  };
  const ask = async (): Promise<void> => {
    if (isAsking) return;
    clearTimeout(timer);
    isAsking = true;
    const isUp = await probe();
    isAsking = false;
    // Another request may have had an answer meanwhile.
    if (state.status === "reachable") return;
    if (isUp) return reportContact();
    setStatus("unreachable");
    const delay = PROBE_DELAYS_MS[Math.min(failedProbes, PROBE_DELAYS_MS.length - 1)];
    failedProbes += 1;
    timer = setTimeout(() => {
      if (isVisible()) void ask();
    }, delay);
  };
  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reportContact,
    reportFailure: () => {
      if (state.status !== "reachable") return;
      setStatus("suspected");
      void ask();
    },
    check: () => {
      if (state.status !== "reachable") void ask();
    },
  };
}
