/** A run as it goes on: what was fetched, and what its stream of server-sent events tells since. */
import { useDocumentVisibility } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { runQuery } from "./queries.ts";
import {
  hasEnded,
  mergeLiveUpdates,
  needsRefetch,
  NO_UPDATES,
  type RunEvent,
  applyEvents,
  type LiveUpdates,
} from "./live-updates.ts";

/** How the page hears of changes. `asking`: the stream was refused, so it asks now and then. */
export type ConnectionState = "connecting" | "live" | "reconnecting" | "asking";

const ASK_EVERY_MS = 3_000;
/** Events that come close together are shown together. */
const TOGETHER_MS = 200;
/** A stream that was refused (too many are open) is tried again after so long. */
const TRY_AGAIN_MS = 30_000;

/** The run, for as long as it goes on. Nothing is held open for a tab that nobody looks at. */
export function useLiveRun(runId: string) {
  const client = useQueryClient();
  const [link, setLink] = useState<ConnectionState>("connecting");
  const [told, setTold] = useState<LiveUpdates>(NO_UPDATES);
  const visible = useDocumentVisibility() === "visible";
  const query = useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state }) =>
      link === "asking" && state.data !== undefined && !hasEnded(state.data) && ASK_EVERY_MS,
  });
  const fetched = query.data;
  const run = useMemo(
    () => (fetched === undefined ? undefined : mergeLiveUpdates(fetched, told)),
    [fetched, told],
  );
  const goesOn = fetched !== undefined && !hasEnded(fetched);

  const take = useEffectEvent((events: readonly RunEvent[]): void => {
    const after = applyEvents(told, events);
    setTold(after);
    const moved =
      run !== undefined && fetched !== undefined && needsRefetch(run, mergeLiveUpdates(fetched, after));
    const ended = events.some(({ event }) => event === "end");
    if (moved || ended) void client.invalidateQueries({ queryKey: runQuery(runId).queryKey });
  });

  useEffect(() => {
    if (!goesOn || !visible) return;
    const stop = listen(`/runs/${encodeURIComponent(runId)}/events`, take, (now) => {
      setLink(now);
      // What was told is not told on: asking must not be overlaid by it.
      if (now === "asking") setTold(NO_UPDATES);
    });
    return stop;
  }, [runId, goesOn, visible]);

  return { query, run, link: goesOn ? link : undefined };
}

/**
 * Listens to a stream of events until it has ended, and tries again when it is refused.
 * @returns a function that ends it
 */
function listen(
  url: string,
  take: (events: RunEvent[]) => void,
  onLink: (link: ConnectionState) => void,
): () => void {
  let source: EventSource | undefined;
  let waiting: RunEvent[] = [];
  let flush: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;

  const deliver = (): void => {
    flush = undefined;
    const events = waiting;
    waiting = [];
    take(events);
  };
  const open = (): void => {
    source = new EventSource(url);
    source.onopen = () => onLink("live");
    source.onerror = () => {
      // It comes back by itself, and goes on where it was, unless the server refused.
      if (source?.readyState !== EventSource.CLOSED) return onLink("reconnecting");
      onLink("asking");
      again = setTimeout(open, TRY_AGAIN_MS);
    };
    for (const event of ["run", "step", "end"] as const) {
      source.addEventListener(event, ({ data }: MessageEvent<string>) => {
        waiting.push({ event, data: JSON.parse(data) });
        flush ??= setTimeout(deliver, TOGETHER_MS);
        // Else it would come back once to be told that there is no more.
        if (event === "end") source?.close();
      });
    }
  };
  open();
  return () => {
    source?.close();
    clearTimeout(flush);
    clearTimeout(again);
  };
}
