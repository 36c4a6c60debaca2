/** The tables' types for Kysely. Times are ISO 8601 text and JSON is text, so that every database stores them alike. */
import type { TriggerDeliveryRow, TriggerRow } from "./trigger-schema.ts";
import type { Generated, GeneratedAlways } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
import type { BackfillStatus, ExistingRuns } from "../../schemas/backfill.ts";
import type { BulkActionKind, BulkActionResult, SkipReason } from "../../schemas/bulk-action.ts";
import type { InterruptionOutcome, InterruptionReason } from "../../schemas/interruption.ts";
import type { BulkActionRecord } from "../core/bulk-action-ports.ts";
import type { BacktestReads, BacktestResult, BacktestStatus } from "../../schemas/backtest.ts";
import type { StateChangeKind } from "../../schemas/workflow-state.ts";
import type { ApprovalEventKind } from "../../schemas/approval-rules.ts";
import type { ApprovalStatus, AttemptStatus, RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { MeteredResource } from "../core/usage-limits.ts";
import type { MessageChannel } from "../core/approval-delivery-ports.ts";
import type { JobKind } from "../core/model.ts";
import type { VersionChange, WorkflowStatus } from "../../schemas/workflow.ts";
import type { AccountSchema } from "./account-schema.ts";
import type { ProjectSchema } from "./project-schema.ts";
import type { SubscriptionSchema } from "./subscription-schema.ts";

export interface WorkflowRow {
  id: string;
  name: string;
  /** The name, folded, for sorting. */
  name_key: string;
  description: string;
  tags: string;
  /** The text to search, folded (src/store/search-text.ts). */
  search_text: string;
  status: WorkflowStatus;
  version: number;
  published_version: number | null;
  /** The version that is published, or was last. */
  last_published: number | null;
  /** 1 when the published version asks to be a tool of its own, which needs a consent. */
  exposed: Generated<number>;
  created_at: string;
  updated_at: string;
  created_by: string;
  project: Generated<string>;
}

export interface WorkflowVersionRow {
  workflow_id: string;
  version: number;
  change: VersionChange;
  name: string;
  description: string;
  tags: string;
  definition: string | null;
  reason: string | null;
  created_at: string;
  created_by: string;
  key_name: string;
  surface: Surface;
  client: string;
  /** The text of the definition as it was written, as a JSON string (run-values.ts); null for none. */
  definition_text: string | null;
  /** Bytes of the definition, its text and the description, which count for `subject` (usage-limits.ts). */
  stored_bytes: Generated<number>;
  subject: Generated<string>;
  /** The lineage of the key that wrote it; null when an older release did. */
  lineage: string | null;
  /** When its definition was pruned; null while it has one, or never had. */
  pruned_at: string | null;
}

interface WorkflowPublicationRow {
  id: Generated<number>;
  workflow_id: string;
  version: number;
  at: string;
  owner: string;
  key_name: string;
  /** Whom it counts for (core/usage-limits.ts); the owner where an older release did not record the key. */
  subject: string;
  /** The lineage of the key; null when an older release wrote it. */
  lineage: string | null;
  /** The backtest that it passed, as JSON; null where none was needed. */
  backtest: string | null;
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
  /** What the key that started it is limited to, as JSON; null for nothing. */
  key_limits: string | null;
  subject: string;
  created_at: string;
  finished_at: string | null;
  cancelled_by: string | null;
}

/** `subject` is the usage subject of its actor (core/usage-limits.ts), for whom `stored_bytes` count. */
export interface BacktestRow {
  id: string;
  workflow_id: string;
  project: string;
  version: number;
  /** As in `runs` (run-values.ts); null for that of the version. */
  definition: string | null;
  source_workflow_id: string;
  reads: BacktestReads;
  /** JSON, or a reference to it (run-values.ts). */
  given: string;
  digest: string | null;
  status: BacktestStatus;
  total: number;
  message: string | null;
  summary: string | null;
  owner: string;
  key_name: string;
  lineage: string;
  /** What the key that started it is limited to, as JSON; null for nothing. */
  key_limits: string | null;
  surface: Surface;
  client: string;
  subject: string;
  /** Bytes of `definition` and `given`. */
  stored_bytes: number;
  created_at: string;
  finished_at: string | null;
  cancelled_by: string | null;
}

export interface BacktestRunRow {
  backtest_id: string;
  position: number;
  source_run: string;
  run: string | null;
  result: BacktestResult | null;
  details: string | null;
}

/** `item` as in `run_steps`; `asked` is 0 or 1; `lookup` is JSON; `output` as in `run_steps`. */
export interface InterruptionRow {
  id: string;
  run_id: string;
  step_id: string;
  item: number;
  attempt: number;
  project: string;
  workflow_id: string | null;
  reason: InterruptionReason;
  idempotency_key: string;
  started_at: string;
  interrupted_at: string;
  asked: number;
  lookup: string | null;
  outcome: InterruptionOutcome | null;
  output: string | null;
  settled_at: string | null;
  settled_by: string | null;
  /** JSON. */
  settler: string | null;
  comment: string | null;
}

/** `subject` is the usage subject of its actor (core/usage-limits.ts), for whom `stored_bytes` count. */
export interface BulkActionRow {
  id: string;
  action: BulkActionKind;
  project: string;
  /** Null where its runs are of several workflows. */
  workflow_id: string | null;
  version: number | null;
  rate: string | null;
  concurrency: number;
  status: BulkActionRecord["status"];
  total: number;
  /** What was confirmed, as JSON. */
  plan: string;
  digest: string;
  reason: string | null;
  message: string | null;
  next_at: string;
  owner: string;
  key_name: string;
  lineage: string;
  /** What the key that started it is limited to, as JSON; null for nothing. */
  key_limits: string | null;
  surface: Surface;
  client: string;
  subject: string;
  /** Bytes of `plan` and of its runs. */
  stored_bytes: number;
  created_at: string;
  finished_at: string | null;
  cancelled_by: string | null;
}

export interface BulkActionRunRow {
  bulk_action_id: string;
  position: number;
  run: string;
  plan_digest: string | null;
  result: BulkActionResult | null;
  /** The run that retries it. */
  retry: string | null;
  reason: SkipReason | null;
  message: string | null;
}

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
  /** Which run a trial of a backtest runs again (`Replay`), as JSON; null for all other runs. */
  replay: string | null;
  /** Who caused it besides its actor (`RunCause`), as JSON; null for nobody. */
  causes: string | null;
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
  /** The idempotency key of its effect; null for none, and where the receiver recognizes keys. */
  effect_key: string | null;
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

export interface ApprovalRow {
  id: string;
  run_id: string;
  /** That of its run. */
  workflow_id: string | null;
  step_id: string;
  item: number;
  status: ApprovalStatus;
  message: string;
  form: string | null;
  assignees: string;
  created_at: string;
  expires_at: string | null;
  decided_at: string | null;
  decided_by: string | null;
  comment: string | null;
  answer: string | null;
  /** The digests of what can run after it, as a JSON list; null when an older release asked it. */
  plan: string | null;
  /** `ApprovalRules` as JSON; null where one decision ends it, and nothing happens meanwhile. */
  rules: string | null;
  /** The values to decide on, as JSON; null for none. */
  evidence: string | null;
  /** How people are asked, as JSON (core/model.ts); null as an older release asked them. */
  delivery: string | null;
  /** `link` or `slack`; null when it was decided over the API or in the interface. */
  decided_via: "link" | "slack" | null;
}

/** What one person decided. Only decisions for the plan that holds at the end count. */
interface ApprovalDecisionRow {
  approval_id: string;
  plan_digest: string;
  /** The usage subject of the person (usage-limits.ts). */
  person: string;
  /** The assignee in whose place the person decided: each place is taken once. */
  seat: string;
  run_id: string;
  name: string;
  approved: number;
  override: number;
  comment: string | null;
  answer: string | null;
  decided_at: string;
}

/** What happened to an approval before its end. */
interface ApprovalEventRow {
  approval_id: string;
  seq: number;
  run_id: string;
  kind: ApprovalEventKind;
  at: string;
  by: string | null;
  /** Whom it was given to, as a JSON list of addresses and roles. */
  assignees: string;
  note: string | null;
  /** Whether those whom it concerns have been notified. */
  notified: number;
}

interface ApprovalLinkRow {
  /** SHA-256 of the token. */
  digest: Buffer;
  approval_id: string;
  recipient: string;
  plan_digest: string;
  created_at: string;
  used_at: string | null;
}

interface ApprovalMessageRow {
  approval_id: string;
  channel: MessageChannel;
  recipient: string;
  at: string;
  status: "sent" | "closed" | "refused";
  reference: string | null;
}

export interface ScheduleRow {
  workflow_id: string;
  version: number;
  cron: string;
  timezone: string;
  overlap: "skip" | "queue";
  paused: number;
  /** 1 for a paused schedule whose workflow is not published: it stays paused when it returns. */
  removed: number;
  next_at: string | null;
  last_at: string | null;
  /** The last skipped run, as JSON. */
  skipped: string | null;
  owner: string;
  key_name: string;
  lineage: string;
  /** The usage subject of who published it (core/usage-limits.ts). */
  subject: GeneratedAlways<string>;
}

export interface Schema extends AccountSchema, ProjectSchema, SubscriptionSchema {
  workflow_publications: WorkflowPublicationRow;
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
    /** The release of the executor; null for one that knows no projects. */
    release: string | null;
    /** Milliseconds by which its clock is ahead of the one that all processes can read; null when it is not known. */
    clock_offset: number | null;
    /** The id and the fence of each job that it ran at its last heartbeat, as JSON; null for one that does not say. */
    running: string | null;
  };
  /** The next free slot of each rate. Times are in milliseconds since 1970, because statements add to them. */
  rate_slots: { key: string; next_at: number; interval_ms: number };
  approvals: ApprovalRow;
  approval_decisions: ApprovalDecisionRow;
  approval_events: ApprovalEventRow;
  approval_links: ApprovalLinkRow;
  /** The browsers that have opened a link, by a digest of address and browser. */
  approval_link_visits: { digest: Buffer; visitor: string; address: string; client: string; at: string };
  approval_messages: ApprovalMessageRow;
  schedules: ScheduleRow;
  events: { run_id: string; step_id: string; received_at: string; body: string };
  triggers: TriggerRow;
  trigger_deliveries: TriggerDeliveryRow;
  workflow_states: {
    workflow_id: string;
    revision: number;
    body: string;
    updated_at: string;
    updated_by: string;
    /** The usage subject that it counts for, and the bytes of `body`. */
    subject: string;
    stored_bytes: number;
  };
  /** What has changed the state of each workflow: the newest changes. */
  state_changes: {
    id: Generated<number>;
    workflow_id: string;
    /** The revision of the state after the change. */
    revision: number;
    kind: StateChangeKind;
    at: string;
    /** The run that committed it, or the person or key owner who set it. */
    by: string;
    key_name: string | null;
    reason: string | null;
    /** The keys that changed, each with its value before and after, as JSON. */
    changes: string;
    /** The usage subject that it counts for, and its bytes. */
    subject: string;
    stored_bytes: number;
  };
  backfills: BackfillRow;
  backtests: BacktestRow;
  backtest_runs: BacktestRunRow;
  interruptions: InterruptionRow;
  bulk_actions: BulkActionRow;
  bulk_action_runs: BulkActionRunRow;
  step_cache: { key: string; expires_at: string; output: string };
  workflows: WorkflowRow;
  workflow_versions: WorkflowVersionRow;
  /** Which workflows run which: by the newest version of the caller, or by its published one. */
  workflow_calls: { caller: string; callee: string; published: number };
  counters: { name: string; value: number };
  settings: { name: string; value: string };
  idempotency_keys: {
    principal: string;
    operation: string;
    key: string;
    request_hash: string;
    result: string;
    created_at: string;
  };
  audit_log: {
    id: Generated<number>;
    at: string;
    operation: string;
    target: string | null;
    owner: string;
    key_name: string | null;
    surface: Surface;
    client: string;
    request_id: string | null;
    project: Generated<string>;
    lineage: string | null;
    /** What the entry says beyond its fields, as JSON. */
    details: string | null;
    /** Null for entries of older releases. */
    hash: string | null;
    /** The text to search, folded; null where it is ASCII, and for entries of older releases. The hash does not cover it. */
    search_text: string | null;
  };
  /** Times are in milliseconds since 1970 here, because people don't read these rows. */
  attempt_counts: { key: string; count: number; ends_at: number };
  /** The end of the window, in milliseconds since 1970. */
  usage_counts: { holder: string; kind: MeteredResource; ends_at: number; used: number };
  mcp_sessions: {
    id: string;
    key_id: string;
    kind: "http" | "sse";
    initialize: string | null;
    seen_at: string;
    /** The process that holds the stream; null for a session and for streams of older releases. */
    holder: string | null;
  };
  exposure_consents: {
    workflow_id: string;
    digest: string | null;
    version: number;
    allowed_by: string;
    allowed_at: string;
  };
  mcp_subscriptions: {
    session_id: string;
    uri: string;
    /** The usage subject that it counts for (usage-limits.ts). */
    owner: string;
    /** The change mark of the resource when the session subscribed. */
    mark: string;
  };
  mcp_holders: { id: string; heartbeats: number };
  mcp_messages: { id: Generated<number>; session_id: string; body: string; created_at: string };
  migrations: { id: number; name: string; requires: number; applied_at: string };
}
