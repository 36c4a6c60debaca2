/** The tables as Kysely sees them. Times are ISO 8601 text, JSON is text: the same on every database. */
import type { Generated } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
import type { ApprovalStatus, AttemptStatus, RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { LinkKind, Role, UserStatus } from "../../schemas/user.ts";
import type { MeteredResource } from "../core/usage-limits.ts";
import type { JobKind } from "../core/run-ports.ts";
import type { VersionChange, WorkflowStatus } from "../../schemas/workflow.ts";

export interface WorkflowRow {
  id: string;
  name: string;
  /** The name in lower case, to sort by. */
  name_key: string;
  description: string;
  tags: string;
  /** What a search looks through, in lower case: SQLite's own lower() knows ASCII only. */
  search_text: string;
  status: WorkflowStatus;
  version: number;
  published_version: number | null;
  /** 1 where the published version is offered to agents as a tool of its own. */
  exposed: Generated<number>;
  created_at: string;
  updated_at: string;
  created_by: string;
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
}

export interface RunRow {
  id: string;
  workflow_id: string;
  version: number;
  /** Where it runs on another definition than that of its version: a retry with a patch. */
  definition: string | null;
  status: RunStatus;
  /** One letter a step, by position (core/run-ports.ts). */
  states: string;
  /** Grows with every change; what changed a step stands in run_steps.seq. */
  seq: number;
  /** 0 while it waits for its turn (concurrency, overlap). */
  admitted: number;
  /** Why it must end, as JSON; null while it may go on. */
  stop: string | null;
  trigger: RunTrigger;
  priority: number;
  depth: number;
  first_run: string;
  retry_of: string | null;
  parent_run: string | null;
  parent_step: string | null;
  parent_item: number | null;
  scheduled_for: string | null;
  /** `traceparent`, and `tracestate` behind a space. */
  trace: string | null;
  owner: string;
  key_name: string;
  lineage: string;
  surface: Surface;
  client: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
  inputs: string;
  output: string | null;
}

export interface RunStepRow {
  run_id: string;
  step_id: string;
  /** -1 for the step itself, else the item of its fan-out. */
  item: number;
  seq: number;
  state: string;
  attempts: number;
  started_at: string | null;
  finished_at: string | null;
  input_hash: string | null;
  /** The run whose recorded output it took, or `cache`. */
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
  /** When it becomes ready, or since when it is; null where a release before wrote it as ready at once. */
  due_at: string | null;
  run_id: string;
  step_id: string;
  item: number;
  resource: string | null;
  /** The number of the attempt that it is. */
  attempt: number;
  /** Attempts that count against `retry`: those that a dead executor left do not. */
  /** 1 on the first attempt: the retry count and one more. */
  tries: number;
  /** Grows with every claim: who holds an older one can't write. */
  fence: number;
  executor: string | null;
  /** Was held by an executor that died: it is run alone, in case it was the cause. */
  suspect: number;
  /** How many executors died while it ran alone. */
  kills: number;
  alone: number;
}

export interface ApprovalRow {
  id: string;
  run_id: string;
  workflow_id: string;
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
}

export interface ScheduleRow {
  workflow_id: string;
  version: number;
  cron: string;
  timezone: string;
  overlap: "skip" | "queue";
  paused: number;
  next_at: string | null;
  last_at: string | null;
  /** What was last left out, as JSON. */
  skipped: string | null;
  owner: string;
  key_name: string;
  lineage: string;
}

export interface Schema {
  runs: RunRow;
  run_steps: RunStepRow;
  run_attempts: RunAttemptRow;
  run_values: { id: Generated<number>; run_id: string; body: string };
  fan_outs: { run_id: string; step_id: string; chunk: number; items: string };
  jobs: JobRow;
  executors: { id: string; beat: number; started_at: string };
  approvals: ApprovalRow;
  schedules: ScheduleRow;
  step_cache: { key: string; expires_at: string; output: string };
  workflows: WorkflowRow;
  workflow_versions: WorkflowVersionRow;
  counters: { name: string; value: number };
  settings: { name: string; value: string };
  api_keys: {
    id: string;
    digest: Buffer;
    last_four: string;
    name: string;
    owner: string;
    scopes: string;
    lineage: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
  };
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
  };
  users: {
    id: string;
    email: string;
    first: number | null;
    role: Role;
    status: UserStatus;
    password_hash: string | null;
    /** Where the role is from, when no admin here has decided it. */
    role_by: "sign_on" | "default" | null;
    verified_at: string | null;
    created_at: string;
    created_by: string;
    last_login_at: string | null;
  };
  sessions: {
    id: string;
    digest: Buffer;
    user_id: string;
    created_at: string;
    seen_at: string;
    expires_at: string;
    client: string;
    address: string;
    /** 1 for a login kept elsewhere, whose row outlives its end. */
    external: number;
    ended_at: string | null;
    sealed: Generated<Buffer | null>;
    claims_at: Generated<string | null>;
  };
  identities: { issuer: string; subject: string; user_id: string; created_at: string };
  account_links: {
    digest: Buffer;
    kind: LinkKind;
    user_id: string | null;
    created_at: string;
    expires_at: string | null;
    used_at: string | null;
  };
  /** Moments in milliseconds: nobody reads these. */
  attempt_counts: { key: string; count: number; ends_at: number };
  /** By window: the moment that it ends at, in milliseconds. */
  usage_counts: { holder: string; kind: MeteredResource; ends_at: number; used: number };
  mcp_sessions: {
    id: string;
    key_id: string;
    kind: "http" | "sse";
    initialize: string | null;
    seen_at: string;
  };
  mcp_messages: { id: Generated<number>; session_id: string; body: string; created_at: string };
  migrations: { id: number; name: string; requires: number; applied_at: string };
}
