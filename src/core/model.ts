/**
 * The plain types that ports, connections and the engine share. This file imports nothing but schemas, so that every
 * other file of core can import it. Times are ISO 8601 text in UTC.
 */
import type { Surface } from "../../schemas/actor.ts";
import type { BacktestReads } from "../../schemas/backtest.ts";
import type { Visibility } from "./access.ts";
import type { StepState, StepStates } from "./step-states.ts";
import type { ApprovalEventRecord, ApprovalRules, PersonDecision } from "./approval-rules.ts";
import type { ApprovalStatus, AttemptStatus, RunError, RunStatus, RunTrigger } from "../../schemas/run.ts";

/** A place in a sorted list: the sort value and the id of the last item seen. */
export type ListPosition = readonly [value: string, id: string];

/** Part of a sorted list. */
export interface Page<T> {
  items: T[];
  /** The position after the last item; null on the last page. */
  next: ListPosition | null;
}

/** Tokens that a model used, and their cost. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  /** In the unit of the configured prices; null without prices. */
  cost: number | null;
}

/** A step of a run, or one item of its fan-out. */
export interface StepRef {
  runId: string;
  stepId: string;
  /** Index of the item in the fan-out, from 0; null for the step itself. */
  item: number | null;
}

/** The caller on whose behalf a run is executed. */
export interface RunActor {
  owner: string;
  keyName: string;
  lineage: string;
  surface: Surface;
  client: string;
}

/**
 * Somebody who caused a run besides its actor: who started a run that it repeats, who delivered again what started it, who changed its
 * definition for it, and anyone who knows the URL of a trigger without a signature. They are recorded with the run when it starts, and
 * the runs that it starts have them too. Who says what an interrupted step returned is added when they do.
 */
export type RunCause =
  | (Pick<RunActor, "owner" | "keyName" | "lineage"> & {
      kind: "started" | "redelivered" | "patched" | "step" | "settled";
      /** The run, the delivery or the interruption with which they caused it. */
      by: string;
    })
  | { kind: "unsigned" }
  /**
   * The versions that wrote its inputs, where no run of them waits for it: of the failed run whose `on_failure` started it, or of the runs
   * that waited for a run that it repeats. They are kept here because that run may be purged.
   */
  | { kind: "inputs"; by: string; versions: readonly VersionRef[] };

/** A version of a workflow. */
export interface VersionRef {
  workflowId: string;
  version: number;
}

/** Why a run must end before its steps have. */
export type RunStop = ({ status: "cancelled"; by: string } | { status: "failed"; error: RunError }) & {
  /** Whether the run undoes its steps. Everything else in it has ended, and nothing stops it any more. */
  undoing?: true;
};

/** The run that `on_failure` starts for a failed run. */
export interface FailureHandler {
  workflowId: string;
  /** The started run; null while it has not started, and when it can't. */
  runId: string | null;
  /** Why it could not start. */
  error: RunError | null;
}

/**
 * The versions of the workflows that a run calls, directly and through them, by their ids. They are chosen when the run
 * starts, so that nothing that is published later changes what it does.
 */
export type RunPins = Readonly<Record<string, number>>;

/** What a trial run is given. A trial executes no step with effects, and changes no state. */
export interface Trial {
  /** Outputs by step id. Each replaces its step wholly. */
  given: Readonly<Record<string, Record<string, unknown>>>;
  /** CEL expressions that must be true when its steps have ended. */
  assert?: readonly (string | boolean)[] | undefined;
}

/** The run of the past that a trial runs again: a trial of a backtest. */
export interface Replay {
  /** The run of the past. Its inputs and state are those of the trial, and its recorded outputs stand in for steps. */
  runId: string;
  /** The workflow of that run. Only callers who can find it too see the trial, because the values are those of its run. */
  workflowId: string;
  backtest: string;
  /** What happens where a step that only reads has another input: see `BacktestReads`. */
  reads: BacktestReads;
}

/** Stands for the run that an output was reused from, where a trial was given the output. */
export const GIVEN = "given";

export interface RunRecord {
  id: string;
  /** The project of its workflow when it started; it never changes. */
  project: string;
  /** Null in a run of a single step, which belongs to no workflow. */
  workflowId: string | null;
  /** 0 in a run of a single step. */
  version: number;
  /** The run's own definition (a retry with a patch, a single step); null when it runs its version's definition. */
  definition: Record<string, unknown> | null;
  /** Null where it calls no workflow, and for a run that an older release started: that one calls what is published then. */
  pins: RunPins | null;
  status: RunStatus;
  stepStates: StepStates;
  /** Counts the run's updates: it grows by one with each. */
  seq: number;
  /** The bytes of its inputs, and of the inputs and outputs of its steps. */
  storedBytes: number;
  /** False while the run waits in the queue of its workflow. */
  admitted: boolean;
  stop: RunStop | null;
  trigger: RunTrigger;
  priority: number;
  depth: number;
  firstRunId: string;
  retryOf: string | null;
  /** Whether it is a trial: see `Trial`. */
  isTrial: boolean;
  /** Set for the trials of backtests only. */
  replay: Replay | null;
  parent: StepRef | null;
  scheduledFor: string | null;
  /** The backfill that started it for this time; null for all other runs. */
  backfill: string | null;
  /** The trace that the run belongs to, serialized by core/trace-context.ts; null without one. */
  trace: string | null;
  /** The revision of the workflow's state that its commit replaces; null when it commits nothing. */
  stateRevision: number | null;
  actor: RunActor;
  /** Everybody else who caused it. */
  causes: readonly RunCause[];
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  error: RunError | null;
  /** Set when the run has failed and its definition has `on_failure`. */
  onFailure: FailureHandler | null;
}

/** Facts about a step that its check has found, stored with each run: plain JSON. */
export type StepFacts = Readonly<Record<string, unknown>>;

/** The facts of a definition's steps, by their ids. */
export type RunFacts = Readonly<Record<string, StepFacts>>;

/** A run to insert. Its values may be large, so a `RunRecord` does not hold them. */
export type NewRun = Omit<
  RunRecord,
  "seq" | "storedBytes" | "stop" | "startedAt" | "finishedAt" | "error" | "onFailure"
> & {
  /** Set for a trial only. */
  trial: Trial | null;
  inputs: Record<string, unknown>;
  /** The state of its workflow that it reads; null when the workflow declares none, or before admission. */
  state: Record<string, unknown> | null;
  /** What the check found and its steps need when they run; null where no step needs any. */
  facts: RunFacts | null;
};

/** The latest state of a step, or of an item of its fan-out. There is none before its first job has run. */
export interface StepRecord {
  stepId: string;
  item: number | null;
  seq: number;
  state: StepState;
  attempts: number;
  startedAt: string | null;
  finishedAt: string | null;
  inputHash: string | null;
  /** The run whose recorded output was reused, `cache`, or `given` in a trial. */
  reusedFrom: string | null;
  childRun: string | null;
  waitUntil: string | null;
  items: { total: number; started: number; done: number; failed: number; bytes: number } | null;
  error: RunError | null;
}

/** One execution of a step, or of an item of its fan-out. */
export interface AttemptRecord {
  stepId: string;
  item: number | null;
  attempt: number;
  status: AttemptStatus;
  startedAt: string;
  finishedAt: string | null;
  usage: Usage | null;
  error: RunError | null;
  /** The idempotency key of its effect, where sending it again may double the effect; else null. */
  effectKey: string | null;
}

/** An attempt that was ended from outside, because its executor died or its run ended. */
export type AbandonedAttempt = StepRef & Pick<AttemptRecord, "attempt" | "startedAt" | "effectKey">;

export interface RunFilter {
  /** Only in this project. */
  project?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
  workflowId?: string | undefined;
  status?: readonly RunStatus[] | undefined;
  /** Only runs with this trigger. Left out, replays are not listed: a backtest has up to 1,000 of them. */
  trigger?: RunTrigger | undefined;
  /** Only trials, or only runs that are none. */
  isTrial?: boolean | undefined;
  /** Only those that this backfill started. */
  backfill?: string | undefined;
  /** Only retries of this run. */
  retryOf?: string | undefined;
  /** Created at this time or later. */
  since?: string | undefined;
  /** Created before this time. */
  until?: string | undefined;
}

/** The JSON text of a value, or the beginning of it. */
export interface ValueText {
  text: string;
  /** Length of the full value, in characters. */
  chars: number;
}

export type JobKind =
  | "step"
  | "wake"
  | "decided"
  | "event"
  | "child_done"
  | "finish"
  | "undo"
  | "cancel"
  | "run_timeout"
  | "on_failure"
  | "notify"
  | "remind"
  | "escalate"
  | "announce";

/** The kinds of jobs that stop work. They go before the work that they stop. */
export const STOPPING_KINDS: readonly JobKind[] = ["cancel", "run_timeout"];

/** The priority of the runs of backfills, and of the runs that these start: below every one that a definition can set. */
export const BACKFILL_PRIORITY = -20;

/** The priority of jobs that stop work, above that of every run. */
export const STOP_PRIORITY = 100;

/** Limits how often something starts, over all executors. */
export interface Rate {
  /** What is limited, and how much. */
  key: string;
  /** The pause between two starts, in milliseconds. */
  intervalMs: number;
}

/** A slot of a rate that a claim has taken. */
export interface RateSlot {
  key: string;
  /** The time of the slot after it, in milliseconds since 1970. */
  nextAt: number;
}

export interface NewJob extends StepRef {
  kind: JobKind;
  priority: number;
  /** The earliest time at which it may be claimed; null for at once. */
  dueAt: string | null;
  /** The resource that it uses while it is claimed, for concurrency limits and rates. */
  resource: string | null;
  /** The rate that its step sets. */
  rate?: Rate | null;
  attempt: number;
  /** Retries so far that `retry` of the step counts: 0 on the first attempt. */
  retryCount: number;
}

/** A job as its executor claimed it. */
export interface Job extends StepRef {
  id: number;
  kind: JobKind;
  /** The usage subject (usage-limits.ts) and the workflow of its run. */
  subject: string;
  workflowId: string;
  priority: number;
  resource: string | null;
  attempt: number;
  retryCount: number;
  /** Identifies this claim: it grows with every claim, so an earlier holder can no longer write. */
  fence: number;
  /** Whether two executors died while they held the job: it runs isolated from then on. */
  quarantined: boolean;
  /** How many executors the job may have crashed: the two before it was quarantined, then those that ran only this job. */
  crashCount: number;
  /** The slots that this claim has taken, of the rates of its step and its resource. */
  rateSlots?: readonly RateSlot[];
}

export interface ApprovalRecord extends StepRef {
  id: string;
  /** That of its run. */
  project: string;
  /** That of its run: null in a run of a single step. */
  workflowId: string | null;
  status: ApprovalStatus;
  message: string;
  form: Record<string, unknown> | null;
  assignees: string[];
  createdAt: string;
  expiresAt: string | null;
  decidedAt: string | null;
  decidedBy: string | null;
  comment: string | null;
  answer: Record<string, unknown> | null;
  /**
   * What could run after it when it was asked, or when it was decided: one digest for its run, one for the parent of that
   * run, and so on. Null when an older release asked it.
   */
  plan: readonly string[] | null;
  rules: ApprovalRules;
  /** What each person decided, in the order of time; also for plans that have changed since. */
  decisions: readonly PersonDecision[];
  /** What happened to it before its end, in the order of time. */
  events: readonly ApprovalEventRecord[];
  /** The values to decide on, by name; null for none. */
  evidence: Readonly<Record<string, unknown>> | null;
  delivery: ApprovalDelivery;
  /** How it was decided, if not over the API or in the interface. */
  decidedVia: "link" | "slack" | null;
}

/** How people are asked for a decision. */
export interface ApprovalDelivery {
  /** Whether a link in the mail decides, without an account. */
  byLink: boolean;
  /** The names of the chats of the configuration that are asked. */
  chat: readonly string[];
}

export interface ScheduleRecord {
  workflowId: string;
  /** That of its workflow. */
  project: string;
  version: number;
  cron: string;
  timezone: string;
  overlap: "skip" | "queue";
  paused: boolean;
  nextAt: string | null;
  lastAt: string | null;
  skipped: SkippedRuns | null;
  actor: Omit<RunActor, "surface" | "client">;
}

/** The scheduled times that a schedule last skipped, and why. */
export interface SkippedRuns {
  reason: "overlap" | "missed" | "failed" | "limit";
  count: number;
  first: string;
  last: string;
  noted_at: string;
  message: string;
}
