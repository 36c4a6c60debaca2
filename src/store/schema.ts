/** The tables' types for Kysely. Times are ISO 8601 text and JSON is text, so that every database stores them alike. */
import type { Generated, GeneratedAlways } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
import type { VersionChange, WorkflowStatus } from "../../schemas/workflow.ts";
import type { StateChangeKind } from "../../schemas/workflow-state.ts";
import type { MeteredResource } from "../core/usage-limits.ts";
import type { AccountSchema } from "./account-schema.ts";
import type { ApprovalSchema } from "./approval-schema.ts";
import type { ProjectSchema } from "./project-schema.ts";
import type { RunSchema } from "./run-schema.ts";
import type { SubscriptionSchema } from "./subscription-schema.ts";
import type { TriggerDeliveryRow, TriggerRow } from "./trigger-schema.ts";

export interface WorkflowRow {
  id: string;
  name: string;
  /** The name in lower case, for sorting. */
  name_key: string;
  description: string;
  tags: string;
  /** The text to search, in lower case: SQLite's lower() converts only ASCII. */
  search_text: string;
  status: WorkflowStatus;
  version: number;
  published_version: number | null;
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
  /** The text that the definition was read from; null if it was no YAML text, or an older release wrote the version. */
  source: string | null;
  reason: string | null;
  created_at: string;
  created_by: string;
  key_name: string;
  surface: Surface;
  client: string;
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

export interface Schema extends AccountSchema, ApprovalSchema, ProjectSchema, RunSchema, SubscriptionSchema {
  workflow_publications: WorkflowPublicationRow;
  schedules: ScheduleRow;
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
  mcp_holders: { id: string; heartbeats: number };
  mcp_messages: { id: Generated<number>; session_id: string; body: string; created_at: string };
  migrations: { id: number; name: string; requires: number; applied_at: string };
}
