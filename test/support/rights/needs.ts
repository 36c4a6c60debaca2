/** What each operation needs, and what each role and each key with limits can have: said again, without the program. */

export type Scope = "read" | "write" | "publish" | "run" | "approve" | "admin";
export type Role = "member" | "viewer" | "editor" | "admin";
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  member: [],
  viewer: ["read"],
  editor: ["read", "write", "publish", "run", "approve"],
  admin: ["read", "write", "publish", "run", "approve", "admin"],
};
/** What a key can have that is limited to workflows. */
export const WITHIN_WORKFLOWS: ReadonlySet<Scope> = new Set<Scope>(["read", "run", "approve"]);
/** The scope that each operation needs in the project of what it is about. */
const NEEDS = {
  read: [
    "create_api_key",
    "describe_key",
    "get_approval",
    "get_run",
    "get_triggers",
    "get_workflow",
    "get_workflow_state",
    "list_approvals",
    "list_runs",
    "list_workflows",
    "revoke_api_key",
    "rotate_api_key",
  ],
  write: ["archive_workflow", "create_workflow", "restore_workflow", "set_workflow_state", "update_workflow"],
  publish: [
    "decide_review",
    "pause_schedule",
    "publish_workflow",
    "redeliver_trigger_delivery",
    "resume_schedule",
    "rotate_trigger",
    "unpublish_workflow",
    "withdraw_review",
  ],
  run: ["cancel_run", "retry_run", "run_step", "run_workflow", "start_backfill"],
  approve: ["decide_approval", "delegate_approval"],
  admin: [
    "create_subscription",
    "delete_subscription",
    "get_subscription",
    "list_audit_log",
    "list_project_members",
    "move_workflow",
    "offer_workflow",
    "remove_project_member",
    "set_project_member",
    "update_project",
    "update_subscription",
    "update_user",
  ],
} as const satisfies Record<Scope, readonly string[]>;
export type Operation = (typeof NEEDS)[Scope][number];
export const SCOPE_OF: ReadonlyMap<string, Scope> = new Map<string, Scope>(
  Object.entries(NEEDS).flatMap(([scope, names]) => names.map((name) => [name, scope as Scope])),
);
/** No key can use these. */
export const FOR_PEOPLE: ReadonlySet<Operation> = new Set<Operation>([
  "create_api_key",
  "decide_review",
  "list_project_members",
  "remove_project_member",
  "revoke_api_key",
  "rotate_api_key",
  "set_project_member",
  "update_user",
]);
