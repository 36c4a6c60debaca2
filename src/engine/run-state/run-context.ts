/** The dependencies that every change of a run needs, and helpers for its jobs and log fields. */
import type { Logger } from "pino";
import type { Clock } from "../../core/clock.ts";
import type { Meter } from "../../core/meter.ts";
import { BACKFILL_PRIORITY, type NewJob, type RunRecord, type StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { Validation } from "../../core/validation.ts";
import type { CompiledDefinition, DefinitionCache } from "../definition/compiled-definition.ts";
import type { Spans } from "./spans.ts";
import type { StartLimits } from "./start-limits.ts";

export interface RunContext {
  clock: Clock;
  log: Pick<Logger, "info" | "warn">;
  meter: Meter;
  spans: Spans;
  definitionCache: DefinitionCache;
  /** Maximum bytes that a run stores. */
  maxRunBytes: number;
  validation: Validation;
  /** Whether each use of a secret is recorded in the audit log. */
  auditSecrets: boolean;
  startLimits: StartLimits;
}

/** The first attempt of a job, due at once, unless `overrides` says otherwise. */
export const newJob = (
  ref: StepRef,
  kind: NewJob["kind"],
  priority: number,
  overrides: Partial<NewJob> = {},
): NewJob => ({
  ...ref,
  kind,
  priority,
  dueAt: null,
  resource: null,
  attempt: 1,
  retryCount: 0,
  ...overrides,
});

/** The job of an attempt of a step, or of an item of its fan-out, with the resource and the rate of the step. */
export function newStepJob(
  { position, resources, rates }: Pick<CompiledDefinition, "position" | "resources" | "rates">,
  ref: StepRef,
  { priority, replay }: Pick<RunRecord, "priority" | "replay">,
  overrides: Partial<NewJob> = {},
): NewJob {
  // Recorded outputs use nothing that others could wait for.
  if (replay?.reads === "recorded") return newJob(ref, "step", priority, overrides);
  const at = position.get(ref.stepId)!;
  return newJob(ref, "step", priority, { resource: resources[at]!, rate: rates[at]!, ...overrides });
}

/** What a run of a backfill starts does not go before other runs either. */
export const lowPriority = ({ priority }: Pick<RunRecord, "priority">): { maxPriority?: number } =>
  priority === BACKFILL_PRIORITY ? { maxPriority: BACKFILL_PRIORITY } : {};

/** The reference of a job that belongs to a run, not to one of its steps. */
export const runRef = (runId: string): StepRef => ({ runId, stepId: "", item: null });

/** The request and the trace that a log line of a run belongs to. */
export function correlationFields(
  { spans }: Pick<RunContext, "spans">,
  { requestId }: Pick<EngineWriters, "requestId">,
  run: Parameters<Spans["traceId"]>[0],
): { trace_id?: string; request_id?: string } {
  const traceId = spans.traceId(run);
  return {
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(requestId !== null && { request_id: requestId }),
  };
}
