/** The `fetch` of MCP connections: what it reads is bounded, and an answer that breaks off reaches who waits for it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from "undici";
import type { StepError } from "../../core/step-errors.ts";
import type { TraceHeaders } from "../../core/trace-context.ts";
import { outputTooLarge, serverUnavailable } from "./errors.ts";

/** Who waits for an answer. */
export interface PendingRequest {
  fail(error: StepError): void;
  /** Set while its last stream has ended and the answer may still be on its way through the SDK. */
  graceTimer?: NodeJS.Timeout;
  /** Sent along with the request. */
  trace: TraceHeaders;
}

/** Who waits for the answer of the request that is being sent: the SDK itself does not tell it of a broken stream. */
export const pendingRequest = new AsyncLocalStorage<PendingRequest>();

/** Time for the SDK to hand over what came before the end of a stream. */
const GRACE_MS = 1_000;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

interface BoundedFetchOptions {
  /** Of one answer, and of one event of a stream. */
  maxBytes: number;
  /** Whether answers come in the stream that a GET opens, so that they are lost when it ends (the SSE transport). */
  responsesOnGetStream: boolean;
  /** Called when such a stream ended, or any that nobody waits for held too much. */
  onResponseLost(error: StepError): void;
}

/** @param server its name, for messages */
export function createBoundedFetch(
  server: string,
  { maxBytes, responsesOnGetStream, onResponseLost }: BoundedFetchOptions,
): { fetch: FetchLike; close(): Promise<void> } {
  // A tool may think for longer than undici would wait; the step's own time-out ends it.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 });
  const bounded: FetchLike = async (url, init) => {
    const caller = init?.method === "POST" ? pendingRequest.getStore() : undefined;
    clearTimeout(caller?.graceTimer);
    const sent = { ...Object.fromEntries(new Headers(init?.headers)), ...caller?.trace };
    const response = await undiciFetch(url, {
      ...(init as UndiciInit | undefined),
      headers: sent,
      dispatcher: agent,
    });
    const { status, statusText } = response;
    const headers = new Headers([...response.headers]);
    if (response.body === null || WITHOUT_BODY.has(status))
      return new Response(null, { status, statusText, headers });
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const count = isStream ? eventCounter() : byteCounter();
    const guard = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (count.add(chunk) > maxBytes) {
          const error = outputTooLarge(server, maxBytes);
          if (caller === undefined) onResponseLost(error);
          else caller.fail(error);
          throw error;
        }
        controller.enqueue(chunk);
      },
    });
    const body = response.body as unknown as ReadableStream<Uint8Array>;
    const ended = body.pipeTo(guard.writable).catch(() => undefined);
    if (isStream && caller !== undefined) void ended.then(() => giveUpSoon(caller, count.resumable));
    if (isStream && init?.method !== "POST" && responsesOnGetStream)
      void ended.then(() => onResponseLost(serverUnavailable(server, "ended the stream of its answers")));
    return new Response(guard.readable, { status, statusText, headers });
  };

  const giveUpSoon = (caller: PendingRequest, resumable: boolean): void => {
    // A stream with event ids is taken up again by the SDK.
    if (resumable) return;
    const failure = serverUnavailable(server, "broke off before it answered");
    caller.graceTimer = setTimeout(() => caller.fail(failure), GRACE_MS).unref();
  };
  return { fetch: bounded, close: () => agent.destroy() };
}

interface Counter {
  /** @returns how many bytes belong together so far */
  add(chunk: Uint8Array): number;
  resumable: boolean;
}

function byteCounter(): Counter {
  let held = 0;
  return { add: (chunk) => (held += chunk.byteLength), resumable: false };
}

/** Counts from the end of the last event: a stream may go on for as long as it likes, one event may not. */
function eventCounter(): Counter {
  let held = 0;
  const counter: Counter = {
    resumable: false,
    add(chunk) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
      counter.resumable ||= /^id:/m.test(text);
      const first = text.search(BLANK_LINE);
      const largest = held + (first === -1 ? text.length : first);
      const last = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"), text.lastIndexOf("\r\r"));
      held = last === -1 ? largest : text.length - last;
      return largest;
    },
  };
  return counter;
}

const BLANK_LINE = /\r?\n\r?\n|\r\r/;
