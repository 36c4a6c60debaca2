/** The rows of runs, of their steps and jobs, and of backfills. */
import type { Generated, GeneratedAlways } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
import type { BackfillStatus, ExistingRuns } from "../../schemas/backfill.ts";
import type { AttemptStatus, RunStatus, RunTrigger } from "../../schemas/run-status.ts";
import type { JobKind } from "../core/model.ts";

export interface RunRow {
  id: string;
  /** Null in a run of a single step. */
  workflow_id: string | null;
  version: number;
  /** A definition that differs from that of the version: a retry with a patch. */
  definition: string | null;
  /** The versions of the workflows that it calls, as JSON by id; null where it calls none, or an older release started it. */
  pins: string | null;
  status: RunStatus;
  /** One letter a step, by position (core/run-ports.ts). */
  states: string;
  /** Increases with every change of the run; run_steps.seq has the value of a step's last change. */
  seq: number;
  /** 0 while the run is queued (concurrency, overlap). */
  admitted: number;
  /** Why the run must stop, as JSON; null while it may continue. */
  stop: string | null;
  trigger: RunTrigger;
  priority: number;
  /** The usage subject of its actor (core/usage-limits.ts). */
  subject: GeneratedAlways<string>;
  depth: number;
  first_run: string;
  retry_of: string | null;
  parent_run: string | null;
  parent_step: string | null;
  parent_item: number | null;
  scheduled_for: string | null;
  /** The backfill that started it; null for all other runs. */
  backfill: string | null;
  /** `traceparent`, a space and `tracestate`. */
  trace: string | null;
  /** JSON by step id; null where no step needs any. */
  facts: string | null;
  owner: string;
  key_name: string;
  lineage: string;
  surface: Surface;
  client: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
  /** The run that `on_failure` started or could not start, as JSON. */
  on_failure: string | null;
  inputs: string;
  output: string | null;
  /** The state that the run reads, as JSON; null when its workflow declares none. */
  state: string | null;
  /** The revision that its commit replaces; null when it commits nothing. */
  state_revision: number | null;
  /** What it has committed, as JSON. */
  committed: string | null;
  /** Bytes of its values and those of its steps. */
  stored_bytes: number;
  /** The project of its workflow when it started. */
  project: string;
  /** What a trial is given (core/model.ts), as JSON; null for a run that is none. */
  trial: string | null;
}

export interface RunStepRow {
  run_id: string;
  step_id: string;
  /** The index of the item in the step's fan-out; -1 for the step itself. */
  item: number;
  seq: number;
  state: string;
  attempts: number;
  started_at: string | null;
  finished_at: string | null;
  input_hash: string | null;
  /** The run whose recorded output was reused, `cache`, or `given`. */
  reused_from: string | null;
  child_run: string | null;
  wait_until: string | null;
  items_total: number | null;
  items_started: number | null;
  items_done: number | null;
  items_failed: number | null;
  items_bytes: number | null;
  error: string | null;
  output: string | null;
}

export interface RunAttemptRow {
  run_id: string;
  step_id: string;
  item: number;
  attempt: number;
  status: AttemptStatus;
  executor: string | null;
  started_at: string;
  finished_at: string | null;
  usage: string | null;
  error: string | null;
  input: string | null;
}

export interface JobRow {
  id: Generated<number>;
  kind: JobKind;
  state: "ready" | "later" | "claimed";
  priority: number;
  /** When the job becomes ready or became so; null when an older release created it as ready. */
  due_at: string | null;
  run_id: string;
  /** The usage subject and the workflow of the run; `?` when an older release added the job, or the run has no workflow. */
  subject: string;
  workflow_id: string;
  step_id: string;
  item: number;
  resource: string | null;
  /** The resource and the rate, as one text: what must be free before the job can start. */
  gate: GeneratedAlways<string>;
  /** The rate that the step sets, and the pause between two starts, in milliseconds; null without one. */
  rate_key: string | null;
  rate_ms: number | null;
  /** The number of the attempt. */
  attempt: number;
  /** Attempts that count against `retry`, which excludes those of dead executors. */
  /** 1 on the first attempt: the retry count and one more. */
  tries: number;
  /** Increases with every claim, so that the holder of an older claim can't write. */
  fence: number;
  executor: string | null;
  /** 1 when two executors died while they held the job: the job runs alone from then on, in case it was the cause. */
  suspect: number;
  /** The number of executors that died while they held the job, or while it ran alone once it is suspect. */
  kills: number;
  alone: number;
}

/** `subject` is the usage subject of its actor (core/usage-limits.ts). */
export interface BackfillRow {
  id: string;
  workflow_id: string;
  project: string;
  version: number;
  cron: string;
  timezone: string;
  from_at: string;
  to_at: string;
  concurrency: number;
  existing: ExistingRuns;
  status: BackfillStatus;
  next_at: string | null;
  total: number;
  started: number;
  skipped: number;
  reason: string | null;
  message: string | null;
  owner: string;
  key_name: string;
  lineage: string;
  surface: Surface;
  client: string;
  subject: string;
  created_at: string;
  finished_at: string | null;
  cancelled_by: string | null;
}

export interface RunSchema {
  runs: RunRow;
  run_steps: RunStepRow;
  run_attempts: RunAttemptRow;
  /** Large values. One with a digest is stored once for all that refer to it; an older one belongs to a run. */
  run_values: { id: Generated<number>; run_id: string; body: string; digest: Buffer | null };
  /** Which runs (by id), versions (`<workflow>@<version>`) and recorded answers have which values. */
  value_refs: { holder: string; value_id: number };
  /** Bytes that each usage subject stores: the sum over its shards. */
  stored_bytes: { subject: string; shard: number; bytes: number };
  fan_outs: { run_id: string; step_id: string; chunk: number; items: string };
  jobs: JobRow;
  executors: {
    id: string;
    beat: number;
    started_at: string;
    /** The release of the executor, and after `+` its newest migration (older-copies.ts); null for one that knows no projects. */
    release: string | null;
    /** Milliseconds by which its clock is ahead of the one that all processes can read; null when it is not known. */
    clock_offset: number | null;
  };
  /** The next free slot of each rate. Times are in milliseconds since 1970, because statements add to them. */
  rate_slots: { key: string; next_at: number; interval_ms: number };
  events: { run_id: string; step_id: string; received_at: string; body: string };
  backfills: BackfillRow;
  step_cache: { key: string; expires_at: string; output: string };
}
