/** A tracer that records spans in memory. */
import { toTraceFlags } from "../../src/core/trace-context.ts";
import type { FinishedSpan, SpanAttributes, Tracer } from "../../src/core/tracer.ts";

/** The span of a request. */
interface RecordedRequest {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  attributes: SpanAttributes;
  error: { code: string; ours: boolean } | undefined;
}

export interface RecordingTracer extends Tracer {
  spans: FinishedSpan[];
  requests: RecordedRequest[];
}

/** @param samples whether to sample traces that begin here */
export function recordingTracer(samples = true): RecordingTracer {
  const spans: FinishedSpan[] = [];
  const requests: RecordedRequest[] = [];
  let made = 0;
  const id = (length: number): string => (made += 1).toString(16).padStart(length, "a");
  return {
    spans,
    requests,
    enabled: true,
    propagates: true,
    shouldSample: () => samples,
    startSpan(name, kind, parent, attributes) {
      const spanId = id(16);
      const { traceId, flags, state } = parent ?? {
        traceId: id(32),
        flags: toTraceFlags(samples),
        state: "",
      };
      return {
        trace: { traceId, spanId, flags, state },
        end: (more, error) =>
          void requests.push({
            name,
            kind,
            traceId,
            spanId,
            parentId: parent?.spanId,
            attributes: { ...attributes, ...more },
            error,
          }),
      };
    },
    recordSpan: (span) => void spans.push(span),
    close: () => Promise.resolve(true),
  };
}
