/**
 * The interfaces of the store for the engine: runs, schedules, usage. The guarantees hold at READ COMMITTED, between
 * any number of processes (see `EngineTransaction` for the general rules).
 */
import type {
  ApprovalLinkReader,
  ApprovalLinkWriter,
  ApprovalMessageReader,
  ApprovalMessageWriter,
} from "./approval-delivery-ports.ts";
import type { EncodedJson } from "./encoded-json.ts";
import type { RunError, RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { ApprovalReader, ApprovalWriter } from "./approval-ports.ts";
import type { BackfillReader, BackfillWriter } from "./backfill-ports.ts";
import type { BacktestReader, BacktestWriter } from "./backtest-ports.ts";
import type { BulkActionReader, BulkActionWriter } from "./bulk-action-ports.ts";
import type { EventReader, EventWriter } from "./event-ports.ts";
import type { InterruptionReader, InterruptionWriter } from "./interruption-ports.ts";
import type { JobReader, JobWriter } from "./job-ports.ts";
import type {
  AbandonedAttempt,
  AttemptRecord,
  NewRun,
  ListPosition,
  RunActor,
  RunFacts,
  RunFilter,
  RunRecord,
  RunStop,
  StepRecord,
  StepRef,
  Trial,
  Usage,
  ValueText,
} from "./model.ts";
import type { ScheduleReader, ScheduleWriter } from "./schedule-ports.ts";
import type {
  DeliveryQueueReader,
  DeliveryQueueWriter,
  ExpectationReader,
  ExpectationWriter,
  KeyNoticeReader,
  KeyNoticeWriter,
  OutboxWriter,
} from "./subscription-ports.ts";
import type { Applied, LockMode, TransactionScope } from "./transactions.ts";
import type {
  TriggerDeliveryReader,
  TriggerDeliveryWriter,
  TriggerReader,
  TriggerWriter,
} from "./trigger-ports.ts";
import type { StepState } from "./step-states.ts";
import type { MeteredResource, ProjectLimitsReader } from "./usage-limits.ts";
import type { WorkflowStateReader, WorkflowStateWriter } from "./workflow-state-ports.ts";

/** What a run did with the items of a fan-out, or the iterations of a loop. */
export interface ItemReuse {
  /** Number of those whose recorded outputs were reused. */
  reused: number;
  executed: number;
}

/** What changes about a run. */
export interface RunSummary {
  id: string;
  /** Greater after each change. */
  seq: number;
  status: RunStatus;
  stop: RunStop | null;
}

/** A value that is read of each run of a scan. */
export type ScannedValue =
  | { what: "inputs" | "output" | "state" | "committed" }
  | { what: "step_output"; stepId: string; item: number | null };

/** The JSON text of such a value: empty where it is too long, or where a step has no output. */
export interface ScannedText extends ValueText {
  /** The state of a step or item. */
  state?: StepState;
}

/** A run as a scan reads it. */
export interface ScannedRun extends Pick<
  RunRecord,
  "id" | "workflowId" | "version" | "status" | "trigger" | "createdAt" | "startedAt" | "finishedAt" | "error"
> {
  /** The values in the order of the query; undefined where the run has none. */
  values: readonly (ScannedText | undefined)[];
}

export interface RunReader {
  find(id: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  page(query: {
    filter: RunFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: RunRecord[]; next: ListPosition | null }>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: RunFilter): Promise<number>;
  /**
   * Reads a few columns of many runs, newest first, with the JSON texts of values.
   * @param query.values recorded values of each run
   * @param query.maxChars maximum length of a text that is read, in characters; of a longer one only its length is
   */
  scan(query: {
    filter: RunFilter;
    after: ListPosition | null;
    limit: number;
    values: readonly ScannedValue[];
    maxChars: number;
  }): Promise<{ items: ScannedRun[]; next: ListPosition | null }>;
  /** Which of these runs another run retries. */
  retriedOf(ids: readonly string[]): Promise<Set<string>>;
  /** Number of unfinished runs by status; a status without runs is missing. */
  countUnfinishedByStatus(): Promise<Partial<Record<RunStatus, number>>>;
  /**
   * The newest run of each of these workflows; trials do not count.
   * @param projects only runs of these projects; null or left out, of all
   */
  latestByWorkflow(
    workflowIds: readonly string[],
    projects?: readonly string[] | null,
  ): Promise<Map<string, RunRecord>>;
  /** Number of unfinished runs of the actor, those of its schedules and its runs included. */
  countUnfinishedFor(actor: Pick<RunActor, "owner" | "lineage">): Promise<number>;
  /** Number of unfinished runs of a project. */
  countUnfinishedOf(project: string): Promise<number>;
  /** `seq`, status and stop of those runs that exist. Cheap enough to call after every change. */
  getStatusSummaries(ids: readonly string[]): Promise<RunSummary[]>;
  /** The run's steps that have a record, without the items of fan-outs. */
  steps(runId: string, options?: { sinceSeq?: number | undefined }): Promise<StepRecord[]>;
  step(ref: StepRef): Promise<StepRecord | undefined>;
  /** Items of a fan-out, in order, starting with item `from`. */
  items(step: Omit<StepRef, "item">, from: number, limit: number): Promise<StepRecord[]>;
  /** Those of them that have failed. Reads at most the items of the step, in parts. */
  failedItems(step: Omit<StepRef, "item">, from: number, limit: number): Promise<StepRecord[]>;
  /** How many items or iterations were executed in the run, and how many reused, by step; without steps that have none. */
  itemReuse(runId: string): Promise<Map<string, ItemReuse>>;
  /** The numbers of the first items or iterations that were executed in this run, and not reused. */
  executedItems(step: Omit<StepRef, "item">, limit: number): Promise<number[]>;
  /** The newest attempts of a step or item, at most `limit` of them, oldest first. */
  lastAttempts(ref: StepRef, limit: number): Promise<AttemptRecord[]>;
  /** The usage of models over all attempts of the run; null when no model was called. */
  usage(runId: string): Promise<Usage | null>;
  /** The steps and items of the run whose job is claimed. */
  runningSteps(runId: string): Promise<StepRef[]>;
  /** The earliest slot (milliseconds since 1970) that each step of the run, or an item of it, waits for at `now`. */
  rateWaits(runId: string, now: number): Promise<Map<string, number>>;
  /** When the next attempt of each step of the run, or of an item of it, is due (ISO 8601), where that is later. */
  attemptsDue(runId: string): Promise<Map<string, string>>;
  /** Part of a value's JSON text; undefined without a value. `attempt_input` is the input of one attempt. */
  valueText(
    at:
      | { runId: string; what: "inputs" | "output" | "state" | "committed" }
      | { runId: string; what: "step_output"; stepId: string; item: number | null }
      | {
          runId: string;
          what: "attempt_input";
          stepId: string;
          item: number | null;
          attempt: number;
        },
    range: { from: number; chars: number },
  ): Promise<ValueText | undefined>;
  /** The output of a step or item. For a whole fan-out see `itemOutputs`. */
  output(ref: StepRef): Promise<Record<string, unknown> | null>;
  /** The same as `output`, not parsed. */
  outputJson(ref: StepRef): Promise<EncodedJson | null>;
  /** State, error and output of each item of a fan-out, in order. */
  itemOutputs(
    step: Omit<StepRef, "item">,
  ): Promise<{ state: StepState; error: RunError | null; output: Record<string, unknown> | null }[]>;
  runOutput(runId: string): Promise<unknown>;
  inputs(runId: string): Promise<Record<string, unknown>>;
  /** The state of its workflow that the run reads; null when the workflow declares none. */
  state(runId: string): Promise<Record<string, unknown> | null>;
  /** What a trial is given; null for a run that is none. */
  trial(runId: string): Promise<Trial | null>;
  /** What the check of the run's definition found; null where no step needs any. */
  facts(runId: string): Promise<RunFacts | null>;
  /** The items `chunk * CHUNK_ITEMS` and following of a fan-out's list, up to `CHUNK_ITEMS` of them. */
  itemChunk(step: Omit<StepRef, "item">, chunk: number): Promise<unknown[]>;
  /** The definition of a version of a workflow. */
  versionDefinition(workflowId: string, version: number): Promise<Record<string, unknown> | null>;
  cachedOutput(key: string, now: string): Promise<EncodedJson | undefined>;
}

/** Number of items of a fan-out's list in one row. */
export const CHUNK_ITEMS = 100;

/** The fields of a run that an update may change. */
type RunChanges = Partial<
  Pick<
    RunRecord,
    | "status"
    | "stepStates"
    | "admitted"
    | "startedAt"
    | "finishedAt"
    | "error"
    | "stop"
    | "onFailure"
    | "stateRevision"
    | "causes"
  >
> & { seq: number; output?: unknown; state?: Record<string, unknown> | null; committed?: unknown };

/** The runs that wait for each other: of one workflow in one project. Runs that a move left behind delay none of the others. */
interface RunQueue {
  workflowId: string;
  project: string;
}

/** Reads inside a write transaction see its own writes. Methods that change a run require `lock`. */
export interface RunWriter extends RunReader {
  /**
   * Locks a run's row and reads it. Every update of a run begins with it.
   *
   * Guarantee: the record, and whatever is read of this run afterwards, holds every change that was committed before;
   * no other transaction changes the run until this one ends. So of two steps that end together the second sees what
   * the first has recorded.
   * Locks: the run's row, until the transaction ends (`select … for update`).
   * Concurrent callers: wait until the transaction that holds the lock has ended.
   * @returns the run; undefined when it does not exist
   */
  lock(id: string): Promise<RunRecord | undefined>;
  /**
   * Locks the queue of a workflow's runs, so that admitting one and counting the active ones are one step. A transaction that
   * counts needs it `exclusive`. One that starts or ends a run without counting shares it: it waits for those that count, and
   * they for it.
   *
   * Guarantee: until a transaction with the exclusive lock ends, no other one admits, inserts or ends a run of this workflow.
   * Locks: the queue (an advisory lock, or a row), until the transaction ends.
   * Concurrent callers: wait, unless all of them share it.
   */
  lockQueue(workflowId: string, mode: LockMode): Promise<void>;
  /**
   * Locks the starts of one usage subject, so that counting its unfinished runs and inserting one are one step.
   * Locks and concurrent callers as for an exclusive `lockQueue`.
   */
  lockStarts(subject: string): Promise<void>;
  /**
   * Inserts a run. Requires `lockQueue` of its workflow.
   *
   * Guarantee: there is at most one scheduled run for each workflow and time (a unique constraint).
   */
  insert(run: NewRun): Promise<void>;
  /** Changes a run; fields that are left out keep their values. Requires `lock`. */
  update(id: string, fields: RunChanges): Promise<void>;
  /** Inserts or changes the record of a step or item; fields that are left out keep their values. Requires `lock`. */
  saveStep(
    ref: StepRef,
    fields: Partial<Omit<StepRecord, "stepId" | "item">> & {
      seq: number;
      state: StepState;
      output?: EncodedJson;
    },
  ): Promise<void>;
  /** Inserts or replaces an attempt; without `input` and `effectKey` it keeps them. Requires the job's claim, or `lock`. */
  saveAttempt(
    ref: StepRef,
    attempt: Omit<AttemptRecord, "stepId" | "item" | "effectKey"> & {
      executor: string | null;
      input?: EncodedJson;
      effectKey?: string | undefined;
    },
  ): Promise<void>;
  /** Stores part of a fan-out's list, see `itemChunk`. */
  saveChunk(step: Omit<StepRef, "item">, chunk: number, items: readonly unknown[]): Promise<void>;
  /** Number of admitted, unfinished runs of a workflow in a project, without replays. Exact while an exclusive `lockQueue` is held. */
  countActive(queue: RunQueue, trigger?: RunTrigger): Promise<number>;
  /** Number of its unfinished scheduled runs, admitted or not. Exact while its schedule is locked. */
  countScheduled(queue: RunQueue): Promise<number>;
  /** Number of unfinished runs of all owners. Takes no lock: concurrent starts can exceed a limit together. */
  countAllUnfinished(): Promise<number>;
  /**
   * The next queued run of the workflow in the project: owners take turns, and the runs of one come by priority, then by age.
   *
   * Locks: the row of the run that it returns. Requires `lockQueue`.
   * Concurrent callers: it skips a run that another transaction has locked, because that transaction is ending the run.
   * @param lastOwner the usage subject whose turn was last; empty for none
   */
  nextQueued(queue: RunQueue, lastOwner: string): Promise<RunRecord | undefined>;
  /**
   * The step, or item of a fan-out, that is undone next: the last one that succeeded in this run and has no record of its
   * undo yet. Reused outputs are not undone. @param stepIds the steps that can be undone
   */
  nextToUndo(runId: string, stepIds: readonly string[]): Promise<StepRef | undefined>;
  /** Number of items of a fan-out that succeeded in this run. */
  countToUndo(runId: string, stepId: string): Promise<number>;
  /** The undo steps and items that failed, at most 20. */
  failedUndos(runId: string): Promise<{ ref: StepRef; error: RunError }[]>;
  /** Whether a run that this one started has not ended. */
  hasUnfinishedChildren(runId: string): Promise<boolean>;
  /** The sub-workflow runs that steps of this run are waiting for. */
  children(runId: string): Promise<{ ref: StepRef; childRun: string }[]>;
  /** Those of these times for which the workflow has a scheduled run. */
  scheduledTimes(workflowId: string, times: readonly string[]): Promise<ReadonlySet<string>>;
  /** Stores an output in the cache. Of concurrent writes with one key, the last one wins. */
  saveCachedOutput(key: string, expiresAt: string, output: EncodedJson): Promise<void>;
  /**
   * Ends the running attempts of an executor as interrupted: all of them, or those of one step.
   *
   * Guarantee: of concurrent callers one gets each attempt.
   * Locks: the rows of the attempts. Call it after `jobs.reclaim`.
   */
  interruptAttempts(executor: string, at: string, ref?: StepRef): Promise<AbandonedAttempt[]>;
  /** Cancels the open attempts and steps of a run that ends. Requires `lock`. @returns the cancelled attempts */
  closeOpenSteps(runId: string, at: string): Promise<AbandonedAttempt[]>;
  /**
   * Deletes expired cached outputs, and runs that ended before a time, with all their rows.
   *
   * Concurrent callers: may delete the same rows; each row is deleted once.
   * @param limit about the number of rows that one call deletes: others can't write meanwhile
   * @returns whether there is more to delete
   */
  purge(before: string, now: string, limit: number): Promise<boolean>;
}

/** The usage of a subject (usage-limits.ts) in a window. Its end, in milliseconds since 1970, identifies the window. */
export interface UsageReader extends ProjectLimitsReader {
  usedInWindow(subject: string, kind: MeteredResource, endsAt: number): Promise<number>;
  /**
   * The bytes that a subject stores: the values of its runs, and the versions and states of workflows that it wrote, each at
   * its full size. For a project, those of its runs and workflows.
   *
   * Guarantee: writers add what they store in the same transaction, and purges subtract it; none of concurrent changes is
   * lost. Locks: none.
   */
  storedBytes(subject: string): Promise<number>;
}

export interface UsageWriter extends UsageReader {
  /**
   * Adds an amount that has already been used, even beyond the limit.
   *
   * Guarantee: an atomic add; none of concurrent adds is lost.
   * Locks: the row of the window, until the transaction ends.
   * @returns the sum, this amount included
   */
  add(subject: string, kind: MeteredResource, endsAt: number, amount: number): Promise<number>;
  /**
   * Adds an amount unless the sum would exceed `max`.
   *
   * Guarantee: an atomic compare and add; concurrent callers never exceed `max` together.
   * Locks: the row of the window, until the transaction ends.
   * @returns false when the sum would exceed `max`; nothing was added then
   */
  reserve(
    subject: string,
    kind: MeteredResource,
    endsAt: number,
    reservation: { amount: number; max: number },
  ): Promise<Applied>;
}

/** A secret that a step is about to use: its name, never its value, and the host that it is sent to. */
export interface SecretUse {
  /** The name of an entry of `secrets`; of the login of a connection, that of its variable. */
  secret: string;
  /** The connection that logs in with it, such as `database:shop`; left out for an entry of `secrets`. */
  connection?: string;
  /** With the port, where it is not the default one. */
  host: string;
}

/** Records the uses of secrets in the audit log. */
export interface SecretUseWriter {
  /**
   * Adds an entry for each use, in the name of who started the run, with the record of the attempt.
   *
   * Locks: the newest audit entry, until the transaction ends, so it comes last.
   */
  record(attempt: StepRef & { attempt: number }, uses: readonly SecretUse[]): Promise<void>;
}

/** Everything that the engine writes, in one transaction. */
export interface EngineWriters extends TransactionScope {
  usage: UsageWriter;
  runs: RunWriter;
  jobs: JobWriter;
  interruptions: InterruptionWriter;
  approvals: ApprovalWriter;
  approvalLinks: ApprovalLinkWriter;
  approvalMessages: ApprovalMessageWriter;
  schedules: ScheduleWriter;
  workflowStates: WorkflowStateWriter;
  events: EventWriter;
  triggers: TriggerWriter;
  triggerDeliveries: TriggerDeliveryWriter;
  secretUses: SecretUseWriter;
  backfills: BackfillWriter;
  backtests: BacktestWriter;
  bulkActions: BulkActionWriter;
  outbox: OutboxWriter;
  deliveryQueue: DeliveryQueueWriter;
  expectations: ExpectationWriter;
  keyNotices: KeyNoticeWriter;
}

export interface EngineReaders {
  usage: UsageReader;
  runs: RunReader;
  jobs: JobReader;
  interruptions: InterruptionReader;
  approvals: ApprovalReader;
  approvalLinks: ApprovalLinkReader;
  approvalMessages: ApprovalMessageReader;
  schedules: ScheduleReader;
  workflowStates: WorkflowStateReader;
  events: EventReader;
  triggers: TriggerReader;
  triggerDeliveries: TriggerDeliveryReader;
  backfills: BackfillReader;
  backtests: BacktestReader;
  bulkActions: BulkActionReader;
  deliveryQueue: DeliveryQueueReader;
  expectations: ExpectationReader;
  keyNotices: KeyNoticeReader;
}

/**
 * Runs `work` in one write transaction, which commits when `work` resolves and rolls back when it throws.
 *
 * Isolation: READ COMMITTED or stricter. Nothing else may be assumed: SQLite happens to run write transactions one after
 * the other, so there the methods that only lock are reads.
 * Locks are taken in this order: claims of jobs and of deliveries to webhooks, backfills, backtests, bulk actions, starts, usage,
 * runs, states and queues of workflows, interruptions, approvals and schedules, expectations, deliveries and subscriptions, the newest audit entry. A
 * database that aborts a transaction nevertheless (deadlock, serialization failure) must run `work` again, in a new
 * transaction. So `work` may run more than once: whatever leaves the transaction goes through `onCommit`.
 * @throws AppError busy, storage_unavailable
 */
export type EngineTransaction = <T>(work: (tx: EngineWriters) => Promise<T>) => Promise<T>;
