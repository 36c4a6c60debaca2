/** Assembles the part of the engine that every process needs: checking definitions and starting runs. */
import type { Logger } from "pino";
import { DEFAULT_RUN_BYTES, DURATION_LIMITS } from "../../schemas/config.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import type { UserReader } from "../core/account-ports.ts";
import type { Clock } from "../core/clock.ts";
import type { Connections } from "../core/connections.ts";
import { durationCutter, type DurationLimits } from "../core/duration-limits.ts";
import { lazy } from "../core/lazy.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type { EngineReaders, RunReader } from "../core/run-ports.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import type { AnyStepType } from "../core/step-type.ts";
import { inlineValidation } from "../core/validation.ts";
import { isCheapCheck } from "./definition/check/check-cost.ts";
import type { CheckDefinition, Checker, WorkflowLookup } from "./definition/check/index.ts";
import type { EngineThreads } from "./threads/engine-threads.ts";
import { definitionSchema } from "./definition/definition-schema.ts";
import { definitionCache } from "./definition/compiled-definition.ts";
import { runChecks } from "./definition/run-checks.ts";
import { type RemainingWorkReader, remainingWork } from "./run-state/remaining-work.ts";
import { callPinner } from "./run-state/pin-calls.ts";
import { type PrepareRun, prepareRun } from "./run-state/prepare-run.ts";
import { schedulePolicy, type SchedulePolicy } from "./run-state/schedule-policy.ts";
import { spans } from "./run-state/spans.ts";
import type { RunContext } from "./run-state/run-context.ts";
import { startLimits, type StartLimitsOptions } from "./run-state/start-limits.ts";

export interface EngineOptions {
  stepTypes: readonly AnyStepType[];
  connections: Connections;
  read: EngineReaders & { workflows: WorkflowReader; users?: Pick<UserReader, "findByEmail"> };
  clock: Clock;
  log: Logger;
  meter?: Meter;
  tracer?: Tracer;
  /** Throws AppError storage_full while the disk has too little space for new runs. Default: it has enough. */
  assertDiskSpace?: () => Promise<void>;
  /** Does expensive checks and validations. Default: they are done on the calling thread. */
  threads?: EngineThreads;
  /** Limits the starts of runs. */
  limits: StartLimitsOptions;
  /** The shortest time between two runs of a schedule, as a duration; default: 1m. */
  minScheduleInterval?: string;
  /** Up to this priority, runs go before those of other owners; default: 0. */
  maxPriority?: number;
  /** Maximum bytes that a run stores. */
  maxRunBytes?: number;
  /** The operator's maxima for durations. */
  durationLimits?: DurationLimits;
}

/** The part of the engine that starts runs. Executors add executor/job-handlers.ts to it. */
export interface Engine {
  context: RunContext;
  check: CheckDefinition;
  /** Checks a definition on the calling thread; its report has the shapes. */
  checkInline: Checker["check"];
  prepareRun: PrepareRun;
  schedulePolicy: SchedulePolicy;
  durationLimits: DurationLimits;
  remainingWork: RemainingWorkReader;
  /** Fills in the defaults of a definition without issues. */
  parse(definition: Record<string, unknown>): Definition;
}

export function engine({
  stepTypes,
  connections,
  read,
  clock,
  log,
  meter = noMeter,
  tracer = noTracer(),
  assertDiskSpace = async () => {},
  threads,
  limits,
  minScheduleInterval = "1m",
  maxPriority = 0,
  maxRunBytes = DEFAULT_RUN_BYTES,
  durationLimits = DURATION_LIMITS,
}: EngineOptions): Engine {
  const { runs, users } = read;
  const lookUpUser =
    users &&
    (async (email: string): Promise<boolean> =>
      (await users.findByEmail(email.toLowerCase()))?.status === "active");
  const schema = definitionSchema(stepTypes);
  const parse = (definition: Record<string, unknown>): Definition => schema.parse(definition);
  const context: RunContext = {
    clock,
    log,
    meter,
    spans: spans(tracer, stepTypes, connections),
    maxRunBytes,
    definitionCache: definitionCache(parse, stepTypes, connections, durationCutter(durationLimits).pause),
    validation: threads?.validation ?? inlineValidation,
    startLimits: startLimits(limits, clock),
  };
  // Loaded with the first check: a process that only lists and reads never needs the checker.
  const loadChecker = lazy(async () => {
    const { checker } = await import("./definition/check/index.ts");
    return checker({
      stepTypes,
      connections,
      clock,
      workflows,
      minScheduleInterval,
      maxPriority,
      limits: durationLimits,
      ...(lookUpUser !== undefined && { isActiveUser: lookUpUser }),
    });
  });
  const checkInline: Checker["check"] = async (source, options) =>
    (await loadChecker()).check(source, options);
  const check: CheckDefinition = (source, options) =>
    threads === undefined || isCheapCheck(source, options)
      ? checkInline(source, options)
      : threads.check(source, options, {
          connections,
          workflows,
          isActiveUser: lookUpUser,
          clock,
          settings: { minScheduleInterval, limits: durationLimits },
        });
  const workflows = workflowLookup(read.workflows, runs);
  const prepare = prepareRun({
    workflows: read.workflows,
    runs,
    definitionCache: context.definitionCache,
    assertDiskSpace,
    check: runChecks(check, runs, clock),
    validation: context.validation,
    pinCalls: callPinner(read.workflows, runs),
  });
  return {
    context,
    check,
    checkInline,
    prepareRun: prepare,
    durationLimits,
    schedulePolicy: schedulePolicy(minScheduleInterval),
    remainingWork: remainingWork({ definitionCache: context.definitionCache, stepTypes, connections }),
    parse,
  };
}

/** Number of workflows among which the checker looks for a near match of an unknown id. */
const MAX_CANDIDATES = 200;

/** Looks up other workflows for the checker. */
const workflowLookup = (
  workflows: WorkflowReader,
  runs: Pick<RunReader, "versionDefinition">,
): WorkflowLookup => ({
  async find(id) {
    const found = await workflows.find(id);
    if (found === undefined) return undefined;
    const { status, published_version: published, version } = found;
    return { status, definition: await runs.versionDefinition(id, published ?? version) };
  },
  ids: () => workflows.recentIds(MAX_CANDIDATES),
});
