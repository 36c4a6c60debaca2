/** A run that updates live: the fetched state, merged with its stream of server-sent events. */
import { useDocumentVisibility } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { connection as server, useConnection } from "../api/connection.ts";
import { serverPath } from "../app/base-path.ts";
import { runQuery } from "./queries.ts";
import {
  isSettled,
  mergeLiveUpdates,
  needsRefetch,
  NO_UPDATES,
  type RunEvent,
  applyEvents,
  type LiveUpdates,
} from "./live-updates.ts";

/** `polling`: the event stream was rejected, so the run is fetched at intervals. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "polling";

/** Polling interval without an event stream, in milliseconds. */
const POLL_MS = 3_000;
/** Time during which events are collected before they are applied, in milliseconds. */
const BATCH_MS = 200;
/** Time before a rejected stream is opened again, in milliseconds. The server rejects streams when too many are open. */
const RECONNECT_MS = 30_000;

/** Follows a run until it ends. A hidden tab holds no stream open. */
export function useLiveRun(runId: string) {
  const client = useQueryClient();
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const [updates, setUpdates] = useState<LiveUpdates>(NO_UPDATES);
  const visible = useDocumentVisibility() === "visible";
  const { isReachable } = useConnection();
  const query = useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state }) =>
      connection === "polling" && state.data !== undefined && !isSettled(state.data) && POLL_MS,
  });
  const fetched = query.data;
  const run = useMemo(
    () => (fetched === undefined ? undefined : mergeLiveUpdates(fetched, updates)),
    [fetched, updates],
  );
  const isActive = fetched !== undefined && !isSettled(fetched);

  const addEvents = useEffectEvent((events: readonly RunEvent[]): void => {
    const after = applyEvents(updates, events);
    setUpdates(after);
    const isStale =
      run !== undefined && fetched !== undefined && needsRefetch(run, mergeLiveUpdates(fetched, after));
    const ended = events.some(({ event }) => event === "end");
    if (isStale || ended) void client.invalidateQueries({ queryKey: runQuery(runId).queryKey });
  });

  useEffect(() => {
    // Opens the stream again as soon as the server answers: the browser would wait for some seconds.
    if (!isActive || !visible || !isReachable) return;
    const stop = listen(`/runs/${encodeURIComponent(runId)}/events`, addEvents, (now) => {
      setConnection(now);
      // Polling must not be overlaid by old events.
      if (now === "polling") setUpdates(NO_UPDATES);
    });
    return stop;
  }, [runId, isActive, visible, isReachable]);

  return { query, run, connection: isActive && isReachable ? connection : undefined };
}

/**
 * Listens to an event stream until it ends, and opens it again when it is rejected.
 * @returns a function that closes the stream
 */
function listen(
  url: string,
  onEvents: (events: RunEvent[]) => void,
  onConnection: (connection: ConnectionState) => void,
): () => void {
  let source: EventSource | undefined;
  let buffer: RunEvent[] = [];
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let reconnectTimer: ReturnType<typeof setTimeout> | undefined;

  const deliver = (): void => {
    flushTimer = undefined;
    const events = buffer;
    buffer = [];
    onEvents(events);
  };
  const open = (): void => {
    source = new EventSource(serverPath(url));
    let isOpen = false;
    source.onopen = () => {
      isOpen = true;
      server.reportContact();
      onConnection("live");
    };
    source.onerror = () => {
      // Until now the stream had everything that happened.
      if (isOpen) server.reportContact();
      isOpen = false;
      server.reportFailure();
      // The browser reconnects and resumes, unless the server rejected the stream.
      if (source?.readyState !== EventSource.CLOSED) return onConnection("reconnecting");
      onConnection("polling");
      reconnectTimer = setTimeout(open, RECONNECT_MS);
    };
    for (const event of ["run", "step", "end"] as const) {
      source.addEventListener(event, ({ data }: MessageEvent<string>) => {
        buffer.push({ event, data: JSON.parse(data) });
        flushTimer ??= setTimeout(deliver, BATCH_MS);
        // Otherwise the browser would reconnect once more.
        if (event === "end") source?.close();
      });
    }
  };
  open();
  return () => {
    source?.close();
    clearTimeout(flushTimer);
    clearTimeout(reconnectTimer);
  };
}
