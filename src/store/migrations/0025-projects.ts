import { type Kysely, sql } from "kysely";

/**
 * Projects, their members, grants, reviews and offers; limits of keys; the hash chain of the audit log. Everything that exists
 * belongs to the default project, which may use every connection, so nobody's rights change. The migration requires no newer
 * release: what an older one would not respect (a second project, a limited key, a review) raises `requires` when it is made.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await createTables(db);
  await addColumns(db);
  await sql`
    insert into projects (id, name, description, connections, review, created_at, created_by)
    values ('default', 'Default', '', 'all', 0, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'migration')
  `.execute(db);
  await sql`insert into counters (name, value) values ('projects', 0)`.execute(db);
}

async function createTables({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable("projects")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("connections", "text", (c) => c.notNull())
    .addColumn("http_public", "text")
    .addColumn("review", "integer", (c) => c.notNull())
    .addColumn("limits", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .execute();
  await schema
    .createTable("project_members")
    .addColumn("project", "text", (c) => c.notNull().references("projects.id"))
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("added_at", "text", (c) => c.notNull())
    .addColumn("added_by", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("project_members_pk", ["project", "email"])
    .execute();
  await schema.createIndex("project_members_by_email").on("project_members").column("email").execute();
  await schema
    .createTable("grants")
    .addColumn("project", "text", (c) => c.notNull().references("projects.id"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("options", "text")
    .addColumn("granted_at", "text", (c) => c.notNull())
    .addColumn("granted_by", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("grants_pk", ["project", "kind", "name"])
    .execute();
  await schema
    .createTable("reviews")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("base_version", "integer")
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("plan", "text", (c) => c.notNull())
    .addColumn("examples", "text")
    .addColumn("reason", "text")
    .addColumn("requested_at", "text", (c) => c.notNull())
    .addColumn("requested_by", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("lineage", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("decided_at", "text")
    .addColumn("decided_by", "text")
    .addColumn("comment", "text")
    .execute();
  await schema
    .createIndex("reviews_by_status")
    .on("reviews")
    .columns(["status", "requested_at", "id"])
    .execute();
  await schema.createIndex("reviews_by_workflow").on("reviews").column("workflow_id").execute();
  await schema
    .createTable("workflow_offers")
    .addColumn("workflow_id", "text", (c) => c.notNull().references("workflows.id"))
    .addColumn("project", "text", (c) => c.notNull())
    .addColumn("offered_at", "text", (c) => c.notNull())
    .addColumn("offered_by", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("workflow_offers_pk", ["workflow_id", "project"])
    .execute();
  await schema.createIndex("workflow_offers_by_project").on("workflow_offers").column("project").execute();
}

async function addColumns(db: Kysely<never>): Promise<void> {
  const add = (table: string, column: string, type: string) =>
    sql.raw(`alter table ${table} add column ${column} ${type}`).execute(db);
  await add("workflows", "project", "text not null default 'default'");
  await add("runs", "project", "text not null default 'default'");
  await add("api_keys", "projects", "text");
  await add("api_keys", "publish", "integer");
  await add("api_keys", "limits", "text");
  await add("workflow_versions", "lineage", "text");
  await add("workflow_publications", "lineage", "text");
  await add("audit_log", "project", "text not null default 'default'");
  await add("audit_log", "lineage", "text");
  await add("audit_log", "details", "text");
  await add("audit_log", "hash", "text");
  await add("executors", "release", "text");
  await sql`create index workflows_by_project on workflows (project, created_at, id, status)`.execute(db);
  await sql`create index runs_by_project on runs (project, created_at, id)`.execute(db);
  await sql`create index runs_unfinished_by_project on runs (project) where finished_at is null`.execute(db);
}
