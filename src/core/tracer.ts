/** The port for traces. `src/telemetry` implements it with OpenTelemetry; by default no spans are recorded. */
import type { TraceContext } from "./trace-context.ts";

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A span that is reported as a whole after its end, because no single process runs through all of it. */
export interface FinishedSpan {
  name: string;
  /** `client`: a call of another system. */
  kind: "internal" | "client";
  /** The trace, with this span's own id. It must be sampled. */
  trace: TraceContext;
  /** The id of the parent span; null for a root span. */
  parentId: string | null;
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  attributes: SpanAttributes;
  /** The error code, or null when it succeeded. */
  error: string | null;
  link?: TraceContext | undefined;
}

/** A span that is in progress in this process. */
export interface OpenSpan {
  /** The trace context for child spans: the trace, with this span's own id. */
  trace: TraceContext;
  /** @param error the error code; `ours` is true for a failure of the server, and false for the caller's mistake */
  end(attributes: SpanAttributes, error?: { code: string; ours: boolean }): void;
}

export interface Tracer {
  /** Whether spans are recorded. */
  enabled: boolean;
  /** Whether a caller's trace context is accepted, and sent to the systems that steps call. */
  propagates: boolean;
  /** Starts a span; without a parent it is the root span of a new trace. */
  startSpan(
    name: string,
    kind: "server" | "internal",
    parent: TraceContext | undefined,
    attributes: SpanAttributes,
  ): OpenSpan | undefined;
  /** Whether to record a trace whose root span has this name. The process that starts the trace decides once. */
  shouldSample(traceId: string, name: string): boolean;
  recordSpan(span: FinishedSpan): void;
  /**
   * Exports the remaining spans, within 2 s.
   * @returns whether all are exported, so that nothing keeps the process running
   */
  close(): Promise<boolean>;
}

/** The settings from OpenTelemetry's standard variables. */
export interface TracingSettings {
  /** Whether spans are recorded and exported. */
  enabled: boolean;
  propagates: boolean;
  /** The URL of the proxy that exports go through, with its credentials. */
  proxyUrl?: string | undefined;
}

/** Records no spans; it passes a caller's trace context through unless `propagates` is false. */
export const noTracer = (propagates = true): Tracer => ({
  enabled: false,
  propagates,
  startSpan: () => undefined,
  shouldSample: () => false,
  recordSpan: () => {},
  close: () => Promise.resolve(true),
});
