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
  "revoked_at" text);

CREATE TABLE "audit_log" (
  "id" integer primary key,
  "at" text not null,
  "operation" text not null,
  "target" text,
  "owner" text not null,
  "key_name" text,
  "surface" text not null,
  "client" text not null,
  "request_id" text);

CREATE TABLE "counters" (
  "name" text not null primary key,
  "value" integer not null);

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
  "seen_at" text not null);

CREATE INDEX "mcp_sessions_by_age" on "mcp_sessions" (
  "seen_at");

CREATE TABLE "migrations" (
  "id" integer primary key,
  "name" text not null,
  "requires" integer not null,
  "applied_at" text not null);

CREATE TABLE "settings" (
  "name" text not null primary key,
  "value" text not null);

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
  "client" text not null, constraint "workflow_versions_pk" primary key ("workflow_id",
  "version"));

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
  "created_by" text not null);

CREATE INDEX "workflows_by_created_at" on "workflows" (
  "created_at",
  "id",
  "status");

CREATE INDEX "workflows_by_name_key" on "workflows" (
  "name_key",
  "id",
  "status");

CREATE INDEX "workflows_by_updated_at" on "workflows" (
  "updated_at",
  "id",
  "status");
