/**
 * The spans of runs: one for each run, and below it one for each attempt of a step. The transaction that records the end of a
 * run or an attempt reports its span from the records, so a long wait, a reclaimed job or a restart loses none. Spans
 * hold ids, times, statuses and error codes, never values that workflows work with.
 */
import type { RunError } from "../../../schemas/run.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import type { AttemptRecord, RunRecord, StepRef } from "../../core/model.ts";
import type { AnyStepType, CalledConnections } from "../../core/step-type.ts";
import {
  attemptSpanId,
  toTraceFlags,
  isSampled,
  deserializeTrace,
  runSpanId,
  runTraceId,
  serializeTrace,
  type TraceContext,
  traceHeaders,
  type TraceHeaders,
} from "../../core/trace-context.ts";
import type { SpanAttributes, Tracer } from "../../core/tracer.ts";

type TracedRun = Pick<RunRecord, "id" | "trace" | "workflowId">;

type EndedAttempt = Pick<AttemptRecord, "attempt" | "status" | "startedAt" | "usage" | "error"> & {
  finishedAt: string;
};

export interface Spans {
  /** False when no spans are reported; callers can then skip the queries for them. */
  enabled: boolean;
  /** The trace context to store with a new run: that of its request, else that of a new trace. */
  initialTrace(run: TracedRun): string | null;
  /** The trace context for a run that this run, or one of its attempts, starts. */
  childTrace(run: TracedRun, parent?: { ref: StepRef; attempt: number }): string | null;
  /** The headers that an attempt sends to the services that it calls. */
  propagationHeaders(run: TracedRun, ref: StepRef, attempt: number): TraceHeaders;
  traceId(run: TracedRun): string | undefined;
  recordAttempt(run: TracedRun, step: StepDefinition, ref: StepRef, attempt: EndedAttempt): void;
  /** @param retried the run that this one retries */
  recordRun(run: RunRecord, end: EndedRun, retried: TracedRun | undefined): void;
}

interface EndedRun {
  status: RunRecord["status"];
  startedAt: string;
  finishedAt: string;
  error: RunError | null;
}

const NO_HEADERS: TraceHeaders = {};

export function spans(
  tracer: Tracer,
  stepTypes: readonly AnyStepType[],
  connections: CalledConnections,
): Spans {
  const types = new Map(stepTypes.map((type) => [type.type, type]));

  /** A run's trace. Its `spanId` is the parent of the run's span, or the run's span itself where the trace begins. */
  function traceOf({ id, trace, workflowId }: TracedRun): TraceContext | undefined {
    const stored = trace === null ? undefined : deserializeTrace(trace);
    if (stored !== undefined || !tracer.enabled) return stored;
    // The run was started without tracing: by an older release, or by a process with other settings.
    const traceId = runTraceId(id);
    const flags = toTraceFlags(tracer.shouldSample(traceId, nameOf(workflowId)));
    return { traceId, spanId: runSpanId(id), flags, state: "" };
  }

  function sampledTrace(run: TracedRun): TraceContext | undefined {
    const trace = tracer.enabled ? traceOf(run) : undefined;
    return trace !== undefined && isSampled(trace) ? trace : undefined;
  }

  /** The context whose parent is the span of a run or of an attempt. Without tracing it is the caller's, unchanged. */
  function contextBelow(
    run: TracedRun,
    parent?: { ref: StepRef; attempt: number },
  ): TraceContext | undefined {
    const trace = traceOf(run);
    if (trace === undefined || !tracer.enabled) return trace;
    return {
      ...trace,
      spanId: parent === undefined ? runSpanId(run.id) : attemptSpanId(parent.ref, parent.attempt),
    };
  }

  return {
    enabled: tracer.enabled,
    initialTrace: (run) => serializeOrNull(traceOf(run)),
    childTrace: (run, parent) => serializeOrNull(contextBelow(run, parent)),
    propagationHeaders(run, ref, attempt) {
      const trace = tracer.propagates ? contextBelow(run, { ref, attempt }) : undefined;
      return trace === undefined ? NO_HEADERS : traceHeaders(trace);
    },
    traceId: (run) => traceOf(run)?.traceId,

    recordAttempt(run, step, ref, { attempt, status, startedAt, finishedAt, usage, error }) {
      const trace = sampledTrace(run);
      if (trace === undefined) return;
      const calls = types.get(step.type)?.spanAttributes?.(step, connections);
      tracer.recordSpan({
        name: `${step.type} ${step.id}`,
        kind: calls === undefined ? "internal" : "client",
        trace: { ...trace, spanId: attemptSpanId(ref, attempt) },
        parentId: runSpanId(run.id),
        start: Date.parse(startedAt),
        end: Date.parse(finishedAt),
        attributes: {
          "millrace.run_id": run.id,
          ...workflowAttribute(run.workflowId),
          "millrace.step_id": step.id,
          "millrace.step_type": step.type,
          ...(ref.item !== null && { "millrace.item": ref.item }),
          "millrace.attempt": attempt,
          "millrace.status": status,
          ...calls,
          ...(usage !== null && usageAttributes(usage)),
        },
        error: error?.code ?? (status === "interrupted" ? status : null),
      });
    },

    recordRun(run, { status, startedAt, finishedAt, error }, retried) {
      const trace = sampledTrace(run);
      if (trace === undefined) return;
      const spanId = runSpanId(run.id);
      const retriedTrace = retried === undefined ? undefined : traceOf(retried);
      tracer.recordSpan({
        name: nameOf(run.workflowId),
        kind: "internal",
        trace: { ...trace, spanId },
        parentId: trace.spanId === spanId ? null : trace.spanId,
        start: Date.parse(startedAt),
        end: Date.parse(finishedAt),
        attributes: {
          "millrace.run_id": run.id,
          ...workflowAttribute(run.workflowId),
          "millrace.version": run.version,
          "millrace.trigger": run.trigger,
          "millrace.status": status,
          ...(run.retryOf !== null && { "millrace.retry_of": run.retryOf }),
          ...(error?.step_id !== undefined && { "millrace.step_id": error.step_id }),
        },
        error: error?.code ?? null,
        ...(retriedTrace !== undefined && { link: { ...retriedTrace, spanId: runSpanId(retried!.id) } }),
      });
    },
  };
}

const serializeOrNull = (trace: TraceContext | undefined): string | null =>
  trace === undefined ? null : serializeTrace(trace);

/** Spans of single steps are named alike, because names of spans must be few. */
const nameOf = (workflowId: string | null): string =>
  workflowId === null ? "run step" : `run ${workflowId}`;

const workflowAttribute = (workflowId: string | null): SpanAttributes =>
  workflowId === null ? {} : { "millrace.workflow_id": workflowId };

/** @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
const usageAttributes = (usage: NonNullable<AttemptRecord["usage"]>): SpanAttributes => ({
  "gen_ai.usage.input_tokens": usage.input_tokens,
  "gen_ai.usage.output_tokens": usage.output_tokens,
});
