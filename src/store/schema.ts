/** The tables as Kysely sees them. Times are ISO 8601 text, JSON is text: the same on every database. */
import type { Generated } from "kysely";
import type { Surface } from "../../schemas/actor.ts";
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

export interface Schema {
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
