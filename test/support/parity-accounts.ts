/** The parity scenarios of keys, users and sessions, which require a cookie and refuse API keys. */
import { idOf, lastOutput, type ParityCall } from "./parity-scenarios.ts";
import type { CallerName, CallResult } from "./surface-clients.ts";

type Input = NonNullable<ParityCall["with"]>;

/** Lets the same caller make all calls. */
const as = (by: CallerName, ...steps: ParityCall[]): ParityCall[] =>
  steps.map((step) => Object.assign({ by }, step));
const call = (name: string, input: Input = {}, expect?: ParityCall["expect"]): ParityCall => ({
  call: name,
  with: input,
  ...(expect && { expect }),
});
/** Scenarios that refuse every API key. */
const noKey = (name: string, input: Input = {}): ParityCall => ({
  ...call(name, input, "person_needed"),
  by: "other",
});
const notFor = (by: CallerName, name: string, input: Input = {}): ParityCall => ({
  ...call(name, input, "missing_scope"),
  by,
});

const invited = (before: readonly CallResult[], index: number): string =>
  (before[index]!.output!["user"] as { id: string }).id;
/** An item of the list that an earlier call returned. */
const listed = (before: readonly CallResult[], index: number, item: number): string =>
  (before[index]!.output!["items"] as { id: string }[])[item]!.id;

/** The editor's sessions, last used first. */
const [TABLET, LAPTOP] = [0, 1];
/** The three initial users, by address. */
const [ANN, ROOT] = [0, 1];

/** The maximum number of keys of a user. */
const ALL_KEYS = Array.from({ length: 100 }, () => call("create_api_key", { name: "one of many" }));

/** The editor's list of keys, then a workflow that the first of them creates, edits and publishes. */
const KEY_HISTORY: ParityCall[] = [
  ...as("editor", call("list_api_keys")),
  ...as(
    "other",
    call("create_workflow", { name: "Made by a key" }),
    call("update_workflow", {
      workflow_id: "made-by-a-key",
      definition: {
        steps: [{ id: "a", type: "set", values: { x: 1 } }],
        triggers: [{ id: "hook", type: "webhook" }],
      },
    }),
    call("publish_workflow", { workflow_id: "made-by-a-key" }),
    call("rotate_trigger", { workflow_id: "made-by-a-key", trigger: "hook" }),
    call("run_workflow", { workflow_id: "made-by-a-key", wait: 20 }),
  ),
];
const revertOf = (before: readonly CallResult[]) => ({
  key_id: listed(before, 0, 0),
  since: "2026-11-21",
  workflows: ["made-by-a-key"],
});

export const ACCOUNT_SCENARIOS: Record<string, ParityCall[]> = {
  create_api_key: [
    ...as(
      "editor",
      call("create_api_key", { name: "ci" }),
      call("create_api_key", {
        name: "until",
        scopes: ["run"],
        expires_at: "2026-11-27",
        idempotency_key: "k",
      }),
      call("create_api_key", {
        name: "until",
        scopes: ["run"],
        expires_at: "2026-11-27",
        idempotency_key: "k",
      }),
      call("create_api_key", { name: "other", idempotency_key: "k" }, "idempotency_key_reused"),
      call("create_api_key", { name: " " }, "invalid_input"),
      call("create_api_key", { name: "ci", scopes: ["admin"], expires_at: "2026-11-01" }, "invalid_input"),
      call("create_api_key", { name: "ci", scopes: ["run"], limits: { tools: ["get_run"] } }),
      call("create_api_key", { name: "ci", limits: { tools: ["get_runs"] } }, "invalid_input"),
      call("create_api_key", { name: "ci", expires_at: "2026-02-30", value: "mine" }, "invalid_input"),
      call("list_api_keys"),
    ),
    ...as("viewer", ...ALL_KEYS, call("create_api_key", { name: "beyond" }, "too_many_keys")),
    noKey("create_api_key", { name: "ci" }),
  ],
  list_api_keys: [
    ...as("editor", call("create_api_key", { name: "one" }), call("create_api_key", { name: "two" })),
    ...as(
      "editor",
      call("list_api_keys"),
      call("list_api_keys", { limit: 1 }),
      call("list_api_keys", (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] })),
      call("list_api_keys", { cursor: "forged" }, "invalid_cursor"),
      call("list_api_keys", { everyone: true }, "missing_scope"),
      call("list_api_keys", { everyone: "perhaps", limit: 0 }, "invalid_input"),
    ),
    ...as("admin", call("list_api_keys"), call("list_api_keys", { everyone: true })),
    noKey("list_api_keys"),
  ],
  describe_key: [
    { ...call("describe_key", { key_id: "self" }), by: "other" },
    { ...call("describe_key", { key_id: "self" }), by: "readOnly" },
    { ...call("describe_key", { key_id: "key_none" }, "api_key_not_found"), by: "other" },
    { ...call("describe_key", { key_id: "x".repeat(101) }, "invalid_input"), by: "other" },
    ...as(
      "editor",
      call("create_api_key", { name: "ci", scopes: ["run"], limits: { tools: ["run_workflow", "get_run"] } }),
    ),
    ...as(
      "editor",
      call("describe_key", (before) => ({ key_id: idOf(before, 4) })),
    ),
    ...as(
      "viewer",
      call("describe_key", (before) => ({ key_id: idOf(before, 4) }), "api_key_not_found"),
    ),
    ...as(
      "admin",
      call("describe_key", (before) => ({ key_id: idOf(before, 4) })),
    ),
  ],
  revoke_api_key: [
    ...as("editor", call("create_api_key", { name: "one" }), call("create_api_key", { name: "two" })),
    ...as(
      "viewer",
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 0) }), "api_key_not_found"),
    ),
    ...as(
      "editor",
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 0), idempotency_key: "r" })),
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 0), idempotency_key: "r" })),
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 0) })),
      call("revoke_api_key", { key_id: "key_none", idempotency_key: "r" }, "idempotency_key_reused"),
      call("revoke_api_key", { key_id: "key_none" }, "api_key_not_found"),
      call("revoke_api_key", { key_id: "x".repeat(101) }, "invalid_input"),
    ),
    ...as(
      "admin",
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 1) })),
    ),
    noKey("revoke_api_key", { key_id: "key_none" }),
  ],
  rotate_api_key: [
    ...as(
      "editor",
      call("create_api_key", { name: "ci", expires_at: "2027-01-31" }),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 0), overlap: "1h", idempotency_key: "r" })),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 0), overlap: "1h", idempotency_key: "r" })),
      call("rotate_api_key", { key_id: "key_none", idempotency_key: "r" }, "idempotency_key_reused"),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 1), expires_at: "2027-06-01" })),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 0), overlap: "31d" }), "invalid_input"),
      call("rotate_api_key", { key_id: "key_none" }, "api_key_not_found"),
      call("revoke_api_key", (before) => ({ key_id: idOf(before, 0) })),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 0) }), "api_key_revoked"),
      call("create_api_key", { name: "short" }),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 9), overlap: "0s" })),
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 9) }), "api_key_expired"),
    ),
    ...as(
      "admin",
      call("rotate_api_key", (before) => ({ key_id: idOf(before, 1) }), "api_key_not_found"),
    ),
    ...as(
      "viewer",
      ...ALL_KEYS,
      call("rotate_api_key", (before) => ({ key_id: String(lastOutput(before)["id"]) }), "too_many_keys"),
    ),
    noKey("rotate_api_key", { key_id: "key_none" }),
  ],
  get_key_changes: [
    ...KEY_HISTORY,
    ...as(
      "editor",
      call("get_key_changes", (before) => ({ key_id: listed(before, 0, 0), since: "2026-11-21" })),
      call("get_key_changes", (before) => ({
        key_id: listed(before, 0, 0),
        since: "2026-11-21T07:00:00Z",
        client: "nobody's",
        include_later: true,
      })),
      call("get_key_changes", (before) => ({ key_id: listed(before, 0, 0), since: "2026-11-22" })),
      call("get_key_changes", { key_id: "key_none", since: "2026-11-21" }, "api_key_not_found"),
      call("get_key_changes", { key_id: "key_none", since: "yesterday", client: "" }, "invalid_input"),
    ),
    ...as(
      "viewer",
      call(
        "get_key_changes",
        (before) => ({ key_id: listed(before, 0, 0), since: "2026-11-21" }),
        "api_key_not_found",
      ),
    ),
    ...as(
      "admin",
      call("get_key_changes", (before) => ({ key_id: listed(before, 0, 0), since: "2026-11-21" })),
    ),
    noKey("get_key_changes", { key_id: "key_none", since: "2026-11-21" }),
  ],
  revert_key_changes: [
    ...KEY_HISTORY,
    ...as(
      "editor",
      call("revert_key_changes", (before) => ({
        key_id: listed(before, 0, 0),
        since: "2026-11-21",
        dry_run: true,
      })),
      call("revert_key_changes", (before) => ({ ...revertOf(before), idempotency_key: "r" })),
      call("revert_key_changes", (before) => ({ ...revertOf(before), idempotency_key: "r" })),
      call(
        "revert_key_changes",
        (before) => ({ ...revertOf(before), include_later: true, idempotency_key: "r" }),
        "idempotency_key_reused",
      ),
      call("revert_key_changes", (before) => ({
        ...revertOf(before),
        break_callers: [],
        rotate_triggers: true,
      })),
      call("get_workflow", { workflow_id: "made-by-a-key" }),
      call(
        "revert_key_changes",
        (before) => ({ ...revertOf(before), workflows: ["nothing"], subscriptions: ["sub_none"] }),
        "invalid_input",
      ),
      call("revert_key_changes", { key_id: "key_none", since: "2026-11-21" }, "api_key_not_found"),
      call(
        "revert_key_changes",
        { key_id: "key_none", since: "yesterday", client: "", workflows: [], dry_run: "yes" },
        "invalid_input",
      ),
    ),
    notFor("viewer", "revert_key_changes", { key_id: "key_none", since: "2026-11-21" }),
    noKey("revert_key_changes", { key_id: "key_none", since: "2026-11-21" }),
  ],
  invite_user: [
    ...as(
      "admin",
      call("invite_user", { email: "New@Example.com", role: "viewer", idempotency_key: "i" }),
      call("invite_user", { email: "New@Example.com", role: "viewer", idempotency_key: "i" }),
      call(
        "invite_user",
        { email: "b@example.com", role: "viewer", idempotency_key: "i" },
        "idempotency_key_reused",
      ),
      call("invite_user", { email: "ann@example.com", role: "admin" }, "email_taken"),
      call("invite_user", { email: "nobody", role: "king" }, "invalid_input"),
      call("list_users"),
    ),
    notFor("editor", "invite_user", { email: "c@example.com", role: "viewer" }),
    noKey("invite_user", { email: "c@example.com", role: "viewer" }),
  ],
  list_users: [
    ...as(
      "admin",
      call("list_users"),
      call("list_users", { search: "AN", role: "editor", status: "active" }),
      call("list_users", { limit: 2 }),
      call("list_users", (before) => ({ limit: 2, cursor: lastOutput(before)["next_cursor"] })),
      call("list_users", { cursor: "forged" }, "invalid_cursor"),
      call("list_users", { role: "king", status: "gone" }, "invalid_input"),
    ),
    notFor("viewer", "list_users"),
    noKey("list_users"),
  ],
  renew_invitation: [
    ...as(
      "admin",
      call("invite_user", { email: "new@example.com", role: "viewer" }),
      call("renew_invitation", (before) => ({ user_id: invited(before, 0), idempotency_key: "r" })),
      call("renew_invitation", (before) => ({ user_id: invited(before, 0), idempotency_key: "r" })),
      call("renew_invitation", { user_id: "usr_none", idempotency_key: "r" }, "idempotency_key_reused"),
      call("renew_invitation", { user_id: "usr_none" }, "user_not_found"),
      call("renew_invitation", { user_id: " " }, "invalid_input"),
      call("list_users"),
      call("renew_invitation", (before) => ({ user_id: listed(before, 6, ANN) }), "user_not_invited"),
    ),
    notFor("editor", "renew_invitation", { user_id: "usr_none" }),
    noKey("renew_invitation", { user_id: "usr_none" }),
  ],
  reset_user_password: [
    ...as(
      "admin",
      call("list_users"),
      call("reset_user_password", (before) => ({ user_id: listed(before, 0, ANN), idempotency_key: "r" })),
      call("reset_user_password", (before) => ({ user_id: listed(before, 0, ANN), idempotency_key: "r" })),
      call("reset_user_password", { user_id: "usr_none", idempotency_key: "r" }, "idempotency_key_reused"),
      call("reset_user_password", { user_id: "usr_none" }, "user_not_found"),
      call("reset_user_password", { user_id: "x".repeat(101) }, "invalid_input"),
      call("invite_user", { email: "new@example.com", role: "viewer" }),
      call("reset_user_password", (before) => ({ user_id: invited(before, 6) }), "user_not_active"),
    ),
    notFor("editor", "reset_user_password", { user_id: "usr_none" }),
    noKey("reset_user_password", { user_id: "usr_none" }),
  ],
  update_user: [
    ...as(
      "admin",
      call("list_users"),
      call("update_user", (before) => ({ user_id: listed(before, 0, ANN), role: "viewer" })),
      call("update_user", (before) => ({ user_id: listed(before, 0, ANN), status: "deactivated" })),
      call("update_user", (before) => ({
        user_id: listed(before, 0, ANN),
        status: "active",
        role: "editor",
      })),
      call("update_user", (before) => ({ user_id: listed(before, 0, ANN) })),
      call("update_user", (before) => ({ user_id: listed(before, 0, ROOT), role: "viewer" }), "last_admin"),
      call("invite_user", { email: "new@example.com", role: "viewer" }),
      call("update_user", (before) => ({ user_id: invited(before, 6), status: "active" }), "user_not_active"),
      call("update_user", (before) => ({ user_id: invited(before, 6), status: "deactivated" })),
      call("update_user", (before) => ({ user_id: invited(before, 6), status: "active" })),
      call("update_user", { user_id: "usr_none" }, "user_not_found"),
      call("update_user", { user_id: "usr_none", role: "king", status: "invited" }, "invalid_input"),
    ),
    notFor("viewer", "update_user", { user_id: "usr_none" }),
    noKey("update_user", { user_id: "usr_none" }),
  ],
  list_sessions: [
    ...as(
      "editor",
      call("list_sessions"),
      call("list_sessions", { limit: 1 }),
      call("list_sessions", (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] })),
      call("list_sessions", { cursor: "forged" }, "invalid_cursor"),
      call("list_sessions", { limit: 201 }, "invalid_input"),
    ),
    noKey("list_sessions"),
  ],
  end_session: [
    ...as(
      "editor",
      call("list_sessions"),
      call("end_session", (before) => ({ session_id: listed(before, 0, TABLET), idempotency_key: "e" })),
      call("end_session", (before) => ({ session_id: listed(before, 0, TABLET), idempotency_key: "e" })),
      call("end_session", { session_id: "ses_none", idempotency_key: "e" }, "idempotency_key_reused"),
      call("end_session", (before) => ({ session_id: listed(before, 0, TABLET) }), "session_not_found"),
      call("end_session", { session_id: "x".repeat(101) }, "invalid_input"),
    ),
    ...as(
      "admin",
      call("end_session", (before) => ({ session_id: listed(before, 0, LAPTOP) }), "session_not_found"),
    ),
    noKey("end_session", { session_id: "ses_none" }),
    ...as("editor", call("list_sessions")),
  ],
  get_absence: [
    ...as("editor", call("get_absence"), call("get_absence", { of: "ann" }, "invalid_input")),
    noKey("get_absence"),
  ],
  set_absence: [
    ...as(
      "admin",
      call("set_absence", { until: "2027-01-07T08:00:00Z", substitute: "ann@example.com" }),
      call(
        "set_absence",
        { until: "2027-01-07T08:00:00Z", substitute: "ann@example.com", person: "no@example.com" },
        "invalid_input",
      ),
    ),
    ...as(
      "editor",
      // They would stand in for each other.
      call("set_absence", { until: "2026-12-24T08:00:00Z", substitute: "root@example.com" }, "invalid_input"),
      call("set_absence", {
        from: "2027-02-01T08:00:00Z",
        until: "2027-02-08T08:00:00Z",
        substitute: "root@example.com",
      }),
      call("set_absence", { until: "2020-01-01T08:00:00Z", substitute: "root@example.com" }, "invalid_input"),
      call(
        "set_absence",
        { until: "2027-01-07T08:00:00Z", substitute: "ann@example.com", person: "root@example.com" },
        "missing_scope",
      ),
      call("set_absence", { until: "2027-01-07", substitute: "root@example.com" }, "invalid_input"),
      call("set_absence", { until: "2027-01-07T08:00:00Z", substitute: "ann@example.com" }, "invalid_input"),
      call("get_absence"),
    ),
    noKey("set_absence", { until: "2027-01-07T08:00:00Z", substitute: "root@example.com" }),
  ],
  end_absence: [
    ...as(
      "editor",
      call("set_absence", { until: "2027-01-07T08:00:00Z", substitute: "root@example.com" }),
      call("end_absence"),
      call("end_absence"),
      call("end_absence", { everywhere: true }, "invalid_input"),
      call("end_absence", { person: "root@example.com" }, "missing_scope"),
    ),
    noKey("end_absence"),
  ],
  end_other_sessions: [
    ...as(
      "editor",
      call("end_other_sessions", { idempotency_key: "e" }),
      call("end_other_sessions", { idempotency_key: "e" }),
      call("end_other_sessions", { everywhere: true }, "invalid_input"),
      call("list_sessions"),
    ),
    noKey("end_other_sessions"),
  ],
  list_audit_log: [
    ...as(
      "admin",
      call("list_audit_log"),
      call("invite_user", { email: "new@example.com", role: "viewer" }),
      call("list_audit_log", { search: "parity NEW", operation: "invite_user", target: "new@example.com" }),
      call("list_audit_log", { owner: "ann@example.com", since: "2026-11-21", until: "2026-11-22" }),
      call("list_audit_log", { limit: 2 }),
      call("list_audit_log", (before) => ({ limit: 2, cursor: lastOutput(before)["next_cursor"] })),
      call("list_audit_log", { cursor: "forged" }, "invalid_cursor"),
      call("list_audit_log", { project: "default", limit: 1 }),
      call("list_audit_log", { project: "none" }, "project_not_found"),
      call("list_audit_log", { surface: "telnet", since: "yesterday" }, "invalid_input"),
    ),
    notFor("full", "list_audit_log"),
    notFor("editor", "list_audit_log"),
  ],
  export_audit_log: [
    ...as(
      "admin",
      call("invite_user", { email: "new@example.com", role: "viewer" }),
      call("export_audit_log"),
      call("export_audit_log", { project: "default", operation: "invite_user" }),
      call("export_audit_log", { target: "nobody@example.com" }),
      call("export_audit_log", { limit: 2 }),
      call("export_audit_log", (before) => ({ limit: 2, cursor: lastOutput(before)["next_cursor"] })),
      call("export_audit_log", { cursor: "forged" }, "invalid_cursor"),
      call("export_audit_log", { project: "nowhere" }, "project_not_found"),
      call("export_audit_log", { since: "yesterday" }, "invalid_input"),
    ),
    notFor("full", "export_audit_log"),
    notFor("editor", "export_audit_log"),
  ],
};
