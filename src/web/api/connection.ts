/** The connection to the server: the only source of whether it can be reached. Queries pause while it can't. */
import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { serverPath } from "../app/base-path.ts";
import { createConnectionMonitor } from "./connection-monitor.ts";

/** Maximum time that a probe waits for an answer, in milliseconds. */
const PROBE_TIMEOUT_MS = 5_000;

/** What a proxy answers when the server behind it can't be reached. */
export const PROXY_FAILURES: ReadonlySet<number> = new Set([502, 503, 504]);

export const connection = createConnectionMonitor({
  probe: async () => {
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const { status } = await fetch(serverPath("/health"), { cache: "no-store", signal });
      return !PROXY_FAILURES.has(status);
    } catch {
      return false;
    }
  },
  isVisible: () => document.visibilityState === "visible",
});

/** Connects the monitor with the browser and with TanStack Query. Called once, at the start. */
export function startConnectionMonitor(): void {
  onlineManager.setEventListener((setOnline) =>
    connection.subscribe(() => setOnline(connection.getState().status !== "unreachable")),
  );
  document.addEventListener("visibilitychange", connection.check);
  addEventListener("online", connection.check);
  // A server on the same machine or network can still be reached, so it is asked.
  addEventListener("offline", connection.reportFailure);
}

interface Connection {
  isReachable: boolean;
  /** A request has failed, and the answer of the server is awaited. */
  isSuspected: boolean;
  /** If the server can't be reached: when it answered last, in milliseconds since 1970. */
  lastContact: number;
}

export function useConnection(): Connection {
  const { status, lastContact } = useSyncExternalStore(connection.subscribe, connection.getState);
  return { isReachable: status !== "unreachable", isSuspected: status === "suspected", lastContact };
}
