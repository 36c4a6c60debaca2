/** What the engine needs of the store: runs and what moves them. Times are ISO text, as everywhere in the store. */
import type { ApprovalStatus, RunError, RunStatus, RunTrigger } from "../../schemas/run.ts";
import type {
  AbandonedAttempt,
  ApprovalRecord,
  AttemptRecord,
  Job,
  ListPosition,
  NewJob,
  NewRun,
  RunActor,
  RunFilter,
  RunRecord,
  RunStop,
  ScheduleRecord,
  SkippedRuns,
  StepRecord,
  StepRef,
  StepState,
  Usage,
  ValueText,
} from "./model.ts";
import type { MeteredResource } from "./usage-limits.ts";

export type * from "./model.ts";

export interface RunReader {
  find(id: string): Promise<RunRecord | undefined>;
  page(query: {
    filter: RunFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: RunRecord[]; next: ListPosition | null }>;
  count(filter: RunFilter): Promise<number>;
  /** How many runs have not ended, by status; what is missing has none. */
  countUnfinishedByStatus(): Promise<Partial<Record<RunStatus, number>>>;
  /** The newest run of each of these workflows. */
  latestByWorkflow(workflowIds: readonly string[]): Promise<Map<string, RunRecord>>;
  /** How many runs that a lineage itself has started are unfinished, `most` at most. */
  countUnfinishedFor(whose: Pick<RunActor, "owner" | "lineage">, most: number): Promise<number>;
  /** Whether runs changed: `seq` and `status` of those that exist. */
  getStatusSummaries(
    ids: readonly string[],
  ): Promise<{ id: string; seq: number; status: RunStatus; stop: RunStop | null }[]>;
  /** The run's steps (not their items) that have a record. */
  steps(runId: string, options?: { sinceSeq?: number | undefined }): Promise<StepRecord[]>;
  step(unit: StepRef): Promise<StepRecord | undefined>;
  /** Items of a fan-out, in order, from `from` on. */
  items(unit: Omit<StepRef, "item">, from: number, limit: number): Promise<StepRecord[]>;
  /** All attempts of a run, of one of its steps, or of one item; item null leaves out those of items. */
  attempts(runId: string, stepId?: string, item?: number | null): Promise<AttemptRecord[]>;
  /** What models used over all attempts of all steps and items; null where none was asked. */
  usage(runId: string): Promise<Usage | null>;
  /** Units of the run whose job is claimed: these run now. */
  runningSteps(runId: string): Promise<StepRef[]>;
  /** The beginning of a value, `undefined` where there is none. `attempt` asks for an attempt's input. */
  valueText(
    at:
      | { runId: string; what: "inputs" | "output" }
      | { runId: string; what: "step_output"; stepId: string; item: number | null }
      | { runId: string; what: "attempt_input"; stepId: string; item: number | null; attempt: number },
    range: { from: number; chars: number },
  ): Promise<ValueText | undefined>;
  /** A step's recorded output, whole. For a fan-out: see `itemOutputs`. */
  output(unit: StepRef): Promise<Record<string, unknown> | null>;
  /** The results of a fan-out, in order: each its state, error and output. */
  itemOutputs(
    unit: Omit<StepRef, "item">,
  ): Promise<{ state: StepState; error: RunError | null; output: Record<string, unknown> | null }[]>;
  runOutput(runId: string): Promise<unknown>;
  inputs(runId: string): Promise<Record<string, unknown>>;
  /** Item `index` of a fan-out's list. */
  itemChunk(unit: Omit<StepRef, "item">, chunk: number): Promise<unknown[]>;
  /** The definition of a version of a workflow. */
  versionDefinition(workflowId: string, version: number): Promise<Record<string, unknown> | null>;
  cachedOutput(key: string, now: string): Promise<Record<string, unknown> | undefined>;
}

/** How many items of a fan-out's list are kept in one row. */
export const CHUNK_ITEMS = 100;

export interface RunWriter extends RunReader {
  insert(run: NewRun): Promise<void>;
  update(
    id: string,
    fields: Partial<
      Pick<RunRecord, "status" | "stepStates" | "admitted" | "startedAt" | "finishedAt" | "error" | "stop">
    > & {
      seq: number;
      output?: unknown;
    },
  ): Promise<void>;
  /** Writes what a unit has come to; what is left out stays as it was. */
  saveStep(
    unit: StepRef,
    fields: Partial<Omit<StepRecord, "stepId" | "item">> & {
      seq: number;
      state: StepState;
      output?: Record<string, unknown>;
    },
  ): Promise<void>;
  saveAttempt(
    unit: StepRef,
    attempt: Omit<AttemptRecord, "stepId" | "item"> & { executor: string | null; input?: unknown },
  ): Promise<void>;
  saveChunk(unit: Omit<StepRef, "item">, chunk: number, items: readonly unknown[]): Promise<void>;
  /** How many runs of a workflow are unfinished and were let in. */
  countActive(workflowId: string, trigger?: RunTrigger): Promise<number>;
  /** Whether a scheduled run of the workflow is unfinished, let in or not. */
  hasScheduled(workflowId: string): Promise<boolean>;
  /** Whether at least so many runs are unfinished, of all workflows. */
  hasUnfinished(count: number): Promise<boolean>;
  /** The next run of the workflow that waits for its turn. */
  nextQueued(workflowId: string): Promise<RunRecord | undefined>;
  /** The runs of other workflows that this one waits for. */
  children(runId: string): Promise<{ unit: StepRef; childRun: string }[]>;
  /** A scheduled run of that moment exists. */
  wasScheduled(workflowId: string, at: string): Promise<boolean>;
  saveCachedOutput(key: string, expiresAt: string, output: Record<string, unknown>): Promise<void>;
  /** Marks the attempts that an executor left behind, all or those of one unit, and gives them. */
  interruptAttempts(executor: string, at: string, unit?: StepRef): Promise<AbandonedAttempt[]>;
  /** Ends what a run that has ended left open: attempts, which it gives, and steps that waited. */
  closeOpenSteps(runId: string, at: string): Promise<AbandonedAttempt[]>;
  /**
   * Deletes some of what is too old: runs that ended before a moment, with all their rows, and cached outputs.
   * @param limit about how many rows; each call holds up everybody else's writing
   * @returns whether there is more
   */
  purge(before: string, now: string, limit: number): Promise<boolean>;
}

export interface JobReader {
  /** Whether there may be something to claim at `now`. */
  hasClaimable(now: string): Promise<boolean>;
  /** When the next job that waits for its time is due. */
  nextDueAt(): Promise<string | null>;
  executors(): Promise<{ id: string; beat: number }[]>;
  /** Since when the job that has been ready for longest is ready; null where none is. */
  oldestReadyAt(): Promise<string | null>;
  /** For metrics and tests. */
  depth(): Promise<{ ready: number; later: number; claimed: number }>;
}

export interface JobWriter extends JobReader {
  add(job: NewJob): Promise<void>;
  /**
   * Claims up to `limit` jobs for an executor: those that are due, by priority, then by age.
   * @param limits for each resource the most that may be claimed at a time, over all executors
   * @param suspects `alone`: a suspect job goes first, and nothing beside it; `drain`: while there is one, nothing is
   *   taken, so that it can be; `skip`: the others have their turn
   */
  claim(
    executor: string,
    options: {
      now: string;
      limit: number;
      limits: ReadonlyMap<string, number>;
      suspects: "alone" | "drain" | "skip";
    },
  ): Promise<Job[]>;
  /** Whether the job is still this holder's. */
  isClaimedBy(job: Job, executor: string): Promise<boolean>;
  /** Ends the job; false when it is no longer this holder's, and then nothing may be written. */
  complete(job: Job, executor: string): Promise<boolean>;
  /** Gives the job back, to be claimed again at `dueAt`; false when it is no longer this holder's. */
  release(
    job: Job,
    executor: string,
    options: { dueAt: string | null; attempt: number; retryCount: number },
  ): Promise<boolean>;
  /**
   * Drops the run's jobs that nobody has claimed; gives their units. What belongs to the time after its end stays.
   * @param ended else also what its end still needs stays: its time-out, and word of the runs that it waits for
   */
  dropUnclaimed(runId: string, options: { ended: boolean }): Promise<StepRef[]>;
  /** Drops the unclaimed jobs of one unit. */
  dropStepJobs(unit: StepRef): Promise<void>;
  /** Units of the run with a claimed job that will settle them. */
  claimedSteps(runId: string): Promise<StepRef[]>;
  /** Whether an attempt of the step, or of one of its items, is under way or will be. */
  hasJobForStep(runId: string, stepId: string): Promise<boolean>;
  heartbeat(executor: string, at: string): Promise<void>;
  /** Strikes an executor off and takes the jobs that it holds over: they are suspect from now on. Gives how many. */
  reclaim(executor: string): Promise<number>;
}

export interface ApprovalReader {
  find(id: string): Promise<ApprovalRecord | undefined>;
  findByStep(unit: StepRef): Promise<ApprovalRecord | undefined>;
  page(query: {
    filter: { status?: ApprovalStatus | undefined; runId?: string | undefined };
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: ApprovalRecord[]; next: ListPosition | null }>;
  count(filter: { status?: ApprovalStatus | undefined; runId?: string | undefined }): Promise<number>;
}

export interface ApprovalWriter extends ApprovalReader {
  insert(approval: ApprovalRecord): Promise<void>;
  /** The first decision counts: false when it was no longer pending. */
  decide(
    id: string,
    decision: Pick<ApprovalRecord, "status" | "decidedAt" | "decidedBy" | "comment" | "answer">,
  ): Promise<boolean>;
  cancelForRun(runId: string, at: string): Promise<void>;
}

export interface ScheduleReader {
  find(workflowId: string): Promise<ScheduleRecord | undefined>;
  due(now: string, limit: number): Promise<ScheduleRecord[]>;
  /** Soonest first; those that are paused or have no next moment come last. */
  page(query: {
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: ScheduleRecord[]; next: ListPosition | null }>;
  count(): Promise<number>;
  nextAt(): Promise<string | null>;
}

export interface ScheduleWriter extends ScheduleReader {
  save(schedule: ScheduleRecord): Promise<void>;
  remove(workflowId: string): Promise<void>;
  /** Moves it on; false when another copy did, or it was paused or published anew. */
  advance(
    workflowId: string,
    from: string,
    fields: { version: number; nextAt: string | null; lastAt?: string; skipped?: SkippedRuns },
  ): Promise<boolean>;
}

/** What keys have used, by lineage, kind and window (the moment that it ends at, in milliseconds): see usage-limits.ts. */
export interface UsageReader {
  /** How much of a window is used. */
  usedInWindow(holder: string, kind: MeteredResource, endsAt: number): Promise<number>;
}

export interface UsageWriter extends UsageReader {
  /** Counts `amount` more; gives how much is used with it. */
  add(holder: string, kind: MeteredResource, endsAt: number, amount: number): Promise<number>;
}

/** What a transaction is part of, and what follows it. */
export interface TransactionScope {
  /** The request that it is part of; null where it is the engine's own. */
  requestId: string | null;
  /** Has something done once it is committed: said in a log, counted. What is rolled back is neither. */
  onCommit(then: () => void): void;
}

/** Everything the engine writes, in one transaction. */
export interface EngineWriters extends TransactionScope {
  usage: UsageWriter;
  runs: RunWriter;
  jobs: JobWriter;
  approvals: ApprovalWriter;
  schedules: ScheduleWriter;
}

export interface EngineReaders {
  usage: UsageReader;
  runs: RunReader;
  jobs: JobReader;
  approvals: ApprovalReader;
  schedules: ScheduleReader;
}

export type EngineTransaction = <T>(work: (tx: EngineWriters) => Promise<T>) => Promise<T>;
