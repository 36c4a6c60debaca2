/**
 * What of runs goes into traces: a span for each run, and below it one for each attempt of a step. They are reported
 * when they end, from what is recorded, by whoever records the end: so a wait of days, a take-over and a restart lose
 * none. Nothing that workflows work with gets in: ids, times, states and error codes only.
 */
import type { RunError } from "../../../schemas/run.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import type { AttemptRecord, RunRecord, StepRef } from "../../core/run-ports.ts";
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

/** What is asked of a run here. */
type TracedRun = Pick<RunRecord, "id" | "trace" | "workflowId">;

/** An attempt that has ended. */
type EndedAttempt = Pick<AttemptRecord, "attempt" | "status" | "startedAt" | "usage" | "error"> & {
  finishedAt: string;
};

export interface Spans {
  /** Whether any are made; if not, nothing need be looked up for them. */
  enabled: boolean;
  /** What is kept with a run that is taken in: the context that it came with, else a new trace of its own. */
  initialTrace(run: TracedRun): string | null;
  /** The context below the span of a run, or below that of one of its attempts, for another run that it starts. */
  childTrace(run: TracedRun, at?: { unit: StepRef; attempt: number }): string | null;
  /** What an attempt sends along to what it calls. */
  propagationHeaders(run: TracedRun, unit: StepRef, attempt: number): TraceHeaders;
  traceId(run: TracedRun): string | undefined;
  recordAttempt(run: TracedRun, step: StepDefinition, unit: StepRef, attempt: EndedAttempt): void;
  recordRun(run: RunRecord, end: EndedRun, retried: TracedRun | undefined): void;
}

interface EndedRun {
  status: RunRecord["status"];
  startedAt: string;
  finishedAt: string;
  error: RunError | null;
}

const NOTHING: TraceHeaders = {};

export function spans(
  tracer: Tracer,
  stepTypes: readonly AnyStepType[],
  connections: CalledConnections,
): Spans {
  const types = new Map(stepTypes.map((type) => [type.type, type]));

  /** A run's trace; its `spanId` is the span above the run's own, or that itself where the trace begins with it. */
  function traceOf({ id, trace, workflowId }: TracedRun): TraceContext | undefined {
    const kept = trace === null ? undefined : deserializeTrace(trace);
    if (kept !== undefined || !tracer.enabled) return kept;
    // Taken in where no traces are made: by an older release, or by a process that was set up otherwise.
    const traceId = runTraceId(id);
    const flags = toTraceFlags(tracer.shouldSample(traceId, nameOf(workflowId)));
    return { traceId, spanId: runSpanId(id), flags, state: "" };
  }

  function sampledTrace(run: TracedRun): TraceContext | undefined {
    const trace = tracer.enabled ? traceOf(run) : undefined;
    return trace !== undefined && isSampled(trace) ? trace : undefined;
  }

  /** Without spans of ours the caller's goes on as it is. */
  function below(run: TracedRun, at?: { unit: StepRef; attempt: number }): TraceContext | undefined {
    const trace = traceOf(run);
    if (trace === undefined || !tracer.enabled) return trace;
    return { ...trace, spanId: at === undefined ? runSpanId(run.id) : attemptSpanId(at.unit, at.attempt) };
  }

  return {
    enabled: tracer.enabled,
    initialTrace: (run) => stored(traceOf(run)),
    childTrace: (run, at) => stored(below(run, at)),
    propagationHeaders(run, unit, attempt) {
      const trace = tracer.propagates ? below(run, { unit, attempt }) : undefined;
      return trace === undefined ? NOTHING : traceHeaders(trace);
    },
    traceId: (run) => traceOf(run)?.traceId,

    recordAttempt(run, step, unit, { attempt, status, startedAt, finishedAt, usage, error }) {
      const trace = sampledTrace(run);
      if (trace === undefined) return;
      const calls = types.get(step.type)?.spanAttributes?.(step, connections);
      tracer.recordSpan({
        name: `${step.type} ${step.id}`,
        kind: calls === undefined ? "internal" : "client",
        trace: { ...trace, spanId: attemptSpanId(unit, attempt) },
        parentId: runSpanId(run.id),
        start: Date.parse(startedAt),
        end: Date.parse(finishedAt),
        attributes: {
          "millrace.run_id": run.id,
          "millrace.workflow_id": run.workflowId,
          "millrace.step_id": step.id,
          "millrace.step_type": step.type,
          ...(unit.item !== null && { "millrace.item": unit.item }),
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
      const own = runSpanId(run.id);
      const before = retried === undefined ? undefined : traceOf(retried);
      tracer.recordSpan({
        name: nameOf(run.workflowId),
        kind: "internal",
        trace: { ...trace, spanId: own },
        parentId: trace.spanId === own ? null : trace.spanId,
        start: Date.parse(startedAt),
        end: Date.parse(finishedAt),
        attributes: {
          "millrace.run_id": run.id,
          "millrace.workflow_id": run.workflowId,
          "millrace.version": run.version,
          "millrace.trigger": run.trigger,
          "millrace.status": status,
          ...(run.retryOf !== null && { "millrace.retry_of": run.retryOf }),
          ...(error?.step_id !== undefined && { "millrace.step_id": error.step_id }),
        },
        error: error?.code ?? null,
        ...(before !== undefined && { link: { ...before, spanId: runSpanId(retried!.id) } }),
      });
    },
  };
}

const stored = (trace: TraceContext | undefined): string | null =>
  trace === undefined ? null : serializeTrace(trace);

const nameOf = (workflowId: string): string => `run ${workflowId}`;

/** @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
const usageAttributes = (usage: NonNullable<AttemptRecord["usage"]>): SpanAttributes => ({
  "gen_ai.usage.input_tokens": usage.input_tokens,
  "gen_ai.usage.output_tokens": usage.output_tokens,
});
