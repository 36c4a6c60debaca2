/** The `fetch` of MCP connections: it limits responses, and reports a broken stream to the request that waits for it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { FetchLike } from "@modelcontextprotocol/client";
import { fetch as undiciFetch, type RequestInit as UndiciInit } from "undici";
import { limitResponse } from "../../core/bounded-fetch.ts";
import { outgoingAgent } from "../../core/outgoing-agent.ts";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import type { StepError } from "../../core/step-errors.ts";
import type { TraceHeaders } from "../../core/trace-context.ts";
import { describeFailure } from "../failure-text.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import { outputTooLarge, type Refusal, serverUnavailable } from "./errors.ts";
import { exactResponse } from "./exact-messages.ts";
import { notAMessage, type RequestId } from "./repair-message.ts";
import { isObject } from "./repair-tools.ts";

/** A request that waits for its response. */
export interface PendingRequest {
  fail(error: StepError): void;
  /** Set after its last stream has ended, while the SDK may still process the response. */
  graceTimer?: NodeJS.Timeout;
  /** Trace headers of the request. */
  trace: TraceHeaders;
  /** The last response with a status outside of 2xx, of which the SDK's error has only the status. */
  refusal?: Refusal;
}

/** The request that is being sent. The SDK does not report a broken stream to the request that it belongs to. */
export const pendingRequest = new AsyncLocalStorage<PendingRequest>();

/** Time for the SDK to process what came before the end of a stream, in milliseconds. */
const GRACE_MS = 1_000;

interface BoundedFetchOptions {
  proxies: OutgoingProxies;
  /** The current time in milliseconds, for a `Retry-After` with a date. */
  now(): number;
  /** Maximum size of a response, or of one event of a stream, in bytes. */
  maxBytes: number;
  /** Whether responses come in the stream of a GET request, so that its end loses them (SSE transport). */
  responsesOnGetStream: boolean;
  /** Called when such a stream ended, or when a stream without a pending request exceeded the limit. */
  onResponseLost(error: StepError): void;
}

/** @param server name of the server, for messages */
export function createBoundedFetch(
  server: string,
  { proxies, now, maxBytes, responsesOnGetStream, onResponseLost }: BoundedFetchOptions,
): { fetch: FetchLike; close(): Promise<void> } {
  // A tool may take longer than undici's own time limits; the timeout of the step ends the request.
  const agent = outgoingAgent(proxies, { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
  const bounded: FetchLike = async (url, init) => {
    const caller = init?.method === "POST" ? pendingRequest.getStore() : undefined;
    clearTimeout(caller?.graceTimer);
    const sent = { ...Object.fromEntries(new Headers(init?.headers)), ...caller?.trace };
    const response = await undiciFetch(url, {
      ...(init as UndiciInit | undefined),
      headers: sent,
      dispatcher: agent,
    });
    const tooLarge = (): StepError => {
      const error = outputTooLarge(server, maxBytes);
      if (caller === undefined) onResponseLost(error);
      else caller.fail(error);
      return error;
    };
    const requestId = init?.method === "POST" ? requestIdOf(init.body) : undefined;
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      const limited = limitResponse(response, { maxBytes, tooLarge });
      if (!response.ok) return refused(limited, caller, now());
      // The responses of this transport come in a stream of its own.
      if (requestId === undefined || responsesOnGetStream) return exactResponse(limited);
      return asMessage(limited, requestId);
    }
    const events = eventCounter();
    const onEnd = (): void => {
      // The SDK resumes a stream with event ids.
      if (caller !== undefined && !events.resumable) failSoon(caller);
      if (init?.method !== "POST" && responsesOnGetStream)
        onResponseLost(serverUnavailable(server, "ended the stream of its responses"));
    };
    return exactResponse(
      limitResponse(response, { maxBytes, tooLarge, count: events.add, onEnd }),
      requestId,
    );
  };

  const failSoon = (caller: PendingRequest): void => {
    const failure = serverUnavailable(server, "closed the connection before it answered");
    caller.graceTimer = setTimeout(() => caller.fail(failure), GRACE_MS).unref();
  };
  return { fetch: bounded, close: () => agent.destroy() };
}

/** The id of the request in a body; undefined for a notification. */
function requestIdOf(body: unknown): RequestId | undefined {
  const message: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
  return isObject(message) && typeof message["method"] === "string"
    ? (message["id"] as RequestId)
    : undefined;
}

/** Notes what a response with a status outside of 2xx says, and returns it again. */
async function refused(
  response: Response,
  caller: PendingRequest | undefined,
  now: number,
): Promise<Response> {
  const { status, statusText, headers } = response;
  if (caller === undefined) return response;
  const text = await response.text();
  const waitMs = retryAfterMs(Object.fromEntries(headers), now);
  caller.refusal = { status, said: describeFailure(text), waitMs };
  return new Response(text === "" ? null : text, { status, statusText, headers });
}

/**
 * Makes the response to a request a message, whatever it is: the SDK would wait for another one after status 202, and not say what a
 * page or an empty response is.
 */
async function asMessage(response: Response, requestId: RequestId): Promise<Response> {
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  const isJson = /[/+]json\b/i.test(response.headers.get("content-type") ?? "");
  if (isJson && response.status !== 204)
    return exactResponse(new Response(response.body, { status: 200, headers }), requestId);
  const found = describeFailure(await response.text());
  const message = notAMessage(requestId, found || `an empty response with HTTP ${response.status}`);
  return new Response(JSON.stringify(message), { status: 200, headers });
}

interface EventCounter {
  /** @returns the size of the largest event that the chunk belongs to, in bytes so far */
  add(chunk: Uint8Array): number;
  /** Whether the events have ids. */
  resumable: boolean;
}

/** Counts from the end of the last event: the size of an event is limited, that of the stream is not. */
function eventCounter(): EventCounter {
  let held = 0;
  const counter: EventCounter = {
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
