/** A request in the trace of its caller: one rule, whichever surface it came by. */
import { parseTrace } from "../core/trace-context.ts";
import type { OpenSpan, SpanAttributes, Tracer } from "../core/tracer.ts";
import type { Call } from "./invoke.ts";

/**
 * Joins a request to the trace that its caller names, or begins one; `call.trace` says what it hands on.
 * @returns its span, to be ended; undefined where no traces are made
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

/** Ends it with the status of its answer, where its surface has one. */
export function endRequestSpan(
  span: OpenSpan | undefined,
  call: Call,
  status: number,
  error?: { code: string },
): void {
  const answered: SpanAttributes = call.status === undefined ? {} : { "http.response.status_code": status };
  span?.end(answered, error && { code: error.code, ours: status >= 500 });
}
