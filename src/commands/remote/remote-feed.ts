/** A run on a server elsewhere, as a command follows it. */
import { setTimeout as delay } from "node:timers/promises";
import type { Run } from "../../../schemas/run.ts";
import { cancelRun } from "../../../tools/runs/cancel-run.ts";
import { getRun } from "../../../tools/runs/get-run.ts";
import { getRunValue } from "../../../tools/runs/get-run-value.ts";
import { type RunFeed, runContinues } from "../follow-run.ts";
import { CommandError, EXIT, withAdvice } from "../io.ts";
import { continueReading } from "./continue-reading.ts";
import type { RemoteCaller } from "./remote-caller.ts";

/** Maximum size of a page of the output, in characters. */
const PAGE_CHARS = 100_000;

/**
 * Creates a feed that continues while the server is unavailable.
 * @param onOutage is called when that begins
 * @returns the feed, and what ends its stream of events
 */
export function remoteFeed(
  { client, call }: RemoteCaller,
  id: string,
  onOutage: (error: Error) => void,
): { feed: RunFeed; close: () => void } {
  const closed = new AbortController();
  const events = client.runEvents(id, { signal: closed.signal });
  let nextEvent: Promise<void> | undefined;
  const feed: RunFeed = {
    async read(stop) {
      try {
        const read = () => call<Run>(getRun, { run_id: id, detail: "steps", max_chars: PAGE_CHARS });
        return await continueReading(read, { stop, onOutage });
      } catch (error) {
        if (stop.aborted) throw new CommandError(runContinues(id), EXIT.interrupted);
        throw withAdvice(error, runContinues(id));
      }
    },
    async changed(ms, signal) {
      nextEvent ??= events.next().then(
        () => void (nextEvent = undefined),
        // Without events the run is read at intervals.
        () => new Promise<never>(() => {}),
      );
      await Promise.race([nextEvent, delay(ms, undefined, { signal }).catch(() => undefined)]);
    },
    async output({ output, status }) {
      if (status !== "succeeded" || !isCut(output)) return output;
      const pages: string[] = [];
      for (let offset: number | null = 0; offset !== null;) {
        const input = { run_id: id, ref: "output", offset, max_chars: PAGE_CHARS };
        const page: Page = await continueReading(() => call<Page>(getRunValue, input), {
          stop: closed.signal,
          onOutage,
        }).catch((error: unknown) => {
          throw withAdvice(error, `The run ${id} succeeded. Show it with: millrace runs show ${id}`);
        });
        pages.push(page.text);
        offset = page.next_offset;
      }
      return JSON.parse(pages.join("")) as unknown;
    },
    cancel: () => call(cancelRun, { run_id: id }),
    isExecutedHere: () => false,
  };
  return { feed, close: () => closed.abort() };
}

interface Page {
  text: string;
  next_offset: number | null;
}

const isCut = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "truncated" in value && "ref" in value;
