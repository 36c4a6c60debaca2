/** The parity scenarios of projects and their members. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";
import type { CallerName } from "./surface-clients.ts";

type Input = NonNullable<ParityCall["with"]>;

const as = (by: CallerName, ...steps: ParityCall[]): ParityCall[] =>
  steps.map((step) => Object.assign({ by }, step));
const call = (name: string, input: Input = {}, expect?: ParityCall["expect"]): ParityCall => ({
  call: name,
  with: input,
  ...(expect && { expect }),
});

const finance = call("create_project", { name: "Finance", description: "Reports", idempotency_key: "f" });
const ann = { project: "finance", email: "ann@example.com" };

export const PROJECT_SCENARIOS: Record<string, ParityCall[]> = {
  create_project: [
    ...as(
      "admin",
      finance,
      finance,
      call("create_project", { name: "Other", idempotency_key: "f" }, "idempotency_key_reused"),
      call("create_project", { name: "Finance" }, "project_taken"),
      call("create_project", { name: "Default" }, "project_taken"),
      call("create_project", {
        name: "Everything",
        id: "all",
        connections: "all",
        limits: { runs_per_hour: 5 },
      }),
      call("create_project", { name: "★" }, "invalid_input"),
      call("create_project", { name: "東京", id: "tokyo" }),
      call(
        "create_project",
        { name: " ", id: "No", connections: "some", limits: { runs: 1 } },
        "invalid_input",
      ),
      call("list_projects"),
    ),
    { ...call("create_project", { name: "Mine" }, "missing_scope"), by: "editor" },
    { ...call("create_project", { name: "Mine" }, "missing_scope"), by: "full" },
  ],
  list_projects: [
    call("list_projects"),
    ...as("admin", finance, call("create_project", { name: "Sales" })),
    ...as(
      "admin",
      call("list_projects", { limit: 2 }),
      call("list_projects", (before) => ({ limit: 2, cursor: lastOutput(before)["next_cursor"] })),
      call("list_projects", { cursor: "forged" }, "invalid_cursor"),
      call("list_projects", { limit: 0 }, "invalid_input"),
      call("set_project_member", { ...ann, role: "viewer" }),
    ),
    { ...call("list_projects"), by: "editor" },
    { ...call("list_projects"), by: "viewer" },
    { ...call("list_projects"), readOnly: true },
  ],
  get_project: [
    call("get_project", { project: "default" }),
    ...as("admin", finance),
    ...as(
      "admin",
      call("get_project", { project: "finance" }),
      call("get_project", { project: "finnance" }, "project_not_found"),
      call("get_project", { project: "x".repeat(201) }, "invalid_input"),
    ),
    // A caller without a role in it does not learn that it exists.
    { ...call("get_project", { project: "finance" }, "project_not_found"), by: "editor" },
    { ...call("get_project", { project: "finance" }, "project_not_found"), readOnly: true },
  ],
  update_project: [
    ...as(
      "admin",
      finance,
      call("update_project", {
        project: "finance",
        name: "Money",
        review: true,
        http_public: "list",
        limits: { runs_per_hour: 10, unfinished_runs: 2 },
      }),
      call("update_project", { project: "finance", limits: { runs_per_hour: null } }),
      call("update_project", { project: "finance" }),
      call("update_project", { project: "default", description: "What was there before" }),
      call("update_project", { project: "finnance", name: "Money" }, "project_not_found"),
      call("update_project", { project: "finance", connections: "some", review: 1 }, "invalid_input"),
      call("set_project_member", { ...ann, role: "admin" }),
    ),
    ...as(
      "editor",
      call("update_project", { project: "finance", description: "Ours", review: false }),
      call(
        "update_project",
        { project: "finance", name: "X", limits: { runs_per_hour: 9 } },
        "missing_scope",
      ),
      call("update_project", { project: "default", name: "Mine" }, "missing_scope"),
    ),
    { ...call("update_project", { project: "default", name: "Mine" }, "missing_scope"), by: "full" },
  ],
  delete_project: [
    ...as(
      "admin",
      finance,
      call("delete_project", { project: "default" }, "project_not_empty"),
      call("delete_project", { project: "finnance" }, "project_not_found"),
      call("delete_project", { project: "x".repeat(201) }, "invalid_input"),
    ),
    { ...call("delete_project", { project: "finance" }, "missing_scope"), by: "editor" },
    ...as("admin", call("delete_project", { project: "finance" }), call("list_projects")),
  ],
  move_workflow: [
    ...as(
      "admin",
      finance,
      call("create_workflow", { name: "Weekly" }),
      call("create_workflow", {
        name: "Base",
        definition: { steps: [{ id: "a", type: "set", values: { n: 1 } }] },
      }),
      call("publish_workflow", { workflow_id: "base" }),
      call("create_workflow", {
        name: "Asks",
        definition: { steps: [{ id: "q", type: "workflow", workflow: "base" }] },
      }),
      call("create_workflow", {
        name: "Caller",
        definition: { steps: [{ id: "c", type: "workflow", workflow: "weekly" }] },
      }),
      call("publish_workflow", { workflow_id: "asks" }),
      call("move_workflow", { workflow_id: "weekly", project: "finance" }, "callers_would_break"),
      call("archive_workflow", { workflow_id: "caller" }),
      call("move_workflow", { workflow_id: "weekly", project: "finance", if_match: 2 }, "version_conflict"),
      call("move_workflow", { workflow_id: "weekly", project: "finance", idempotency_key: "m" }),
      call("move_workflow", { workflow_id: "weekly", project: "finance", idempotency_key: "m" }),
      call(
        "move_workflow",
        { workflow_id: "asks", project: "finance", force: true, idempotency_key: "m" },
        "idempotency_key_reused",
      ),
      call("move_workflow", { workflow_id: "weekly", project: "finance" }),
      call("get_workflow", { workflow_id: "weekly" }),
      call("move_workflow", { workflow_id: "asks", project: "finance" }, "workflow_not_runnable"),
      call("move_workflow", { workflow_id: "asks", project: "finance", force: true }),
      call("move_workflow", { workflow_id: "asks", project: "none" }, "project_not_found"),
      call("move_workflow", { workflow_id: "none", project: "finance" }, "workflow_not_found"),
      call("move_workflow", { workflow_id: "asks", project: 1, force: "yes" }, "invalid_input"),
      call("list_workflows", { project: "finance" }),
    ),
    { ...call("move_workflow", { workflow_id: "asks", project: "default" }, "missing_scope"), by: "editor" },
    { ...call("move_workflow", { workflow_id: "asks", project: "default" }, "missing_scope"), by: "full" },
  ],
  list_grants: [
    ...as(
      "admin",
      finance,
      call("list_grants", { project: "finance" }),
      call("add_grant", { project: "finance", kind: "database", name: "shop" }),
      call("add_grant", { project: "finance", kind: "database", name: "gone", access: "read-only" }),
      call("list_grants", { project: "finance", limit: 1 }),
      call("list_grants", (before) => ({
        project: "finance",
        limit: 1,
        cursor: lastOutput(before)["next_cursor"],
      })),
      call("list_grants", { project: "finance", cursor: "forged" }, "invalid_cursor"),
      call("list_grants", { project: "none" }, "project_not_found"),
      call("list_grants", { project: "finance", limit: 0 }, "invalid_input"),
    ),
    { ...call("list_grants", { project: "finance" }, "project_not_found"), by: "editor" },
  ],
  add_grant: [
    ...as(
      "admin",
      finance,
      call("add_grant", { project: "finance", kind: "database", name: "shop" }),
      call("add_grant", { project: "finance", kind: "database", name: "shop", access: "read-only" }),
      call("add_grant", { project: "finance", kind: "database", name: "shp" }, "invalid_input"),
      call("add_grant", { project: "finance", kind: "database", name: "shop", role: "x" }, "invalid_input"),
      call("add_grant", { project: "finance", kind: "model", name: "m", tools: ["a"] }, "invalid_input"),
      call("add_grant", { project: "none", kind: "database", name: "shop" }, "project_not_found"),
      call("list_grants", { project: "finance" }),
    ),
    {
      ...call("add_grant", { project: "finance", kind: "database", name: "shop" }, "missing_scope"),
      by: "editor",
    },
  ],
  remove_grant: [
    ...as(
      "admin",
      finance,
      call("add_grant", { project: "finance", kind: "database", name: "shop" }),
      call("remove_grant", { project: "finance", kind: "database", name: "shop" }),
      call("remove_grant", { project: "finance", kind: "database", name: "shop" }, "grant_not_found"),
      call("remove_grant", { project: "none", kind: "database", name: "shop" }, "project_not_found"),
      call("remove_grant", { project: "finance", kind: "table", name: "shop" }, "invalid_input"),
    ),
    {
      ...call("remove_grant", { project: "finance", kind: "database", name: "shop" }, "missing_scope"),
      by: "editor",
    },
  ],
  list_project_members: [
    ...as(
      "admin",
      finance,
      call("list_project_members", { project: "finance" }),
      call("set_project_member", { ...ann, role: "editor" }),
      call("set_project_member", { project: "finance", email: "new@example.com", role: "viewer" }),
      call("list_project_members", { project: "finance", limit: 1 }),
      call("list_project_members", (before) => ({
        project: "finance",
        limit: 1,
        cursor: lastOutput(before)["next_cursor"],
      })),
      call("list_project_members", { project: "finance", cursor: "forged" }, "invalid_cursor"),
      call("list_project_members", { project: "default" }, "invalid_input"),
      call("list_project_members", { project: "none" }, "project_not_found"),
    ),
    { ...call("list_project_members", { project: "finance" }, "missing_scope"), by: "editor" },
    { ...call("list_project_members", { project: "finance" }, "person_needed"), by: "full" },
  ],
  set_project_member: [
    ...as(
      "admin",
      finance,
      call("set_project_member", { ...ann, role: "admin" }),
      call("set_project_member", { ...ann, role: "admin" }),
      call("set_project_member", { project: "finance", email: "New@Example.com", role: "viewer" }),
      call("set_project_member", { ...ann, project: "none", role: "admin" }, "project_not_found"),
      call("set_project_member", { ...ann, project: "default", role: "admin" }, "invalid_input"),
      call("set_project_member", { project: "finance", email: "nobody", role: "member" }, "invalid_input"),
    ),
    ...as(
      "editor",
      call("set_project_member", { project: "finance", email: "vic@example.com", role: "viewer" }),
      call("list_project_members", { project: "finance" }),
    ),
    { ...call("set_project_member", { ...ann, role: "viewer" }, "missing_scope"), by: "viewer" },
    { ...call("set_project_member", { ...ann, role: "viewer" }, "person_needed"), by: "other" },
  ],
  remove_project_member: [
    ...as(
      "admin",
      finance,
      call("set_project_member", { ...ann, role: "viewer" }),
      call("remove_project_member", ann),
      call("remove_project_member", ann, "member_not_found"),
      call("remove_project_member", { ...ann, project: "none" }, "project_not_found"),
      call("remove_project_member", { project: "finance", email: "nobody" }, "invalid_input"),
    ),
    { ...call("remove_project_member", ann, "missing_scope"), by: "editor" },
    { ...call("remove_project_member", ann, "person_needed"), by: "full" },
  ],
};
