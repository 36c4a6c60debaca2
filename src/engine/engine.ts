/** Assembles the part of the engine that every process needs: checking definitions and starting runs. */
import type { Logger } from "pino";
import { DEFAULT_RUN_BYTES, DURATION_LIMITS } from "../../schemas/config.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import type { ApiKeyReader } from "../core/account-ports.ts";
import type { PeopleReaders } from "../core/approval-people.ts";
import type { Clock } from "../core/clock.ts";
import { withGrantHints } from "../core/grant-hint.ts";
import { limitConnections, NOTHING } from "../core/connection-view.ts";
import { type ConnectionViews, connectionViews } from "../core/connection-views.ts";
import type { ConfiguredConnections } from "../core/connections.ts";
import { durationCutter, type DurationLimits } from "../core/duration-limits.ts";
import type { CheckReport, EngineApi } from "../core/engine-port.ts";
import { lazy } from "../core/lazy.ts";
import { type Meter, noMeter } from "../core/meter.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type { ProjectReader } from "../core/project-ports.ts";
import type { EngineReaders } from "../core/run-ports.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import { calledWorkflowIds } from "../core/workflow-calls.ts";
import type { AnyStepType } from "../core/step-type.ts";
import { inlineValidation } from "../core/validation.ts";
import { isCheapCheck } from "./definition/check/check-cost.ts";
import { checkResources } from "./check-resources.ts";
import type { CheckDefinition, Checker } from "./definition/check/index.ts";
import type { EngineThreads } from "./threads/engine-threads.ts";
import { definitionSchema } from "./definition/definition-schema.ts";
import { definitionCache } from "./definition/compiled-definition.ts";
import { CONNECTIONS_MS, runChecks } from "./definition/run-checks.ts";
import { type RemainingWorkReader, remainingWork } from "./run-state/remaining-work.ts";
import { beyondLimits, keyOfStart, pinnedVersions, versionBeyondLimits } from "./run-state/key-limits.ts";
import { callPinner } from "./run-state/pin-calls.ts";
import { type PrepareRun, prepareRun } from "./run-state/prepare-run.ts";
import { type QueueAdmission, queueAdmission } from "./run-state/queue-admission.ts";
import { undecidableIn, unsignedApprovals } from "./run-state/unsigned-approvals.ts";
import { schedulePolicy, type SchedulePolicy } from "./run-state/schedule-policy.ts";
import { spans } from "./run-state/spans.ts";
import type { RunContext } from "./run-state/run-context.ts";
import { startLimits, type StartLimitsOptions } from "./run-state/start-limits.ts";

export interface EngineOptions {
  stepTypes: readonly AnyStepType[];
  connections: ConfiguredConnections;
  read: EngineReaders & {
    workflows: WorkflowReader;
    projects: ProjectReader;
    users?: PeopleReaders["users"];
    apiKeys: Pick<ApiKeyReader, "ofLineage">;
  };
  clock: Clock;
  log: Logger;
  meter?: Meter;
  tracer?: Tracer;
  /** Throws AppError storage_full while the disk has too little space for new runs. Default: it has enough. */
  assertDiskSpace?: () => Promise<void>;
  /** How long jobs of an owner may wait before it starts no more runs, as a duration; default: without limit. */
  maxQueueAge?: string;
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
  /** Whether each use of a secret is recorded in the audit log; default: false. */
  auditSecrets?: boolean;
  /** Whether those who started a run may decide its approvals; default: false. */
  approvalsByStarter?: boolean;
  /** The operator's maxima for durations. */
  durationLimits?: DurationLimits;
  /** Timeout of the checks of a run against its connections, in milliseconds. */
  connectionsTimeoutMs?: number;
}

/** The part of the engine that starts runs. Executors add executor/job-handlers.ts to it. */
export interface Engine {
  context: RunContext;
  views: ConnectionViews;
  check: CheckDefinition;
  /** Checks a definition on the calling thread; its report has the shapes. */
  checkInline: Checker["check"];
  prepareRun: PrepareRun;
  beyondKeyLimits: EngineApi["beyondKeyLimits"];
  schedulePolicy: SchedulePolicy;
  durationLimits: DurationLimits;
  remainingWork: RemainingWorkReader;
  /** What refuses new runs before they are prepared. @throws AppError storage_full, too_many_runs */
  assertMayStart: QueueAdmission;
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
  maxQueueAge,
  threads,
  limits,
  minScheduleInterval = "1m",
  maxPriority = 0,
  maxRunBytes = DEFAULT_RUN_BYTES,
  auditSecrets = false,
  approvalsByStarter = false,
  durationLimits = DURATION_LIMITS,
  connectionsTimeoutMs = CONNECTIONS_MS,
}: EngineOptions): Engine {
  const { runs, workflows, projects, users } = read;
  const views = connectionViews(connections, projects);
  const resourcesOf = checkResources({ views, workflows, runs, users, projects });
  const schema = definitionSchema(stepTypes);
  const parse = (definition: Record<string, unknown>): Definition => schema.parse(definition);
  const context: RunContext = {
    clock,
    log,
    meter,
    spans: spans(tracer, stepTypes, connections),
    maxRunBytes,
    auditSecrets,
    definitionCache: definitionCache(parse, stepTypes, connections, durationCutter(durationLimits).pause),
    validation: threads?.validation ?? inlineValidation,
    startLimits: startLimits(limits, clock),
  };
  // Loaded with the first check: a process that only lists and reads never needs the checker.
  const loadChecker = lazy(async () => {
    const { checker } = await import("./definition/check/index.ts");
    return checker({
      stepTypes,
      // Each check is passed what its project can use.
      connections: limitConnections(connections, NOTHING),
      workflows: { find: () => Promise.resolve(undefined), ids: () => Promise.resolve([]) },
      clock,
      minScheduleInterval,
      maxPriority,
      limits: durationLimits,
    });
  });
  const checkInline: Checker["check"] = async (source, options) =>
    (await loadChecker()).check(source, options, await resourcesOf(options));
  const pinCalls = callPinner(workflows, runs);
  const limited = beyondLimits(context.definitionCache, runs);
  const undecidable = unsignedApprovals(context.definitionCache, runs, approvalsByStarter);
  const issuesOfTriggers = undecidableIn(pinCalls, undecidable, approvalsByStarter);
  const check: CheckDefinition = async (source, options) => {
    const { isLimited, ...resources } = await resourcesOf(options);
    const report: CheckReport =
      threads === undefined || isCheapCheck(source, options)
        ? await (await loadChecker()).check(source, options, resources)
        : await threads.check(source, options, {
            ...resources,
            clock,
            settings: { minScheduleInterval, limits: durationLimits },
          });
    const { checkConnections, keyLimits = null } = options;
    const called = calledWorkflowIds(report.definition ?? {});
    if (checkConnections && report.valid)
      report.warnings.push(...(await issuesOfTriggers(report.definition!, called)));
    if (!isLimited) return report;
    const beyond =
      checkConnections && keyLimits !== null && called.length > 0
        ? await limited(pinnedVersions(await pinCalls(called, { live: false })), keyLimits)
        : [];
    const errors = [...withGrantHints(report.errors), ...beyond];
    return { ...report, errors, valid: errors.length === 0 };
  };
  const assertQueueMoves: QueueAdmission =
    maxQueueAge === undefined ? async () => {} : queueAdmission(read.jobs, clock, maxQueueAge);
  const prepare = prepareRun({
    workflows,
    runs,
    definitionCache: context.definitionCache,
    assertDiskSpace,
    assertQueueMoves,
    check: runChecks(check, runs, views, clock, connectionsTimeoutMs),
    validation: context.validation,
    pinCalls,
    isOffered: (id, project) => projects.isOffered(id, project),
    beyondLimits: limited,
    keyOfStart: keyOfStart(read.apiKeys),
    unsignedApprovals: undecidable,
  });
  return {
    context,
    views,
    check,
    checkInline,
    prepareRun: prepare,
    beyondKeyLimits: versionBeyondLimits(runs, pinCalls, limited),
    async assertMayStart(run) {
      await assertDiskSpace();
      await assertQueueMoves(run);
    },
    durationLimits,
    schedulePolicy: schedulePolicy(minScheduleInterval),
    remainingWork: remainingWork({ definitionCache: context.definitionCache, stepTypes, views }),
    parse,
  };
}
