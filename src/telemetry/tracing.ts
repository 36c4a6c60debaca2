/**
 * Traces by OpenTelemetry, sent as OTLP over http/protobuf. Loaded only where they are on. The SDK itself reads the
 * process's OTEL_* variables (endpoint, headers, sampler, batches, resource): whoever sets them expects all of the
 * specification, and it knows all of it. What we decide by them stands in src/config/tracing.ts.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  createTraceState,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
} from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { SECOND } from "../core/clock.ts";
import { toTraceFlags, isSampled, type TraceContext } from "../core/trace-context.ts";
import type { Tracer, TracingSettings } from "../core/tracer.ts";
import { throttledLogger } from "./throttled-logger.ts";

/** As long as the end of the process waits for what is left. */
const FLUSH_MS = 2 * SECOND;
/** "The trace id is random" is passed on as it came. */
const RANDOM_FLAG = 2;
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

/** @param process which of ours it is (`serve`, `worker` …); it stands with every span */
export function otlpTracer(
  { propagates }: TracingSettings,
  { version, process, log }: { version: string; process: string; log: Pick<Logger, "warn"> },
): Tracer {
  const report = throttledLogger((line, message) => log.warn(line, message));
  const warn = (message: string): void => report(`traces: ${message}`);
  diag.setLogger(
    { error: warn, warn, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  // Its own handler would write the whole error, with a stack, for every batch.
  setGlobalErrorHandler((error) =>
    warn(`spans could not be sent, and are dropped: ${typeof error === "string" ? error : error.message}`),
  );

  const given = idGenerator();
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  const common = {
    spanProcessors: [processor],
    idGenerator: given,
    resource: resourceFromAttributes({
      "service.name": "millrace",
      "service.version": version,
      "millrace.process": process,
    }).merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
  };
  // The sampler is asked where a trace begins or comes in; what belongs to a run was decided then.
  const asking = new BasicTracerProvider(common).getTracer("millrace", version);
  const decided = new BasicTracerProvider({ ...common, sampler: new AlwaysOnSampler() }).getTracer(
    "millrace",
    version,
  );

  return {
    enabled: true,
    propagates,

    startSpan(name, kind, parent, attributes) {
      const span = asking.startSpan(name, { kind: KINDS[kind], attributes }, below(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      const random = (parent?.flags ?? 0) & RANDOM_FLAG;
      return {
        trace: { traceId, spanId, flags: traceFlags | random, state: parent?.state ?? "" },
        end(more, error) {
          span.setAttributes(more);
          if (error !== undefined) fail(span, error.code, error.ours);
          span.end();
        },
      };
    },

    shouldSample(traceId, name) {
      const span = given.as({ traceId }, () => asking.startSpan(name, { root: true }));
      return (span.spanContext().traceFlags & toTraceFlags(true)) !== 0;
    },

    recordSpan({ name, kind, trace: own, parentId, start, end, attributes, error, link }) {
      if (!isSampled(own)) return;
      const parent = parentId === null ? undefined : { ...own, spanId: parentId };
      const options = {
        kind: KINDS[kind],
        attributes,
        // A number may stand for a reading of the process's own clock as well.
        startTime: new Date(start),
        ...(link !== undefined && { links: [{ context: spanContextOf(link) }] }),
      };
      const span = given.as(own, () => decided.startSpan(name, options, below(parent)));
      if (error !== null) fail(span, error, true);
      // The two may have been read from two clocks; the SDK would complain of it.
      span.end(new Date(Math.max(start, end)));
    },

    async close() {
      const late = new AbortController();
      const sent = processor.shutdown().then(
        () => true,
        () => true,
      );
      const tooLate = delay(FLUSH_MS, false, { signal: late.signal }).catch(() => false);
      return Promise.race([sent, tooLate]).finally(() => late.abort());
    },
  };
}

/** Random ids, but for what is begun within `as`. */
function idGenerator() {
  const random = new RandomIdGenerator();
  let wanted: Partial<Pick<TraceContext, "traceId" | "spanId">> = {};
  return {
    generateTraceId: () => wanted.traceId ?? random.generateTraceId(),
    generateSpanId: () => wanted.spanId ?? random.generateSpanId(),
    as<T>(ids: typeof wanted, begin: () => T): T {
      wanted = ids;
      try {
        return begin();
      } finally {
        wanted = {};
      }
    },
  };
}

const below = (parent: TraceContext | undefined) =>
  parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));

const spanContextOf = ({ traceId, spanId, flags, state }: TraceContext): SpanContext => ({
  traceId,
  spanId,
  traceFlags: flags,
  isRemote: true,
  ...(state !== "" && { traceState: createTraceState(state) }),
});

/** @param ours what is the caller's mistake leaves a server's span unset, as the conventions for HTTP have it */
function fail(span: Span, code: string, ours: boolean): void {
  span.setAttribute("error.type", code);
  if (ours) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}
