CREATE TABLE "absences" (
  "email" text primary key,
  "starts_at" text not null,
  "ends_at" text not null,
  "substitute" text not null,
  "set_at" text not null);

CREATE INDEX "absences_by_end" on "absences" (
  "ends_at");

CREATE TABLE "account_links" (
  "digest" blob not null primary key,
  "kind" text not null,
  "user_id" text references "users" ("id"),
  "created_at" text not null,
  "expires_at" text,
  "used_at" text);

CREATE INDEX "account_links_by_user" on "account_links" (
  "user_id");

CREATE TABLE "api_keys" (
  "id" text not null primary key,
  "digest" blob not null unique,
  "last_four" text not null,
  "name" text not null,
  "owner" text not null,
  "scopes" text not null,
  "lineage" text not null,
  "created_at" text not null,
  "expires_at" text,
  "last_used_at" text,
  "revoked_at" text, projects text, publish integer, limits text,
  "application" text,
  "renewable_until" text);

CREATE INDEX "api_keys_by_owner" on "api_keys" (
  "owner",
  "created_at",
  "id");

CREATE TABLE "approval_decisions" (
  "approval_id" text not null,
  "plan_digest" text not null,
  "person" text not null,
  "seat" text not null,
  "run_id" text not null,
  "name" text not null,
  "approved" integer not null,
  "override" integer not null,
  "comment" text,
  "answer" text,
  "decided_at" text not null, constraint "approval_decisions_pk" primary key ("approval_id",
  "plan_digest",
  "person"), constraint "approval_decisions_seat" unique ("approval_id",
  "plan_digest",
  "seat"));

CREATE INDEX "approval_decisions_by_run" on "approval_decisions" (
  "run_id");

CREATE TABLE "approval_events" (
  "approval_id" text not null,
  "seq" integer not null,
  "run_id" text not null,
  "kind" text not null,
  "at" text not null,
  "by" text,
  "assignees" text not null,
  "note" text,
  "notified" integer not null, constraint "approval_events_pk" primary key ("approval_id",
  "seq"));

CREATE INDEX "approval_events_by_run" on "approval_events" (
  "run_id");

CREATE TABLE "approval_link_visits" (
  "digest" blob not null,
  "visitor" text not null,
  "address" text not null,
  "client" text not null,
  "at" text not null, constraint "approval_link_visits_pk" primary key ("digest",
  "visitor"));

CREATE TABLE "approval_links" (
  "digest" blob primary key,
  "approval_id" text not null,
  "recipient" text not null,
  "plan_digest" text not null,
  "created_at" text not null,
  "used_at" text);

CREATE INDEX "approval_links_by_approval" on "approval_links" (
  "approval_id");

CREATE TABLE "approval_messages" (
  "approval_id" text not null,
  "channel" text not null,
  "recipient" text not null,
  "at" text not null,
  "status" text not null,
  "reference" text, constraint "approval_messages_pk" primary key ("approval_id",
  "channel",
  "recipient"));

CREATE TABLE "approvals" (
  "id" text not null primary key,
  "run_id" text not null,
  "workflow_id" text,
  "step_id" text not null,
  "item" integer not null,
  "status" text not null,
  "message" text not null,
  "form" text,
  "assignees" text not null,
  "created_at" text not null,
  "expires_at" text,
  "decided_at" text,
  "decided_by" text,
  "comment" text,
  "answer" text,
  "plan" text,
  "rules" text,
  "evidence" text,
  "delivery" text,
  "decided_via" text);

CREATE INDEX "approvals_by_run" on "approvals" (
  "run_id");

CREATE INDEX "approvals_by_status" on "approvals" (
  "status",
  "created_at",
  "id");

CREATE TABLE "attempt_counts" (
  "key" text not null primary key,
  "count" integer not null,
  "ends_at" bigint not null);

CREATE INDEX "attempt_counts_by_end" on "attempt_counts" (
  "ends_at");

CREATE TABLE "audit_log" (
  "id" integer primary key,
  "at" text not null,
  "operation" text not null,
  "target" text,
  "owner" text not null,
  "key_name" text,
  "surface" text not null,
  "client" text not null,
  "request_id" text, project text not null default 'default', lineage text, details text, hash text,
  "search_text" text);

CREATE TABLE "backfills" (
  "id" text not null primary key,
  "workflow_id" text not null references "workflows" ("id"),
  "project" text not null,
  "version" integer not null,
  "cron" text not null,
  "timezone" text not null,
  "from_at" text not null,
  "to_at" text not null,
  "concurrency" integer not null,
  "existing" text not null,
  "status" text not null,
  "next_at" text,
  "total" integer not null,
  "started" integer not null,
  "skipped" integer not null,
  "reason" text,
  "message" text,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "surface" text not null,
  "client" text not null,
  "subject" text not null,
  "created_at" text not null,
  "finished_at" text,
  "cancelled_by" text,
  "key_limits" text);

CREATE INDEX backfills_by_workflow on backfills (workflow_id, created_at, id);

CREATE INDEX backfills_running on backfills (subject, created_at) where status = 'running';

CREATE TABLE "backtest_runs" (
  "backtest_id" text not null references "backtests" ("id"),
  "position" integer not null,
  "source_run" text not null,
  "run" text,
  "result" text,
  "details" text, constraint "backtest_runs_pk" primary key ("backtest_id",
  "position"));

CREATE UNIQUE INDEX backtest_runs_by_replay on backtest_runs (run) where run is not null;

CREATE INDEX backtest_runs_by_result on backtest_runs (backtest_id, result, run, position);

CREATE TABLE "backtests" (
  "id" text not null primary key,
  "workflow_id" text not null references "workflows" ("id"),
  "project" text not null,
  "version" integer not null,
  "definition" text,
  "source_workflow_id" text not null references "workflows" ("id"),
  "reads" text not null,
  "given" text not null,
  "status" text not null,
  "total" integer not null,
  "message" text,
  "summary" text,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "key_limits" text,
  "surface" text not null,
  "client" text not null,
  "subject" text not null,
  "stored_bytes" bigint not null,
  "created_at" text not null,
  "finished_at" text,
  "cancelled_by" text,
  "digest" text);

CREATE INDEX backtests_by_workflow on backtests (workflow_id, created_at, id);

CREATE INDEX backtests_finished on backtests (finished_at) where finished_at is not null;

CREATE INDEX backtests_running on backtests (subject, created_at) where status = 'running';

CREATE TABLE "bulk_action_runs" (
  "bulk_action_id" text not null references "bulk_actions" ("id"),
  "position" integer not null,
  "run" text not null,
  "plan_digest" text,
  "result" text,
  "retry" text,
  "reason" text,
  "message" text, constraint "bulk_action_runs_pk" primary key ("bulk_action_id",
  "position"));

CREATE UNIQUE INDEX bulk_action_runs_by_retry on bulk_action_runs (retry) where retry is not null;

CREATE INDEX bulk_action_runs_pending on bulk_action_runs (bulk_action_id, position) where result is null;

CREATE TABLE "bulk_actions" (
  "id" text not null primary key,
  "action" text not null,
  "project" text not null,
  "workflow_id" text,
  "version" integer,
  "rate" text,
  "concurrency" integer not null,
  "status" text not null,
  "total" integer not null,
  "plan" text not null,
  "digest" text not null,
  "reason" text,
  "message" text,
  "next_at" text not null,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "key_limits" text,
  "surface" text not null,
  "client" text not null,
  "subject" text not null,
  "stored_bytes" bigint not null,
  "created_at" text not null,
  "finished_at" text,
  "cancelled_by" text);

CREATE INDEX bulk_actions_by_project on bulk_actions (project, created_at, id);

CREATE INDEX bulk_actions_finished on bulk_actions (finished_at) where finished_at is not null;

CREATE INDEX bulk_actions_running on bulk_actions (subject, created_at) where status = 'running';

CREATE TABLE "counters" (
  "name" text not null primary key,
  "value" integer not null);

CREATE TABLE "deliveries" (
  "id" text not null primary key,
  "event_id" text not null,
  "queue" text not null,
  "project" text not null,
  "recipient" text,
  "state" text not null,
  "attempts" integer not null,
  "fence" integer not null,
  "due_at" text,
  "claimed_by" text,
  "created_at" text not null,
  "attempted_at" text,
  "ended_at" text,
  "status" integer,
  "response" text,
  "error" text,
  "ms" integer);

CREATE INDEX "deliveries_by_claim" on "deliveries" (
  "claimed_by");

CREATE INDEX "deliveries_by_due_time" on "deliveries" (
  "queue",
  "state",
  "due_at");

CREATE INDEX "deliveries_by_end" on "deliveries" (
  "ended_at");

CREATE INDEX "deliveries_by_event" on "deliveries" (
  "event_id");

CREATE INDEX "deliveries_by_time" on "deliveries" (
  "queue",
  "created_at",
  "id");

CREATE TABLE "events" (
  "run_id" text not null,
  "step_id" text not null,
  "received_at" text not null,
  "body" text not null, constraint "events_pk" primary key ("run_id",
  "step_id"));

CREATE TABLE "executors" (
  "id" text not null primary key,
  "beat" integer not null,
  "started_at" text not null, release text,
  "clock_offset" bigint,
  "running" text);

CREATE TABLE "expectations" (
  "workflow_id" text not null primary key,
  "version" integer not null,
  "every" text not null,
  "mail" text not null,
  "published_by" text not null,
  "since" text not null,
  "due_at" text not null,
  "succeeded_at" text,
  "overdue_since" text);

CREATE INDEX "expectations_by_due_time" on "expectations" (
  "overdue_since",
  "due_at");

CREATE TABLE "exposure_consents" (
  "workflow_id" text primary key,
  "digest" text,
  "version" integer not null,
  "allowed_by" text not null,
  "allowed_at" text not null);

CREATE TABLE "fan_outs" (
  "run_id" text not null,
  "step_id" text not null,
  "chunk" integer not null,
  "items" text not null, constraint "fan_outs_pk" primary key ("run_id",
  "step_id",
  "chunk"));

CREATE TABLE "grants" (
  "project" text not null references "projects" ("id"),
  "kind" text not null,
  "name" text not null,
  "options" text,
  "granted_at" text not null,
  "granted_by" text not null, constraint "grants_pk" primary key ("project",
  "kind",
  "name"));

CREATE TABLE "idempotency_keys" (
  "principal" text not null,
  "operation" text not null,
  "key" text not null,
  "request_hash" text not null,
  "result" text not null,
  "created_at" text not null, constraint "idempotency_keys_pk" primary key ("principal",
  "operation",
  "key"));

CREATE INDEX "idempotency_keys_by_age" on "idempotency_keys" (
  "created_at");

CREATE TABLE "identities" (
  "issuer" text not null,
  "subject" text not null,
  "user_id" text not null references "users" ("id"),
  "created_at" text not null, constraint "identities_key" primary key ("issuer",
  "subject"));

CREATE UNIQUE INDEX "identities_by_user" on "identities" (
  "user_id",
  "issuer");

CREATE TABLE "interruptions" (
  "id" text not null primary key,
  "run_id" text not null,
  "step_id" text not null,
  "item" integer not null,
  "attempt" integer not null,
  "project" text not null,
  "workflow_id" text,
  "reason" text not null,
  "idempotency_key" text not null,
  "started_at" text not null,
  "interrupted_at" text not null,
  "asked" integer not null,
  "lookup" text,
  "outcome" text,
  "output" text,
  "settled_at" text,
  "settled_by" text,
  "settler" text,
  "comment" text);

CREATE UNIQUE INDEX interruptions_by_attempt on interruptions (run_id, step_id, item, attempt);

CREATE INDEX interruptions_by_key on interruptions (idempotency_key);

CREATE INDEX interruptions_by_project on interruptions (
  "project", interrupted_at, id);

CREATE INDEX interruptions_by_time on interruptions (interrupted_at, id);

CREATE INDEX interruptions_by_workflow_id on interruptions (
  "workflow_id", interrupted_at, id);

CREATE INDEX interruptions_open on interruptions (interrupted_at, id) where outcome is null;

CREATE TABLE "jobs" (
  "id" integer primary key autoincrement,
  "kind" text not null,
  "state" text not null,
  "priority" integer not null,
  "due_at" text,
  "run_id" text not null,
  "step_id" text not null,
  "item" integer not null,
  "resource" text,
  "attempt" integer not null,
  "tries" integer not null,
  "fence" integer not null,
  "executor" text,
  "suspect" integer not null,
  "kills" integer not null,
  "alone" integer not null, rate_key text, rate_ms bigint, subject text not null default '?', workflow_id text not null default '?', gate text
    generated always as (json_array(resource, rate_key)) virtual);

CREATE INDEX "jobs_by_run" on "jobs" (
  "run_id",
  "step_id",
  "item");

CREATE INDEX jobs_claimed on jobs (executor) where state = 'claimed';

CREATE INDEX jobs_later on jobs (due_at) where state = 'later';

CREATE INDEX jobs_later_by_subject on jobs (subject, due_at) where state = 'later';

CREATE INDEX jobs_ready on jobs (suspect, priority, subject, workflow_id, gate, id)
    where state = 'ready';

CREATE INDEX jobs_ready_by_rate on jobs (rate_key)
    where state = 'ready' and rate_key is not null;

CREATE INDEX jobs_ready_by_resource on jobs (resource)
    where state = 'ready' and resource is not null;

CREATE INDEX jobs_stopping on jobs (state, due_at) where priority = 100;

CREATE TABLE "key_notices" (
  "key_id" text not null,
  "expires_at" text not null,
  "days" integer not null, constraint "key_notices_pk" primary key ("key_id",
  "expires_at",
  "days"));

CREATE TABLE "mcp_holders" (
  "id" text primary key,
  "heartbeats" integer not null);

CREATE TABLE "mcp_messages" (
  "id" integer primary key,
  "session_id" text not null,
  "body" text not null,
  "created_at" text not null);

CREATE INDEX "mcp_messages_by_session" on "mcp_messages" (
  "session_id",
  "id");

CREATE TABLE "mcp_sessions" (
  "id" text not null primary key,
  "key_id" text not null,
  "kind" text not null,
  "initialize" text,
  "seen_at" text not null,
  "holder" text);

CREATE INDEX "mcp_sessions_by_age" on "mcp_sessions" (
  "seen_at");

CREATE INDEX "mcp_sessions_by_holder" on "mcp_sessions" (
  "holder");

CREATE TABLE "mcp_subscriptions" (
  "session_id" text not null references "mcp_sessions" ("id") on delete cascade,
  "uri" text not null,
  "owner" text not null,
  "mark" text not null, constraint "mcp_subscriptions_pk" primary key ("session_id",
  "uri"));

CREATE INDEX "mcp_subscriptions_by_owner" on "mcp_subscriptions" (
  "owner");

CREATE TABLE "migrations" (
  "id" integer primary key,
  "name" text not null,
  "requires" integer not null,
  "applied_at" text not null);

CREATE TABLE "oauth_states" (
  "model" text not null,
  "digest" blob not null,
  "payload" text not null,
  "grant_id" text,
  "consumed_at" bigint,
  "expires_at" bigint not null, constraint "oauth_states_pk" primary key ("model",
  "digest"));

CREATE INDEX "oauth_states_by_end" on "oauth_states" (
  "expires_at");

CREATE INDEX "oauth_states_by_grant" on "oauth_states" (
  "grant_id");

CREATE TABLE "outgoing_events" (
  "id" text not null primary key,
  "type" text not null,
  "project" text not null,
  "workflow_id" text,
  "run_id" text,
  "at" text not null,
  "data" text not null);

CREATE INDEX "outgoing_events_by_time" on "outgoing_events" (
  "at");

CREATE TABLE "project_members" (
  "project" text not null references "projects" ("id"),
  "email" text not null,
  "role" text not null,
  "added_at" text not null,
  "added_by" text not null, constraint "project_members_pk" primary key ("project",
  "email"));

CREATE INDEX "project_members_by_email" on "project_members" (
  "email");

CREATE TABLE "projects" (
  "id" text not null primary key,
  "name" text not null,
  "description" text not null,
  "connections" text not null,
  "http_public" text,
  "review" integer not null,
  "limits" text,
  "created_at" text not null,
  "created_by" text not null,
  "backtest" text);

CREATE TABLE "rate_slots" (
  "key" text not null primary key,
  "next_at" bigint not null,
  "interval_ms" bigint not null);

CREATE INDEX "rate_slots_by_time" on "rate_slots" (
  "next_at");

CREATE TABLE "reviews" (
  "id" text not null primary key,
  "project" text not null,
  "workflow_id" text not null,
  "version" integer not null,
  "base_version" integer,
  "digest" text not null,
  "status" text not null,
  "plan" text not null,
  "examples" text,
  "reason" text,
  "requested_at" text not null,
  "requested_by" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "subject" text not null,
  "decided_at" text,
  "decided_by" text,
  "comment" text,
  "backtest" text);

CREATE INDEX "reviews_by_status" on "reviews" (
  "status",
  "requested_at",
  "id");

CREATE INDEX "reviews_by_workflow" on "reviews" (
  "workflow_id");

CREATE TABLE "run_attempts" (
  "run_id" text not null,
  "step_id" text not null,
  "item" integer not null,
  "attempt" integer not null,
  "status" text not null,
  "executor" text,
  "started_at" text not null,
  "finished_at" text,
  "usage" text,
  "error" text,
  "input" text,
  "effect_key" text, constraint "run_attempts_pk" primary key ("run_id",
  "step_id",
  "item",
  "attempt"));

CREATE INDEX run_attempts_open on run_attempts (executor) where finished_at is null;

CREATE INDEX run_attempts_used on run_attempts (run_id, usage) where usage is not null;

CREATE TABLE "run_steps" (
  "run_id" text not null,
  "step_id" text not null,
  "item" integer not null,
  "seq" integer not null,
  "state" text not null,
  "attempts" integer not null,
  "started_at" text,
  "finished_at" text,
  "input_hash" text,
  "reused_from" text,
  "child_run" text,
  "wait_until" text,
  "items_total" integer,
  "items_started" integer,
  "items_done" integer,
  "items_failed" integer,
  "items_bytes" integer,
  "error" text,
  "output" text, constraint "run_steps_pk" primary key ("run_id",
  "step_id",
  "item"));

CREATE TABLE "run_values" (
  "id" integer primary key,
  "run_id" text not null,
  "body" text not null,
  "digest" blob);

CREATE UNIQUE INDEX run_values_by_digest on run_values (digest) where digest is not null;

CREATE INDEX "run_values_by_run" on "run_values" (
  "run_id");

CREATE TABLE "runs" (
  "id" text not null primary key,
  "workflow_id" text references "workflows" ("id"),
  "version" integer not null,
  "definition" text,
  "status" text not null,
  "states" text not null,
  "seq" integer not null,
  "admitted" integer not null,
  "stop" text,
  "trigger" text not null,
  "priority" integer not null,
  "depth" integer not null,
  "first_run" text not null,
  "retry_of" text,
  "parent_run" text,
  "parent_step" text,
  "parent_item" integer,
  "scheduled_for" text,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "surface" text not null,
  "client" text not null,
  "created_at" text not null,
  "started_at" text,
  "finished_at" text,
  "error" text,
  "inputs" text not null,
  "output" text,
  "trace" text,
  "state" text,
  "state_revision" integer,
  "committed" text,
  "facts" text,
  "on_failure" text,
  "pins" text,
  "stored_bytes" bigint default 0 not null, subject text
    generated always as (case when owner = 'operator' then lineage else owner end) virtual, project text not null default 'default',
  "trial" text,
  "backfill" text,
  "causes" text,
  "replay" text);

CREATE INDEX runs_by_backfill on runs (backfill, created_at, id) where backfill is not null;

CREATE INDEX runs_by_parent on runs (parent_run) where parent_run is not null;

CREATE INDEX runs_by_slot on runs (workflow_id, scheduled_for, created_at) where scheduled_for is not null;

CREATE INDEX runs_by_status on runs
    (project, status,
  "trigger", created_at, id, (case when trial is null then 0 else 1 end));

CREATE INDEX runs_by_workflow_status on runs
    (workflow_id, status,
  "trigger", created_at, id, project, (case when trial is null then 0 else 1 end));

CREATE INDEX runs_finished on runs (finished_at) where finished_at is not null;

CREATE INDEX runs_listed on runs (created_at, id,
  "trigger", (case when trial is null then 0 else 1 end))
    where "trigger" <> 'backtest';

CREATE INDEX runs_listed_by_project on runs (project, created_at, id,
  "trigger", (case when trial is null then 0 else 1 end))
    where "trigger" <> 'backtest';

CREATE INDEX runs_listed_by_workflow on runs (workflow_id, created_at, id, project,
  "trigger", (case when trial is null then 0 else 1 end))
    where "trigger" <> 'backtest';

CREATE UNIQUE INDEX runs_of_backfills on runs (backfill, scheduled_for) where backfill is not null;

CREATE INDEX runs_retries on runs (retry_of, created_at) where retry_of is not null;

CREATE UNIQUE INDEX runs_scheduled on runs (workflow_id, scheduled_for) where trigger = 'schedule';

CREATE INDEX runs_trials on runs (created_at, id) where trial is not null and "trigger" <> 'backtest';

CREATE INDEX runs_unfinished on runs
    (workflow_id, admitted, subject, priority desc, created_at, id) where finished_at is null;

CREATE INDEX runs_unfinished_by_project on runs (project) where finished_at is null;

CREATE INDEX runs_unfinished_by_subject on runs (subject) where finished_at is null;

CREATE INDEX runs_unfinished_of on runs (owner, lineage, trigger) where finished_at is null;

CREATE TABLE "schedules" (
  "workflow_id" text not null primary key,
  "version" integer not null,
  "cron" text not null,
  "timezone" text not null,
  "overlap" text not null,
  "paused" integer not null,
  "next_at" text,
  "last_at" text,
  "skipped" text,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null,
  "removed" integer default 0 not null, subject text
    generated always as (case when owner = 'operator' then lineage else owner end) virtual);

CREATE INDEX schedules_due on schedules (next_at) where paused = 0 and next_at is not null;

CREATE TABLE "sessions" (
  "id" text not null primary key,
  "digest" blob not null unique,
  "user_id" text not null references "users" ("id"),
  "created_at" text not null,
  "seen_at" text not null,
  "expires_at" text not null,
  "client" text not null,
  "address" text not null,
  "external" integer default 0 not null,
  "ended_at" text,
  "sealed" blob,
  "claims_at" text);

CREATE INDEX "sessions_by_user" on "sessions" (
  "user_id");

CREATE TABLE "settings" (
  "name" text not null primary key,
  "value" text not null);

CREATE TABLE "state_changes" (
  "id" integer primary key,
  "workflow_id" text not null references "workflows" ("id"),
  "revision" integer not null,
  "kind" text not null,
  "at" text not null,
  "by" text not null,
  "key_name" text,
  "reason" text,
  "changes" text not null,
  "subject" text not null,
  "stored_bytes" bigint not null);

CREATE UNIQUE INDEX state_changes_by_workflow on state_changes (workflow_id, revision);

CREATE TABLE "step_cache" (
  "key" text not null primary key,
  "expires_at" text not null,
  "output" text not null);

CREATE INDEX "step_cache_by_age" on "step_cache" (
  "expires_at");

CREATE TABLE "stored_bytes" (
  "subject" text not null,
  "shard" integer not null,
  "bytes" bigint not null, constraint "stored_bytes_pk" primary key ("subject",
  "shard"));

CREATE TABLE "subscriptions" (
  "id" text not null primary key,
  "project" text not null,
  "name" text not null,
  "format" text not null,
  "url" text,
  "url_secret" text,
  "events" text not null,
  "workflows" text,
  "tags" text,
  "include_values" integer not null,
  "generation" integer not null,
  "previous_until" text,
  "paused_at" text,
  "pause_reason" text,
  "failing_since" text,
  "succeeded_at" text,
  "created_at" text not null,
  "created_by" text not null,
  "subject" text not null,
  "confirmed_by" text,
  "confirmed_lineage" text,
  "confirmed_at" text);

CREATE INDEX "subscriptions_by_project" on "subscriptions" (
  "project",
  "created_at",
  "id");

CREATE TABLE "trigger_deliveries" (
  "id" text not null primary key,
  "trigger_id" text not null,
  "workflow_id" text not null,
  "received_at" text not null,
  "status" text not null,
  "run_id" text,
  "key" text,
  "sender_id" text,
  "code" text,
  "reason" text,
  "event" text,
  "bytes" integer not null,
  "repeats" integer not null,
  "redelivery_of" text,
  "attempts" integer not null,
  "next_at" text,
  "ended_at" text,
  "redelivered_by" text,
  "signed" integer);

CREATE INDEX trigger_deliveries_by_age_of_body on trigger_deliveries (received_at) where event is not null;

CREATE UNIQUE INDEX "trigger_deliveries_by_key" on "trigger_deliveries" (
  "trigger_id",
  "key");

CREATE INDEX "trigger_deliveries_by_status" on "trigger_deliveries" (
  "trigger_id",
  "status",
  "received_at",
  "id");

CREATE INDEX "trigger_deliveries_by_time" on "trigger_deliveries" (
  "received_at");

CREATE INDEX "trigger_deliveries_by_trigger" on "trigger_deliveries" (
  "trigger_id",
  "received_at",
  "id");

CREATE INDEX "trigger_deliveries_by_workflow" on "trigger_deliveries" (
  "workflow_id",
  "received_at",
  "id");

CREATE INDEX trigger_deliveries_due on trigger_deliveries (next_at) where next_at is not null;

CREATE INDEX trigger_deliveries_unended on trigger_deliveries (trigger_id, bytes) where next_at is not null;

CREATE INDEX trigger_deliveries_with_body on trigger_deliveries (trigger_id, received_at, id, bytes)
    where event is not null;

CREATE TABLE "triggers" (
  "id" text not null primary key,
  "workflow_id" text not null,
  "name" text not null,
  "version" integer not null,
  "removed" integer not null,
  "rotation" integer not null,
  "created_at" text not null,
  "rotated_at" text,
  "owner" text not null,
  "key_name" text not null,
  "lineage" text not null);

CREATE UNIQUE INDEX "triggers_by_workflow" on "triggers" (
  "workflow_id",
  "name");

CREATE TABLE "usage_counts" (
  "holder" text not null,
  "kind" text not null,
  "ends_at" bigint not null,
  "used" bigint not null, constraint "usage_counts_pk" primary key ("holder",
  "kind",
  "ends_at"));

CREATE INDEX "usage_counts_by_end" on "usage_counts" (
  "ends_at");

CREATE TABLE "users" (
  "id" text not null primary key,
  "email" text not null unique,
  "first" integer unique,
  "role" text not null,
  "status" text not null,
  "password_hash" text,
  "verified_at" text,
  "created_at" text not null,
  "created_by" text not null,
  "last_login_at" text,
  "role_by" text);

CREATE TABLE "value_refs" (
  "holder" text not null,
  "value_id" integer not null, constraint "value_refs_pk" primary key ("holder",
  "value_id"));

CREATE INDEX "value_refs_by_value" on "value_refs" (
  "value_id");

CREATE TABLE "workflow_calls" (
  "caller" text not null,
  "callee" text not null,
  "published" integer not null, constraint "workflow_calls_pk" primary key ("caller",
  "published",
  "callee"));

CREATE INDEX "workflow_calls_by_callee" on "workflow_calls" (
  "callee",
  "published");

CREATE TABLE workflow_numbers
    (number integer primary key, workflow_id text not null unique references workflows (id));

CREATE TABLE "workflow_offers" (
  "workflow_id" text not null references "workflows" ("id"),
  "project" text not null,
  "offered_at" text not null,
  "offered_by" text not null, constraint "workflow_offers_pk" primary key ("workflow_id",
  "project"));

CREATE INDEX "workflow_offers_by_project" on "workflow_offers" (
  "project");

CREATE TABLE "workflow_publications" (
  "id" integer primary key,
  "workflow_id" text not null,
  "version" integer not null,
  "at" text not null,
  "owner" text not null,
  "key_name" text not null,
  "subject" text not null, lineage text,
  "backtest" text);

CREATE INDEX "workflow_publications_by_version" on "workflow_publications" (
  "workflow_id",
  "version");

CREATE VIRTUAL TABLE workflow_search using fts5
    (text, content='', contentless_delete=1, detail='none', tokenize='trigram case_sensitive 1');

CREATE TABLE 'workflow_search_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'workflow_search_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'workflow_search_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

CREATE TABLE 'workflow_search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE "workflow_states" (
  "workflow_id" text not null primary key references "workflows" ("id"),
  "revision" integer not null,
  "body" text not null,
  "updated_at" text not null,
  "updated_by" text not null,
  "subject" text default '' not null,
  "stored_bytes" bigint default 0 not null);

CREATE TABLE "workflow_versions" (
  "workflow_id" text not null references "workflows" ("id"),
  "version" integer not null,
  "change" text not null,
  "name" text not null,
  "description" text not null,
  "tags" text not null,
  "definition" text,
  "reason" text,
  "created_at" text not null,
  "created_by" text not null,
  "key_name" text not null,
  "surface" text not null,
  "client" text not null,
  "stored_bytes" bigint default 0 not null,
  "subject" text default '' not null,
  "pruned_at" text, lineage text,
  "definition_text" text, constraint "workflow_versions_pk" primary key ("workflow_id",
  "version"));

CREATE TRIGGER workflow_search_delete after delete on workflows begin
    delete from workflow_search
      where rowid = (select number from workflow_numbers where workflow_id = old.id);
    delete from workflow_numbers where workflow_id = old.id;
  end;

CREATE TRIGGER workflow_search_insert after insert on workflows begin
    insert into workflow_numbers (workflow_id) values (new.id);
    insert into workflow_search (rowid, text)
      select number, new.search_text from workflow_numbers where workflow_id = new.id;
  end;

CREATE TRIGGER workflow_search_update after update of search_text on workflows
  when new.search_text <> old.search_text begin
    insert or replace into workflow_search (rowid, text)
      select number, new.search_text from workflow_numbers where workflow_id = new.id;
  end;

CREATE TABLE "workflows" (
  "id" text not null primary key,
  "name" text not null,
  "name_key" text not null,
  "description" text not null,
  "tags" text not null,
  "search_text" text not null,
  "status" text not null,
  "version" integer not null,
  "published_version" integer,
  "created_at" text not null,
  "updated_at" text not null,
  "created_by" text not null,
  "exposed" integer default 0 not null, project text not null default 'default',
  "last_published" integer);

CREATE INDEX "workflows_by_created_at" on "workflows" (
  "created_at",
  "id",
  "status");

CREATE INDEX "workflows_by_name_key" on "workflows" (
  "name_key",
  "id",
  "status");

CREATE INDEX workflows_by_project on workflows (project, created_at, id, status);

CREATE INDEX "workflows_by_updated_at" on "workflows" (
  "updated_at",
  "id",
  "status");

CREATE INDEX workflows_exposed on workflows (created_at, id) where exposed = 1;
