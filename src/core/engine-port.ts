/** What operations need of the engine. `src/engine` implements it; tools and surfaces see only this. */
import type { Issue } from "../../schemas/problem.ts";
import type { RunTrigger } from "../../schemas/run.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import type { PerKeyLimits } from "./usage-limits.ts";
import type { Connections } from "./connections.ts";
import type { Principal } from "./ports.ts";
import type {
  EngineWriters,
  NewRun,
  RunActor,
  RunRecord,
  RunStop,
  ScheduleRecord,
  StepRef,
} from "./run-ports.ts";
import type { Shape } from "./shapes.ts";
import type { AnyStepType } from "./step-type.ts";

/** A fault of a definition; for text also where it stands. */
export interface CheckReport {
  valid: boolean;
  errors: Issue[];
  /** As it is stored; null where it could not be read at all. */
  definition: Record<string, unknown> | null;
  /** What a file has at the top beside it. */
  file: { id?: string; name?: string; description?: string; tags?: string[] };
  output_shape: Shape;
  steps: { id: string; type: string; output: Shape; effects: boolean }[];
  /** With `mocks`: what the steps' fields and the output would be. */
  preview?: { steps: Record<string, unknown>; output?: unknown };
}

export interface CheckOptions {
  /** Whether to look at the real databases, models, servers, secrets. */
  checkConnections: boolean;
  /** Inputs of a run, to be checked too. */
  inputs?: unknown;
  /** Outputs of steps, by id: the expressions that need no others are evaluated with them. */
  mocks?: Readonly<Record<string, unknown>> | undefined;
  /** The workflow's own id, where it has one. */
  selfId?: string | undefined;
  /** Whether `id`, `name`, `description` and `tags` may stand at the top, as in files. */
  allowFileFields?: boolean;
  signal: AbortSignal;
}

export interface RunRequest {
  workflowId: string;
  /** Left out: the published version, else the newest. */
  version?: number | undefined;
  /** In place of the version's: a retry with a patch. */
  definition?: Record<string, unknown> | undefined;
  inputs: Readonly<Record<string, unknown>>;
  /** Leaves out the inputs that the workflow does not take. */
  ignoreUnknownInputs?: boolean | undefined;
  actor: RunActor;
  trigger: RunTrigger;
  depth?: number | undefined;
  parent?: StepRef | undefined;
  /** The run that it repeats. */
  retryOf?: Pick<RunRecord, "id" | "firstRunId"> | undefined;
  scheduledFor?: string | undefined;
  /** The trace that it goes on with, as it is kept; left out or null, it begins one of its own. */
  trace?: string | null | undefined;
}

/** A limit of a key, and how much of it is left now. */
export interface RemainingUsage {
  limit: keyof PerKeyLimits;
  max: number;
  remaining: number;
  /** When all of it is there again, in milliseconds since 1970; null where that is no matter of time. */
  resetsAt: number | null;
}

/** A run that may be taken in. */
export type PreparedRun = Omit<NewRun, "status" | "stepStates" | "admitted" | "createdAt">;

export interface EngineApi {
  connections: Connections;
  stepTypes: readonly AnyStepType[];
  /** Checks a definition: an object, or YAML or JSON text. */
  check(source: unknown, options: CheckOptions): Promise<CheckReport>;
  /**
   * Makes a run ready: outside of any transaction, for it may take a while.
   * @throws AppError workflow_not_found, version_not_found, workflow_archived, workflow_not_runnable, invalid_input
   *   (paths below `inputs`)
   */
  prepareRun(request: RunRequest): Promise<PreparedRun>;
  /** Takes in a run that somebody starts, and counts it. @throws AppError too_many_runs */
  startRun(tx: EngineWriters, run: PreparedRun): Promise<void>;
  /** Stops a run; false when it had ended or been stopped before. */
  stopRun(tx: EngineWriters, runId: string, stop: RunStop): Promise<boolean>;
  /** A run's definition, defaults filled in. */
  getDefinition(run: Pick<RunRecord, "id" | "workflowId" | "version" | "definition">): Promise<Definition>;
  /** The next moments of a schedule after `after` (milliseconds). */
  nextScheduleTimes(
    schedule: Pick<ScheduleRecord, "cron" | "timezone">,
    after: number,
    count: number,
  ): number[];
  /** What `limits.per_key` leaves the key, or person; empty where nothing is limited. */
  remainingUsage(principal: Pick<Principal, "owner" | "lineage">): Promise<RemainingUsage[]>;
  /** What the operator allows. */
  policy: { approvalsByStarter: boolean };
  /** Says, after a commit, that there is something to do. */
  wake(): void;
  /**
   * Resolves once the run's `seq` has gone beyond `seq`, or the time (milliseconds) is up, or the signal is aborted;
   * whichever process moves it.
   */
  waitForChange(runId: string, seq: number, options: { ms: number; signal: AbortSignal }): Promise<void>;
  /** Aborted when this process is about to close: who waits for a run is told where it is now. */
  shutdownSignal: AbortSignal;
}
