/** Spans of requests, the same for all surfaces. */
import { parseTrace } from "../core/trace-context.ts";
import type { OpenSpan, SpanAttributes, Tracer } from "../core/tracer.ts";
import type { Call } from "./invoke.ts";

/**
 * Starts the span of a request, in the caller's trace or a new one, and sets `call.trace`.
 * @returns the span; undefined when tracing is off
 */
export function startRequestSpan(tracer: Tracer, operation: string, call: Call): OpenSpan | undefined {
  const { incomingTrace, actor, requestId } = call;
  const parent =
    incomingTrace !== undefined && tracer.propagates
      ? parseTrace(incomingTrace.traceparent, incomingTrace.tracestate)
      : undefined;
  const { surface } = actor.client;
  const span = tracer.startSpan(operation, surface === "cli" ? "internal" : "server", parent, {
    ...call.attributes,
    "millrace.surface": surface,
    "millrace.request_id": requestId,
  });
  call.trace = span === undefined ? parent : span.trace;
  return span;
}

/** Ends the span of a request, with the HTTP status on surfaces that have one. */
export function endRequestSpan(
  span: OpenSpan | undefined,
  call: Call,
  status: number,
  error?: { code: string },
): void {
  const attributes: SpanAttributes = call.status === undefined ? {} : { "http.response.status_code": status };
  span?.end(attributes, error && { code: error.code, ours: status >= 500 });
}
