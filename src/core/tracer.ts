/** Where spans go. `src/telemetry` implements it with OpenTelemetry; without that nothing is made. */
import type { TraceContext } from "./trace-context.ts";

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Something that has ended, reported as a whole: what lasts for days belongs to no process. */
export interface FinishedSpan {
  name: string;
  /** `client`: it called another system. */
  kind: "internal" | "client";
  /** The trace, with this span's own id. Sampled: others are not reported. */
  trace: TraceContext;
  /** The span above it; null at the top of a trace. */
  parentId: string | null;
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  attributes: SpanAttributes;
  /** The code that it failed with. */
  error: string | null;
  link?: TraceContext | undefined;
}

/** Something that goes on in this process. */
export interface OpenSpan {
  /** What it hands on: the trace, with its own id. */
  trace: TraceContext;
  /** @param error the code that it failed with; `ours`: whether that is a failure of ours, not the caller's mistake */
  end(attributes: SpanAttributes, error?: { code: string; ours: boolean }): void;
}

export interface Tracer {
  /** Whether spans are made. */
  enabled: boolean;
  /** Whether a caller's trace context is taken in, and handed on to what steps call. */
  propagates: boolean;
  /** Begins a span; without a parent at the top of a new trace. */
  startSpan(
    name: string,
    kind: "server" | "internal",
    parent: TraceContext | undefined,
    attributes: SpanAttributes,
  ): OpenSpan | undefined;
  /** Whether a trace that begins with a span of this name is recorded: decided once, by who begins it. */
  shouldSample(traceId: string, name: string): boolean;
  recordSpan(span: FinishedSpan): void;
  /**
   * Sends what is left, for 2 s at most.
   * @returns whether it is all sent, so that nothing keeps the process
   */
  close(): Promise<boolean>;
}

/** How traces are set up, by the standard variables. */
export interface TracingSettings {
  /** Whether spans are made and exported. */
  enabled: boolean;
  propagates: boolean;
}

/** Makes no spans; a caller's trace context is passed through unless that was turned off. */
export const noTracer = (propagates = true): Tracer => ({
  enabled: false,
  propagates,
  startSpan: () => undefined,
  shouldSample: () => false,
  recordSpan: () => {},
  close: () => Promise.resolve(true),
});
