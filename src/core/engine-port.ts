/** The interface of the engine for operations. `src/engine` implements it; tools and surfaces use nothing else of it. */
import type { SigningSecrets } from "./signing-secrets.ts";
import type { AppliedFix, Issue } from "../../schemas/problem.ts";
import type { ApprovalPlan } from "../../schemas/approval.ts";
import type { RetryItems, RunTrigger } from "../../schemas/run.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import type { EventsApi } from "./event-ports.ts";
import type { PerKeyLimits } from "./usage-limits.ts";
import type { KeyLimits } from "./access.ts";
import type { ViewedProjects } from "./connection-views.ts";
import type { Connections } from "./connections.ts";
import type { Principal, WorkflowReader } from "./ports.ts";
import type {
  ApprovalRecord,
  NewRun,
  RunActor,
  RunCause,
  RunPins,
  RunRecord,
  RunStop,
  ScheduleRecord,
  StepFacts,
  StepRef,
  Replay,
  Trial,
  VersionRef,
} from "./model.ts";
import type { ApprovalEventRecord, PersonDecision } from "./approval-rules.ts";
import type { InterruptionRecord, PersonalSettlement } from "./interruption-ports.ts";
import type { CompileForRuns } from "./run-expressions.ts";
import type { EngineWriters, RunReader, RunSummary } from "./run-ports.ts";
import type { AnyStepType } from "./step-type.ts";
import type { Applied } from "./transactions.ts";
import type { TriggersApi } from "./trigger-ports.ts";
import type { Validation } from "./validation.ts";

/** The result of checking a definition. */
export interface CheckReport {
  valid: boolean;
  errors: Issue[];
  /** Findings that do not prevent running, such as a value that may be null where null fails. */
  warnings: Issue[];
  /** The definition to store; null when the source could not be parsed. */
  definition: Record<string, unknown> | null;
  /** With `baseText`: YAML that says the definition, with its comments; left out where generated YAML says as much. */
  text?: string;
  /** The fields that a workflow file has beside the definition. */
  file: { id?: string; name?: string; description?: string; tags?: string[]; draft?: boolean };
  /** The type of a run's output (`formatShape`), cut after `MAX_TYPE_CHARS`. */
  output_type: string;
  /** `output_type` is the type of a step's output, cut in the same way. */
  steps: { id: string; type: string; output_type: string; effects: boolean; facts?: StepFacts }[];
  /** With a schedule whose times have no issues: the next ones in its zone, with the offset. */
  next_runs?: string[];
  /** With `mocks`: the values of the steps' fields and of the output; `not_evaluated` says why others are not known. */
  preview?: { steps: Record<string, unknown>; output?: unknown; not_evaluated?: unknown };
  /** With `applyFixes`: the fixes that were applied. */
  applied_fixes?: AppliedFix[];
}

/** Maximum length of a type in a report, in characters. */
export const MAX_TYPE_CHARS = 1_000;

/** Why a workflow can't be run: the issue of a step that runs it. */
export type Unavailable = Required<Pick<Issue, "code" | "message" | "fix">>;

/** The text of a version, which a change of its definition keeps as far as it can. */
export interface BaseText {
  text: string;
  /** The definition of the version, as JSON. */
  definition: string;
}

export interface CheckOptions {
  /** The project of the workflow: it is checked against the connections, workflows and people of this project. */
  project: string;
  /** What the key of the caller is limited to; left out or null, nothing. */
  keyLimits?: KeyLimits | null | undefined;
  /** Whether to check against the real databases, models, servers and secrets. */
  checkConnections: boolean;
  /** Whether to check against the workflows that it runs. Default: as for `checkConnections`. */
  checkWorkflows?: boolean;
  /** Definitions by workflow id, to check as if each were the published version of its workflow. */
  asPublished?: ReadonlyMap<string, Record<string, unknown>> | undefined;
  /** Workflows by id, to check as if they could not be run, each with the reason. */
  unavailable?: ReadonlyMap<string, Unavailable> | undefined;
  /** Inputs of a run, to check as well. */
  inputs?: unknown;
  /** Whether the inputs are as a model wrote them. */
  inputsAsWritten?: boolean;
  /** Outputs of steps by id. Expressions are evaluated with them, and with the outputs of steps that only compute. */
  mocks?: Readonly<Record<string, unknown>> | undefined;
  /** Outputs of steps by id that a trial gives, to check as well. */
  given?: Readonly<Record<string, unknown>> | undefined;
  /** The id of the workflow, if it has one. */
  selfId?: string | undefined;
  /** Whether `id`, `name`, `description` and `tags` are allowed at the top level, as in files. */
  allowFileFields?: boolean;
  /** The usage subject of the caller (usage-limits.ts), with whom threads and connections share their places. */
  owner: string;
  /** Whether the patches of its issues are applied first, as long as they help. */
  applyFixes?: boolean;
  /** Reports the text to store beside the definition; with the text that an object changes, or null. */
  baseText?: BaseText | null | undefined;
  signal: AbortSignal;
}

/** The caller of a request that starts a run. */
export interface RunCaller {
  /** What it can find: it can start nothing else. */
  workflows: Pick<WorkflowReader, "find" | "recentIds">;
  /** Who it is. A key can start nothing beyond its limits. */
  principal: Principal;
}

/** A single step to run, which belongs to no workflow. */
interface StepRequest {
  workflowId: null;
  project: string;
  /** A definition with one step. */
  definition: Record<string, unknown>;
}

interface WorkflowRequest {
  workflowId: string;
  /** Replaces the definition of the version (a retry with a patch). */
  definition?: Record<string, unknown> | undefined;
}

export type RunRequest = (WorkflowRequest | StepRequest) & RunRequestOptions;

interface RunRequestOptions {
  /** Null for runs that the engine starts. */
  caller: RunCaller | null;
  /**
   * What the key of somebody is limited to on whose behalf the engine starts the run; null for nothing. Left out, that of the actor, unless
   * another run starts it.
   */
  keyLimits?: KeyLimits | null | undefined;
  /** The id of the run, where it was chosen before; left out, a new one. */
  runId?: string | undefined;
  /** Left out, the published version, or the newest if none is published. */
  version?: number | undefined;
  inputs: Readonly<Record<string, unknown>>;
  /** Whether they are those of an earlier run: they are taken as they are. */
  areInputsStored?: boolean | undefined;
  /** Whether to drop inputs that the workflow does not declare. */
  ignoreUnknownInputs?: boolean | undefined;
  actor: RunActor;
  trigger: RunTrigger;
  depth?: number | undefined;
  parent?: StepRef | undefined;
  /** The project of the run that calls this one: the workflow belongs to it, or is offered to it. */
  calledFrom?: string | undefined;
  /** What the run that calls this one has pinned. Left out or null, the run pins the versions of now. */
  pins?: RunPins | null | undefined;
  /** The run that this one retries. */
  retryOf?:
    | Pick<
        RunRecord,
        "id" | "firstRunId" | "workflowId" | "version" | "definition" | "pins" | "parent" | "actor" | "causes"
      >
    | undefined;
  /** Who causes it besides its actor, and the causes of the run that starts it. Those of a retried run are added. */
  causes?: readonly RunCause[] | undefined;
  scheduledFor?: string | undefined;
  /** The backfill that starts it. */
  backfill?: string | undefined;
  /** Its priority is not above this one. */
  maxPriority?: number | undefined;
  /** Makes it a trial. */
  trial?: Trial | undefined;
  /** Makes a trial that of a backtest. */
  replay?: Replay | undefined;
  /** The trace to continue, serialized; left out or null, the run begins its own. */
  trace?: string | null | undefined;
}

/** A usage limit of a key, user or project, with the remaining amount. */
export interface RemainingUsage {
  /** The project whose limit it is; left out for that of the key or user. */
  project?: string;
  limit: keyof PerKeyLimits;
  max: number;
  remaining: number;
  /** When the full limit is available again, in milliseconds since 1970; null when that does not depend on time. */
  resetsAt: number | null;
}

/** A run that is ready to start. */
export type PreparedRun = Omit<
  NewRun,
  "status" | "stepStates" | "admitted" | "createdAt" | "state" | "stateRevision"
>;

/** What a retry does with its steps. */
export interface RetryPlan {
  /** Ids of the steps whose recorded outputs it reuses, in the order of the definition. */
  reused: string[];
  /** Ids of the steps that it runs. */
  run: string[];
  /** Ids of those of them that have effects. */
  effects: string[];
  /** Ids of those of them whose effects may have happened: they would happen again. */
  again: string[];
  /** The items of those of them that are fan-outs with the same list and inputs, by step. */
  items: Map<string, RetryItems>;
  /** An issue for each step that would repeat an effect. */
  issues: Issue[];
}

/** What can still run after an approval. */
export interface RemainingWork {
  /** One digest for its run, one for the parent of that run, and so on; the approval is stored with them. */
  levels: readonly string[];
  /** The digest of all of them together. */
  digest: string;
  /** What the reader can see of them. */
  workflows: ApprovalPlan["workflows"];
  /** The versions of all of them, also those that the reader can't see. */
  versions: readonly VersionRef[];
}

/** What the runs of a version can do, for a person who decides whether it is published. */
export interface PublicationPlan {
  /** Stands for all of it, with the versions of called workflows and the configuration of what they connect to. */
  digest: string;
  workflows: ApprovalPlan["workflows"];
}

export interface EngineApi {
  /** Everything in the configuration, for admins of the instance, who grant it. */
  configured: Connections;
  /**
   * The connections that the workflows of a project may use now.
   * @param limits what the caller's key is limited to in addition
   */
  connectionsOf(project: string, limits: KeyLimits | null): Promise<Connections>;
  stepTypes: readonly AnyStepType[];
  /** Checks a definition: an object, or YAML or JSON text. */
  check(source: unknown, options: CheckOptions): Promise<CheckReport>;
  /** Validates values by schemas of workflows. */
  validation: Validation;
  /** Compiles an expression over recorded runs. */
  compileForRuns: CompileForRuns;
  /**
   * Prepares a run. This may take long, so it happens outside of transactions.
   * @throws AppError workflow_not_found, version_not_found, workflow_archived, workflow_not_runnable (also beyond the limits of the
   *   caller's key), invalid_input (paths below `inputs`), missing_scope (what would run is no saved version), storage_full
   */
  prepareRun(request: RunRequest): Promise<PreparedRun>;
  /**
   * The issues of what the runs of a version, and of the versions that they would call now, use beyond the limits of a key: those
   * for which `prepareRun` refuses to start one.
   */
  beyondKeyLimits(
    version: { workflowId: string; version: number },
    limits: KeyLimits | null,
  ): Promise<Issue[]>;
  /** Starts a run, and counts it for the usage limits. @throws AppError too_many_runs, storage_limit_reached */
  startRun(tx: EngineWriters, run: PreparedRun): Promise<void>;
  /** @throws AppError storage_limit_reached when what the caller, or the project, stores has reached its limit */
  assertMayStore(
    tx: Pick<EngineWriters, "usage">,
    principal: Pick<Principal, "owner" | "keyName" | "lineage">,
    project: string,
  ): Promise<void>;
  /** Stops a run. @returns false when it had already ended or been stopped */
  stopRun(tx: EngineWriters, runId: string, stop: RunStop): Promise<boolean>;
  /**
   * Records what one person decided on an approval. With the last decision that was needed the run continues. All in one transaction.
   * @param levels those of the remaining work: decisions for other plans don't count
   * @returns `refused` when the approval has ended, or the person has decided or the place is taken; nothing is written then
   */
  recordDecision(
    tx: EngineWriters,
    approval: ApprovalRecord,
    decision: Omit<PersonDecision, "planDigest">,
    levels: readonly string[],
  ): Promise<{ status: "pending" | "approved" | "declined" } | { refused: "ended" | "taken" }>;
  /**
   * Settles an open interruption. If its step waits for that, it goes on. All in one transaction.
   * @returns false when it was settled before; nothing is written then
   */
  settleInterruption(
    tx: EngineWriters,
    interruption: InterruptionRecord,
    settlement: PersonalSettlement,
  ): Promise<Applied>;
  /** Tells whom it was passed on to, in the transaction that records it. */
  notifyAssignees(
    tx: EngineWriters,
    approval: ApprovalRecord,
    event: Pick<ApprovalEventRecord, "kind" | "at" | "to"> &
      Partial<Pick<ApprovalEventRecord, "by" | "note">>,
  ): Promise<void>;
  /**
   * Everything that can still run after an approval.
   * @param read the readers of the transaction, inside one; those of a request show what its caller can see
   */
  remainingWork(
    read: {
      runs: Pick<RunReader, "find" | "getStatusSummaries" | "versionDefinition">;
      workflows: Pick<WorkflowReader, "currentVersions" | "projectOf">;
      projects: ViewedProjects;
    },
    approval: Pick<ApprovalRecord, "runId" | "stepId">,
  ): Promise<RemainingWork>;
  /**
   * Everything that the runs of a version can do, if it was published now.
   * @param read the readers of the transaction, inside one
   * @throws AppError workflow_not_runnable where the version has no definition
   */
  publicationPlan(
    read: {
      runs: Pick<RunReader, "versionDefinition">;
      workflows: Pick<WorkflowReader, "liveVersions" | "projectOf">;
      projects: ViewedProjects;
    },
    version: { workflowId: string; version: number },
  ): Promise<PublicationPlan>;
  /** Predicts what a retry does with its steps. A trial has no effects to repeat. */
  planRetry(retried: RunRecord, retry: PreparedRun): Promise<RetryPlan>;
  /** Receives the events that runs wait for. */
  events: EventsApi;
  /** Receives the deliveries of webhooks that start runs. */
  triggers: TriggersApi;
  /** The secret that signs the deliveries of a subscription. */
  signingSecret: SigningSecrets["secretOf"];
  /** The definition of a run, with defaults. */
  getDefinition(run: Pick<RunRecord, "id" | "workflowId" | "version" | "definition">): Promise<Definition>;
  /** The next times of a schedule after `after`, in milliseconds since 1970. */
  nextScheduleTimes(
    schedule: Pick<ScheduleRecord, "cron" | "timezone"> & Partial<Pick<ScheduleRecord, "lastAt">>,
    after: number,
    count: number,
  ): number[];
  /** The times of a schedule from `from` to `to`, both included, in milliseconds since 1970: at most `max`. */
  scheduleTimesBetween(
    schedule: Pick<ScheduleRecord, "cron" | "timezone">,
    range: { from: number; to: number; max: number },
  ): Promise<number[]>;
  /**
   * The inputs of the run of a backfill. @param time the scheduled time, as ISO text
   * @throws AppError workflow_not_runnable when an expression of `schedule.inputs` fails
   */
  backfillInputs(
    version: { workflowId: string; version: number },
    time: string,
  ): Promise<Record<string, unknown>>;
  /** The shortest time between two runs of a schedule, in milliseconds. */
  minScheduleIntervalMs: number;
  /** Why a schedule runs less often than it says; undefined if it runs as it says. */
  scheduleWarning(schedule: Pick<ScheduleRecord, "cron">): string | undefined;
  /**
   * The usage limits of a key or user (`limits.per_key`) and of these projects, with the remaining amounts; empty without
   * limits.
   */
  remainingUsage(
    principal: Pick<Principal, "owner" | "keyName" | "lineage">,
    projects: readonly string[],
  ): Promise<RemainingUsage[]>;
  /** The policy of the operator. */
  policy: { approvalsByStarter: boolean; approvalsByAuthor: boolean };
  /** Wakes the executors after a commit that has added jobs. */
  wake(): void;
  /**
   * Waits until the run's `seq` is greater than `seq` and `until` holds (left out: always). It sees updates by all processes.
   * @returns the run as it is then; undefined after `ms` milliseconds, when the signal is aborted, and when there is no run
   */
  waitForChange(
    runId: string,
    seq: number,
    options: { ms: number; signal: AbortSignal; until?: ((run: RunSummary) => boolean) | undefined },
  ): Promise<RunSummary | undefined>;
  /** Aborted when this process begins to shut down. Requests that wait for a run then return its current state. */
  shutdownSignal: AbortSignal;
}
