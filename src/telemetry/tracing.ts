/**
 * Implements the tracer with OpenTelemetry, exporting OTLP over http/protobuf. It is loaded only when tracing is enabled. The
 * SDK reads the process's OTEL_* variables (endpoint, headers, sampler, batches, resource) itself, because it implements the
 * whole specification. src/config/tracing.ts decides from them whether tracing is enabled.
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
import { throttledLogger } from "../core/throttled-logger.ts";

/** Maximum wait for the export of the remaining spans at the end of the process. */
const FLUSH_MS = 2 * SECOND;
/** The flag for a random trace id, which is passed on unchanged. */
const RANDOM_FLAG = 2;
const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

/** @param process the kind of process (`serve`, `worker` …), an attribute of every span */
export function otlpTracer(
  { propagates, proxyUrl }: TracingSettings,
  { version, process, log }: { version: string; process: string; log: Pick<Logger, "warn"> },
): Tracer {
  const report = throttledLogger((line, message) => log.warn(line, message));
  const warn = (message: string): void => report(`traces: ${message}`);
  diag.setLogger(
    { error: warn, warn, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  // The default handler would log the whole error with its stack for every batch.
  setGlobalErrorHandler((error) =>
    warn(
      `spans were dropped because the export failed: ${typeof error === "string" ? error : error.message}`,
    ),
  );

  const ids = idGenerator();
  const processor = new BatchSpanProcessor(
    new OTLPTraceExporter(proxyUrl === undefined ? {} : throughProxy(proxyUrl)),
  );
  const common = {
    spanProcessors: [processor],
    idGenerator: ids,
    resource: resourceFromAttributes({
      "service.name": "millrace",
      "service.version": version,
      "millrace.process": process,
    }).merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
  };
  // The sampler decides where a trace starts or arrives. Spans of runs follow that decision and are always recorded.
  const sampled = new BasicTracerProvider(common).getTracer("millrace", version);
  const alwaysOn = new BasicTracerProvider({ ...common, sampler: new AlwaysOnSampler() }).getTracer(
    "millrace",
    version,
  );

  return {
    enabled: true,
    propagates,

    startSpan(name, kind, parent, attributes) {
      const span = sampled.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
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
      const span = ids.use({ traceId }, () => sampled.startSpan(name, { root: true }));
      return (span.spanContext().traceFlags & toTraceFlags(true)) !== 0;
    },

    recordSpan({ name, kind, trace: own, parentId, start, end, attributes, error, link }) {
      if (!isSampled(own)) return;
      const parent = parentId === null ? undefined : { ...own, spanId: parentId };
      const options = {
        kind: KINDS[kind],
        attributes,
        // The SDK could take a number for a value of performance.now().
        startTime: new Date(start),
        ...(link !== undefined && { links: [{ context: spanContextOf(link) }] }),
      };
      const span = ids.use(own, () => alwaysOn.startSpan(name, options, contextOf(parent)));
      if (error !== null) fail(span, error, true);
      // The clocks of two processes may differ, and the SDK logs a warning when the end is before the start.
      span.end(new Date(Math.max(start, end)));
    },

    async close() {
      const timeout = new AbortController();
      const exported = processor.shutdown().then(
        () => true,
        () => true,
      );
      const timedOut = delay(FLUSH_MS, false, { signal: timeout.signal }).catch(() => false);
      return Promise.race([exported, timedOut]).finally(() => timeout.abort());
    },
  };
}

/** Options of the exporter. The agents of Node take the proxy for both kinds of destinations. */
const throughProxy = (url: string): ConstructorParameters<typeof OTLPTraceExporter>[0] => ({
  httpAgentOptions: { keepAlive: true, proxyEnv: { HTTP_PROXY: url, HTTPS_PROXY: url } },
});

/** Generates random ids, except for spans that are started within `use`. */
function idGenerator() {
  const random = new RandomIdGenerator();
  let fixed: Partial<Pick<TraceContext, "traceId" | "spanId">> = {};
  return {
    generateTraceId: () => fixed.traceId ?? random.generateTraceId(),
    generateSpanId: () => fixed.spanId ?? random.generateSpanId(),
    use<T>(ids: typeof fixed, startSpan: () => T): T {
      fixed = ids;
      try {
        return startSpan();
      } finally {
        fixed = {};
      }
    },
  };
}

const contextOf = (parent: TraceContext | undefined) =>
  parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));

const spanContextOf = ({ traceId, spanId, flags, state }: TraceContext): SpanContext => ({
  traceId,
  spanId,
  traceFlags: flags,
  isRemote: true,
  ...(state !== "" && { traceState: createTraceState(state) }),
});

/** @param ours false for a caller's mistake, which leaves the status of a server span unset, as HTTP's conventions say */
function fail(span: Span, code: string, ours: boolean): void {
  span.setAttribute("error.type", code);
  if (ours) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}
