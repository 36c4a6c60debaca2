/** The events of a run, and waiting for its end. */
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { MillraceError } from "./error.ts";
import { type ClientOptions, fetchResponse, pauseFor, readResponse } from "./send.ts";

/** Pause before an interrupted stream is continued, in milliseconds. */
const RECONNECT_MS = 500;

/** A change of a run: its state, the state of a step, or its end. */
export interface RunEvent {
  event: "run" | "step" | "end";
  data: Record<string, unknown>;
}

/**
 * Yields the changes of a run until it has ended. An interrupted stream is continued.
 * @throws MillraceError when the run does not exist or may not be read; the reason of the signal when it is aborted
 */
export async function* runEvents(
  client: ClientOptions,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<RunEvent> {
  for (let lastId: string | undefined; ;) {
    try {
      const response = await fetchResponse(client, "get", "/runs/{run_id}/events", {
        path: { run_id: runId },
        header: { Accept: "text/event-stream", ...(lastId !== undefined && { "Last-Event-ID": lastId }) },
        signal,
      });
      // The run has ended, and its last event was received before.
      if (response.status === 204 || response.body === null) return;
      for await (const { id, ...event } of parseEvents(response.body)) {
        lastId = id ?? lastId;
        yield event;
        if (event.event === "end") return;
      }
    } catch (error) {
      if (signal?.aborted === true || isPermanent(error)) throw error;
    }
    await pauseFor(RECONNECT_MS, signal);
  }
}

const isPermanent = (error: unknown): boolean =>
  error instanceof MillraceError && error.status >= 300 && error.status < 500 && error.status !== 429;

/** @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
async function* parseEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<RunEvent & { id: string | undefined }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(
          block.split("\n").flatMap((line) => {
            const [, name, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
            return name === undefined ? [] : [[name, text!] as const];
          }),
        );
        const data = fields.get("data");
        // A comment that keeps the connection alive, or the interval of reconnections.
        if (data === undefined) continue;
        yield {
          id: fields.get("id"),
          event: fields.get("event") as RunEvent["event"],
          data: JSON.parse(data) as Record<string, unknown>,
        };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Waits until a run has ended, and returns it. */
export async function waitForRun(
  client: ClientOptions,
  runId: string,
  signal?: AbortSignal,
): Promise<Schemas.Run> {
  // Each event is read until the last one.
  for await (const { event } of runEvents(client, runId, signal)) if (event === "end") break;
  const response = await fetchResponse(client, "get", "/runs/{run_id}", { path: { run_id: runId }, signal });
  return (await readResponse<Schemas.Run>(response)).data;
}
