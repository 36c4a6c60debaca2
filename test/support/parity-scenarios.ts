/** The parity scenarios: every operation, with its successes and each error that it declares. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { ErrorCode } from "../../src/core/errors.ts";
import { temporaryDirectory } from "./instance.ts";
import type { Json } from "./json.ts";
import { TESTED_PUBLICATIONS } from "./parity-backtests.ts";
import type { CallerName, CallResult } from "./surface-clients.ts";

/** A call; `expect` is its expected error, undefined for success. */
export interface ParityCall {
  call: string;
  with?: Input | ((before: readonly CallResult[]) => Input);
  expect?: ErrorCode;
  /** Uses the read-only key. */
  readOnly?: boolean;
  /** Uses another key, or a signed-in user. */
  by?: CallerName;
}

type Input = Record<string, unknown>;

/** The output of the previous call. */
export const lastOutput = (before: readonly CallResult[]): Json => before.at(-1)!.output!;

const create = (input: Input): ParityCall => ({ call: "create_workflow", with: input });
const archive = (workflow_id: string): ParityCall => ({ call: "archive_workflow", with: { workflow_id } });
const WEEKLY = create({
  name: "Weekly revenue",
  description: "By region",
  tags: ["finance"],
  definition: { steps: [{ id: "a" }] },
});
const COUNTER = create({
  name: "Counter",
  definition: {
    state: { last_id: { type: "integer", default: 0 } },
    steps: [{ id: "a", type: "set", values: { x: 1 } }],
  },
});
const NIGHTLY = create({ name: "Nightly backup" });

/** The configuration of the scenarios: an existing database, and a missing one. */
export function parityConfig() {
  const directory = temporaryDirectory();
  const dataset = join(directory, "shop.db");
  const db = new DatabaseSync(dataset);
  db.exec(
    "pragma synchronous = off; create table orders (region text not null, amount real); insert into orders values ('north', 120)",
  );
  db.close();
  return {
    databases: [
      { name: "gone", type: "sqlite", dataset: join(directory, "gone.db") },
      { name: "shop", type: "sqlite", dataset },
    ],
    limits: { unfinished_runs: 3 },
  };
}

const HELLO = {
  inputs: { type: "object", properties: { name: { type: "string", default: "you" } } },
  steps: [{ id: "hello", type: "set", values: { greeting: "Good morning, ${{ inputs.name }}" } }],
};
const hello = create({ name: "Hello", definition: HELLO });
const failing = create({
  name: "Failing",
  definition: { steps: [{ id: "check", type: "assert", that: "1 > 2", message: "Never." }] },
});
const SENDING = { steps: [{ id: "send", type: "http", method: "POST", url: "https://example.com/" }] };
const sending = create({ name: "Sending", definition: SENDING });
const pausing = create({
  name: "Pausing",
  definition: { steps: [{ id: "pause", type: "wait", for: "1d" }] },
});
const asking = create({
  name: "Asking",
  definition: {
    steps: [
      {
        id: "ask",
        type: "approval",
        message: "Go?",
        form: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
        timeout: "2h",
      },
    ],
  },
});
const scheduled = create({
  name: "Nightly",
  definition: { ...HELLO, schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" } },
});
const issuey = create({ name: "Faulty", definition: { steps: [{ id: "a", type: "sett" }] } });
const empty = create({ name: "Empty" });

const tool = create({ name: "Tool", definition: { ...HELLO, expose_as_tool: true } });
/** Allows what the exposure read before does not show. */
const allow = (more: Partial<ParityCall>): ParityCall => ({
  call: "allow_exposure",
  with: { workflow_id: "tool", digest: "unknown", idempotency_key: "a" },
  ...more,
});
/** Allows what the previous call has shown. */
const allowing = (before: readonly CallResult[]): Input => ({
  workflow_id: "tool",
  digest: lastOutput(before)["digest"] as string,
  idempotency_key: "a",
});

const offer = (workflow_id: string, projects: string[], more: Input = {}): ParityCall => ({
  call: "offer_workflow",
  with: { workflow_id, projects, ...more },
  by: "admin",
});

const run = (workflow_id: string, input: Input = {}): ParityCall => ({
  call: "run_workflow",
  with: { workflow_id, wait: 20, ...input },
});
/** A published workflow, and a published one that runs it and reads its output. */
const calledHello = (project?: string): ParityCall[] => [
  hello,
  publish("hello"),
  ...(project === undefined
    ? []
    : [{ call: "create_project", with: { name: project }, by: "admin" as const }, offer("hello", [project])]),
  {
    ...create({
      name: "Asks",
      ...(project !== undefined && { project }),
      definition: {
        steps: [{ id: "sub", type: "workflow", workflow: "hello" }],
        output: "${{ steps.sub.output.greeting }}",
      },
    }),
    ...(project !== undefined && { by: "admin" as const }),
  },
  {
    ...publish(project === undefined ? "asks" : `${project}.asks`),
    ...(project !== undefined && { by: "admin" as const }),
  },
];
const publish = (workflow_id: string): ParityCall => ({ call: "publish_workflow", with: { workflow_id } });
/** The id in the output of an earlier call. */
export const idOf = (before: readonly CallResult[], index: number): string =>
  before[index]!.output!["id"] as string;
/** The approval that the run of an earlier call waits for. */
const approvalOf = (before: readonly CallResult[], index: number): string =>
  (before[index]!.output!["approvals"] as { id: string }[])[0]!.id;
/** Passes on the approval that the run of a call waits for. */
const delegate = ({
  by,
  expect,
  to,
  key,
  of = 1,
}: { to: string; key?: string; of?: number } & Pick<ParityCall, "by" | "expect">): ParityCall => ({
  call: "delegate_approval",
  with: (before) => ({
    approval_id: approvalOf(before, of),
    to,
    ...(key !== undefined && { idempotency_key: key }),
  }),
  ...(by !== undefined && { by }),
  ...(expect !== undefined && { expect }),
});
/** The maximum number of unfinished runs. */
export const crowded: ParityCall[] = [pausing, run("pausing"), run("pausing"), run("pausing")];

/** The errors that all operations on a workflow share. */
const wrongId = (call: string, more: Input = {}, by: CallerName = "full"): ParityCall[] => [
  { call, by, with: { workflow_id: "weekly-revenu", ...more }, expect: "workflow_not_found" },
  { call, by, with: { workflow_id: "nothing like it", ...more }, expect: "workflow_not_found" },
  { call, by, with: { workflow_id: "x".repeat(201), ...more }, expect: "invalid_input" },
];

/** The calls of each operation, on new instances; the results of all calls are compared. */
export const SCENARIOS: Record<string, ParityCall[]> = {
  create_workflow: [
    WEEKLY,
    create({ name: "Weekly revenue" }),
    create({ name: '  Ünïcode & "quotes" 東京', description: "x".repeat(10_000), reason: "why not" }),
    create({ name: "Once", idempotency_key: "k1" }),
    create({ name: "Once", idempotency_key: "k1" }),
    {
      call: "create_workflow",
      with: { name: "Twice", idempotency_key: "k1" },
      expect: "idempotency_key_reused",
    },
    create({ name: "Other", id: "chosen" }),
    { call: "create_workflow", with: { name: "Other", id: "chosen" }, expect: "workflow_id_taken" },
    { call: "create_workflow", with: {}, expect: "invalid_input" },
    { call: "create_workflow", with: { name: "Trail", from: ["run_none"] }, expect: "run_not_found" },
    {
      call: "create_workflow",
      with: { name: "Trail", from: ["run_none"], definition: {} },
      expect: "invalid_input",
    },
    { call: "create_workflow", with: { nmae: "Weekly" }, expect: "invalid_input" },
    {
      call: "create_workflow",
      with: { name: 1, description: 2, tags: 3, definition: [], reason: true, extra: {} },
      expect: "invalid_input",
    },
    { call: "create_workflow", with: { name: " ", tags: ["a", "a"] }, expect: "invalid_input" },
    { call: "create_workflow", with: { name: "a\u0000b" }, expect: "invalid_input" },
    { call: "create_workflow", with: { name: "Denied" }, readOnly: true, expect: "missing_scope" },
    { call: "list_workflows" },
    { call: "create_workflow", with: { name: "Elsewhere", project: "none" }, expect: "project_not_found" },
  ],
  get_workflow: [
    WEEKLY,
    { call: "get_workflow", with: { workflow_id: "weekly-revenue" } },
    { call: "get_workflow", with: { workflow_id: "weekly-revenue" }, readOnly: true },
    { call: "update_workflow", with: { workflow_id: "weekly-revenue", name: "Renamed", reason: "Clearer" } },
    {
      call: "get_workflow",
      with: { workflow_id: "weekly-revenue", version: 1, include: ["versions", "schedule"] },
    },
    {
      call: "get_workflow",
      with: { workflow_id: "weekly-revenue", version: 3 },
      expect: "version_not_found",
    },
    ...wrongId("get_workflow"),
  ],
  get_workflow_version: [
    WEEKLY,
    { call: "update_workflow", with: { workflow_id: "weekly-revenue", name: "Renamed", reason: "Clearer" } },
    { call: "get_workflow_version", with: { workflow_id: "weekly-revenue", version: 1 } },
    { call: "get_workflow_version", with: { workflow_id: "weekly-revenue", version: 2 } },
    {
      call: "get_workflow_version",
      with: { workflow_id: "weekly-revenue", version: 3 },
      expect: "version_not_found",
    },
    {
      call: "get_workflow_version",
      with: { workflow_id: "weekly-revenue", version: 0 },
      expect: "invalid_input",
    },
    { call: "get_workflow_version", with: { workflow_id: "none", version: 1 }, expect: "workflow_not_found" },
  ],
  update_workflow: [
    WEEKLY,
    NIGHTLY,
    { call: "update_workflow", with: { workflow_id: "weekly-revenue", description: "Net, by region" } },
    { call: "update_workflow", with: { workflow_id: "weekly-revenue", description: "Net, by region" } },
    {
      call: "update_workflow",
      with: { workflow_id: "weekly-revenue", tags: [], reason: "Start again", if_match: 2 },
    },
    {
      call: "update_workflow",
      with: { workflow_id: "weekly-revenue", name: "Lost", if_match: 1 },
      expect: "version_conflict",
    },
    { call: "update_workflow", with: { workflow_id: "weekly-revenue", name: "" }, expect: "invalid_input" },
    {
      call: "update_workflow",
      with: { workflow_id: "weekly-revenue", descripton: "x", name: 7 },
      expect: "invalid_input",
    },
    {
      call: "update_workflow",
      with: { workflow_id: "nightly-backup" },
      readOnly: true,
      expect: "missing_scope",
    },
    ...wrongId("update_workflow"),
    hello,
    {
      call: "update_workflow",
      with: {
        workflow_id: "hello",
        patch: [
          { op: "rename_step", id: "hello", to: "greet" },
          { op: "add_step", step: { id: "first", type: "set", values: { a: 1 } }, before: "greet" },
          { op: "update_top", set: { output: "${{ steps.greet.greeting }}" } },
        ],
      },
    },
    {
      call: "update_workflow",
      with: {
        workflow_id: "hello",
        patch: [{ op: "move_step", id: "grete", after: "first" }, { op: "remove_step" }],
      },
      expect: "invalid_input",
    },
    {
      call: "update_workflow",
      with: { workflow_id: "hello", patch: [], definition: {} },
      expect: "invalid_input",
    },
    archive("nightly-backup"),
    {
      call: "update_workflow",
      with: { workflow_id: "nightly-backup", name: "Late" },
      expect: "workflow_archived",
    },
  ],
  archive_workflow: [
    WEEKLY,
    {
      call: "archive_workflow",
      with: { workflow_id: "weekly-revenue", if_match: 7 },
      expect: "version_conflict",
    },
    {
      call: "archive_workflow",
      with: { workflow_id: "weekly-revenue" },
      readOnly: true,
      expect: "missing_scope",
    },
    { call: "archive_workflow", with: { workflow_id: "weekly-revenue", reason: "Unused", if_match: 1 } },
    archive("weekly-revenue"),
    { call: "list_workflows" },
    { call: "list_workflows", with: { status: "archived" } },
    ...calledHello(),
    { ...archive("hello"), expect: "callers_would_break" },
    { call: "archive_workflow", with: { workflow_id: "hello", break_callers: ["asks"] } },
    ...wrongId("archive_workflow"),
  ],
  restore_workflow: [
    WEEKLY,
    { call: "restore_workflow", with: { workflow_id: "weekly-revenue" } },
    archive("weekly-revenue"),
    {
      call: "restore_workflow",
      with: { workflow_id: "weekly-revenue", if_match: 1 },
      expect: "version_conflict",
    },
    {
      call: "restore_workflow",
      with: { workflow_id: "weekly-revenue", reason: "Needed", idempotency_key: "r" },
    },
    archive("weekly-revenue"),
    {
      call: "restore_workflow",
      with: { workflow_id: "weekly-revenue", reason: "Needed", idempotency_key: "r" },
    },
    {
      call: "restore_workflow",
      with: { workflow_id: "weekly-revenue", idempotency_key: "r" },
      expect: "idempotency_key_reused",
    },
    { call: "get_workflow", with: { workflow_id: "weekly-revenue" } },
    {
      call: "restore_workflow",
      with: { workflow_id: "weekly-revenue" },
      readOnly: true,
      expect: "missing_scope",
    },
    ...wrongId("restore_workflow"),
  ],
  get_workflow_state: [
    COUNTER,
    { call: "get_workflow_state", with: { workflow_id: "counter" } },
    NIGHTLY,
    { call: "get_workflow_state", with: { workflow_id: "nightly-backup" }, expect: "state_not_found" },
    ...wrongId("get_workflow_state"),
  ],
  set_workflow_state: [
    COUNTER,
    { call: "set_workflow_state", with: { workflow_id: "counter", values: { last_id: 7 } } },
    { call: "set_workflow_state", with: { workflow_id: "counter", values: {}, if_match: 2 } },
    {
      call: "set_workflow_state",
      with: { workflow_id: "counter", values: { last_id: 8 }, if_match: 2 },
      expect: "version_conflict",
    },
    {
      call: "set_workflow_state",
      with: { workflow_id: "counter", values: { last_id: "x", lastid: 1 } },
      expect: "invalid_input",
    },
    {
      call: "set_workflow_state",
      with: { workflow_id: "counter", values: {} },
      readOnly: true,
      expect: "missing_scope",
    },
    { call: "get_workflow_state", with: { workflow_id: "counter" } },
    NIGHTLY,
    {
      call: "set_workflow_state",
      with: { workflow_id: "nightly-backup", values: {} },
      expect: "state_not_found",
    },
    ...wrongId("set_workflow_state", { values: {} }),
  ],
  reset_workflow_state: [
    COUNTER,
    {
      call: "set_workflow_state",
      with: { workflow_id: "counter", values: { last_id: 7 }, reason: "A test" },
    },
    { call: "reset_workflow_state", with: { workflow_id: "counter", reason: "From the start", if_match: 2 } },
    { call: "reset_workflow_state", with: { workflow_id: "counter", reason: "Again", keys: ["last_id"] } },
    {
      call: "reset_workflow_state",
      with: { workflow_id: "counter", reason: "Late", if_match: 2 },
      expect: "version_conflict",
    },
    { call: "reset_workflow_state", with: { workflow_id: "counter" }, expect: "invalid_input" },
    { call: "reset_workflow_state", with: { workflow_id: "counter", reason: "One", idempotency_key: "r" } },
    {
      call: "reset_workflow_state",
      with: { workflow_id: "counter", reason: "Two", idempotency_key: "r" },
      expect: "idempotency_key_reused",
    },
    {
      call: "reset_workflow_state",
      with: { workflow_id: "counter", reason: "No such key", keys: ["lastid"] },
      expect: "invalid_input",
    },
    {
      call: "reset_workflow_state",
      with: { workflow_id: "counter", reason: "Mine" },
      readOnly: true,
      expect: "missing_scope",
    },
    NIGHTLY,
    {
      call: "reset_workflow_state",
      with: { workflow_id: "nightly-backup", reason: "None" },
      expect: "state_not_found",
    },
    ...wrongId("reset_workflow_state", { reason: "None" }),
  ],
  list_state_changes: [
    COUNTER,
    { call: "list_state_changes", with: { workflow_id: "counter" } },
    {
      call: "set_workflow_state",
      with: { workflow_id: "counter", values: { last_id: 7 }, reason: "A test" },
    },
    { call: "set_workflow_state", with: { workflow_id: "counter", values: { last_id: 7 } } },
    { call: "reset_workflow_state", with: { workflow_id: "counter", reason: "From the start" } },
    { call: "list_state_changes", with: { workflow_id: "counter" }, readOnly: true },
    { call: "list_state_changes", with: { workflow_id: "counter", limit: 1 } },
    {
      call: "list_state_changes",
      with: (before) => ({ workflow_id: "counter", limit: 1, cursor: lastOutput(before)["next_cursor"] }),
    },
    { call: "list_state_changes", with: { workflow_id: "counter", cursor: "no" }, expect: "invalid_cursor" },
    { call: "list_state_changes", with: { workflow_id: "counter", limit: 0 }, expect: "invalid_input" },
    ...wrongId("list_state_changes"),
  ],
  list_workflow_versions: [
    WEEKLY,
    ...["a", "b", "c"].map((description) => ({
      call: "update_workflow",
      with: { workflow_id: "weekly-revenue", description, reason: description },
    })),
    { call: "list_workflow_versions", with: { workflow_id: "weekly-revenue" } },
    { call: "list_workflow_versions", with: { workflow_id: "weekly-revenue", include: ["definition"] } },
    { call: "list_workflow_versions", with: { workflow_id: "weekly-revenue", limit: 3 } },
    {
      call: "list_workflow_versions",
      with: (before) => ({
        workflow_id: "weekly-revenue",
        limit: 3,
        cursor: lastOutput(before)["next_cursor"],
      }),
    },
    {
      call: "list_workflow_versions",
      with: { workflow_id: "weekly-revenue", limit: 0 },
      expect: "invalid_input",
    },
    {
      call: "list_workflow_versions",
      with: { workflow_id: "weekly-revenue", cursor: "forged" },
      expect: "invalid_cursor",
    },
    ...wrongId("list_workflow_versions"),
  ],
  list_workflows: [
    { call: "list_workflows" },
    WEEKLY,
    NIGHTLY,
    create({ name: "Weekly costs", tags: ["finance", "weekly"] }),
    { call: "list_workflows" },
    { call: "list_workflows", with: { search: "weekly", tag: "finance", sort: "name" } },
    { call: "list_workflows", with: { include: ["definition"], status: "draft", sort: "-updated_at" } },
    { call: "list_workflows", with: { search: "nothing like it" } },
    { call: "list_workflows", with: { sort: "name", limit: 2 } },
    {
      call: "list_workflows",
      with: (before) => ({ sort: "name", limit: 2, cursor: lastOutput(before)["next_cursor"] }),
    },
    { call: "list_workflows", with: { sort: "name", limit: 2 } },
    {
      // A cursor of another list is invalid too.
      call: "list_workflows",
      with: (before) => ({ sort: "-name", cursor: lastOutput(before)["next_cursor"] }),
      expect: "invalid_cursor",
    },
    { call: "list_workflows", with: { cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_workflows", with: { limit: 201 }, expect: "invalid_input" },
    { call: "list_workflows", with: { sort: "nmae", status: "archive" }, expect: "invalid_input" },
    { call: "list_workflows", with: { serach: "weekly" }, expect: "invalid_input" },
    { call: "list_workflows", with: { project: "none" }, expect: "project_not_found" },
  ],
  validate_workflow: [
    {
      call: "validate_workflow",
      with: { definition: HELLO, inputs: {}, mocks: { hello: { greeting: "Hi" } } },
    },
    { call: "validate_workflow", with: { definition: "steps:\n  - id: a\n    type: sett\n" } },
    {
      call: "validate_workflow",
      with: { definition: "steps:\n  - id: a\n    type: sett\n    valuess: {}\n", apply_fixes: true },
    },
    {
      call: "validate_workflow",
      with: {
        definition: { steps: [{ id: "q", type: "sql", database: "shop", query: "select * from orders" }] },
      },
    },
    { call: "validate_workflow", with: { definition: "steps: [" } },
    { call: "validate_workflow", with: { definition: [] }, expect: "invalid_input" },
    { call: "validate_workflow", with: { definition: HELLO }, readOnly: true, expect: "missing_scope" },
    { call: "validate_workflow", with: { definition: {}, project: "none" }, expect: "project_not_found" },
  ],
  plan_workflow: [
    hello,
    { call: "plan_workflow", with: { workflow_id: "hello" }, readOnly: true },
    { call: "plan_workflow", with: { workflow_id: "hello", version: 1 } },
    { call: "plan_workflow", with: { workflow_id: "hello", version: 2 }, expect: "version_not_found" },
    empty,
    { call: "plan_workflow", with: { workflow_id: "empty" }, expect: "workflow_not_runnable" },
    issuey,
    { call: "plan_workflow", with: { workflow_id: "faulty" }, expect: "workflow_not_runnable" },
    ...wrongId("plan_workflow"),
  ],
  publish_workflow: [
    hello,
    { call: "publish_workflow", with: { workflow_id: "hello", if_match: 2 }, expect: "version_conflict" },
    { call: "publish_workflow", with: { workflow_id: "hello", version: 1, if_match: 1 } },
    publish("hello"),
    { call: "get_workflow", with: { workflow_id: "hello" } },
    { call: "publish_workflow", with: { workflow_id: "hello", version: 9 }, expect: "version_not_found" },
    issuey,
    { ...publish("faulty"), expect: "workflow_not_runnable" },
    empty,
    { ...publish("empty"), expect: "workflow_not_runnable" },
    create({
      name: "Exemplary",
      definition: {
        ...HELLO,
        examples: [{ inputs: { name: "Ann" }, expect: { greeting: "Good morning, Ann" } }],
      },
    }),
    { call: "publish_workflow", with: { workflow_id: "exemplary", idempotency_key: "p" } },
    { call: "publish_workflow", with: { workflow_id: "exemplary", idempotency_key: "p" } },
    {
      call: "publish_workflow",
      with: { workflow_id: "exemplary", version: 1, idempotency_key: "p" },
      expect: "idempotency_key_reused",
    },
    create({
      name: "Wrong",
      definition: { ...HELLO, examples: [{ inputs: {}, expect: { greeting: "Good night", more: 1 } }] },
    }),
    { ...publish("wrong"), expect: "examples_failed" },
    create({ name: "Unchecked", definition: { ...SENDING, examples: [{ inputs: {} }] } }),
    publish("unchecked"),
    create({ name: "Callee", definition: HELLO }),
    publish("callee"),
    create({
      name: "Caller",
      definition: {
        steps: [{ id: "sub", type: "workflow", workflow: "callee", inputs: { name: "Ann" } }],
        output: "${{ steps.sub.output.greeting }}",
      },
    }),
    publish("caller"),
    { call: "get_workflow", with: { workflow_id: "callee" } },
    {
      call: "update_workflow",
      with: {
        workflow_id: "callee",
        definition: { ...HELLO, output: { text: "Good morning" } },
      },
    },
    { ...publish("callee"), expect: "callers_would_break" },
    { call: "publish_workflow", with: { workflow_id: "callee", break_callers: ["caller"] } },
    { call: "publish_workflow", with: { workflow_id: "hello" }, readOnly: true, expect: "missing_scope" },
    ...wrongId("publish_workflow"),
    ...TESTED_PUBLICATIONS,
    archive("hello"),
    { ...publish("hello"), expect: "workflow_archived" },
    ...crowded,
    create({ name: "Late", definition: { ...HELLO, examples: [{ inputs: {} }] } }),
    { ...publish("late"), expect: "too_many_runs" },
  ],
  unpublish_workflow: [
    scheduled,
    publish("nightly"),
    { call: "unpublish_workflow", with: { workflow_id: "nightly", if_match: 2 }, expect: "version_conflict" },
    { call: "unpublish_workflow", with: { workflow_id: "nightly", idempotency_key: "u" } },
    { call: "unpublish_workflow", with: { workflow_id: "nightly", idempotency_key: "u" } },
    {
      call: "unpublish_workflow",
      with: { workflow_id: "nightly", idempotency_key: "u", if_match: 1 },
      expect: "idempotency_key_reused",
    },
    { call: "unpublish_workflow", with: { workflow_id: "nightly" } },
    { call: "get_schedule", with: { workflow_id: "nightly" }, expect: "schedule_not_found" },
    { call: "unpublish_workflow", with: { workflow_id: "nightly" }, readOnly: true, expect: "missing_scope" },
    ...wrongId("unpublish_workflow"),
    ...calledHello(),
    { call: "update_workflow", with: { workflow_id: "hello", definition: { ...HELLO, output: {} } } },
    { call: "unpublish_workflow", with: { workflow_id: "hello" }, expect: "callers_would_break" },
    { call: "unpublish_workflow", with: { workflow_id: "hello", break_callers: ["asks"] } },
    archive("nightly"),
    { call: "unpublish_workflow", with: { workflow_id: "nightly" }, expect: "workflow_archived" },
  ],
  get_exposure: [
    tool,
    { call: "get_exposure", with: { workflow_id: "tool" }, readOnly: true },
    publish("tool"),
    { call: "get_exposure", with: { workflow_id: "tool" } },
    ...wrongId("get_exposure"),
  ],
  allow_exposure: [
    tool,
    allow({ by: "admin", expect: "exposure_not_requested" }),
    publish("tool"),
    allow({ by: "admin", expect: "exposure_changed" }),
    allow({ expect: "missing_scope" }),
    { call: "get_exposure", with: { workflow_id: "tool" } },
    { ...allow({ by: "admin" }), with: allowing },
    { call: "get_exposure", with: { workflow_id: "tool" } },
    { ...allow({ by: "admin" }), with: allowing },
    allow({ by: "admin", expect: "idempotency_key_reused" }),
    { call: "publish_workflow", with: { workflow_id: "tool" } },
    ...wrongId("allow_exposure", { digest: "x" }, "admin"),
  ],
  withdraw_exposure: [
    tool,
    { call: "publish_workflow", with: { workflow_id: "tool" }, by: "admin" },
    { call: "withdraw_exposure", with: { workflow_id: "tool" }, expect: "missing_scope" },
    { call: "withdraw_exposure", with: { workflow_id: "tool", idempotency_key: "w" }, by: "admin" },
    { call: "withdraw_exposure", with: { workflow_id: "tool" }, by: "admin" },
    create({ name: "Other" }),
    {
      call: "withdraw_exposure",
      with: { workflow_id: "other", idempotency_key: "w" },
      by: "admin",
      expect: "idempotency_key_reused",
    },
    ...wrongId("withdraw_exposure", {}, "admin"),
  ],
  get_offer: [
    create({ name: "Nightly" }),
    { call: "get_offer", with: { workflow_id: "nightly" }, readOnly: true },
    ...wrongId("get_offer"),
  ],
  offer_workflow: [
    create({ name: "Nightly" }),
    offer("nightly", ["default"], { idempotency_key: "o" }),
    offer("nightly", ["default"], { idempotency_key: "o" }),
    { ...offer("nightly", ["*"], { idempotency_key: "o" }), expect: "idempotency_key_reused" },
    { call: "get_offer", with: { workflow_id: "nightly" } },
    offer("nightly", ["*"]),
    { ...offer("nightly", []), by: "full", expect: "missing_scope" },
    { ...offer("nightly", ["salse"]), expect: "project_not_found" },
    archive("nightly"),
    { ...offer("nightly", []), expect: "workflow_archived" },
    ...wrongId("offer_workflow", { projects: [] }, "admin"),
    ...calledHello("finance"),
    { ...offer("hello", []), expect: "callers_would_break" },
    offer("hello", [], { break_callers: ["finance.asks"] }),
  ],
  list_offered_workflows: [
    { call: "list_offered_workflows", readOnly: true },
    { call: "list_offered_workflows", with: { limit: 0 }, expect: "invalid_input" },
    { call: "list_offered_workflows", with: { cursor: "no-cursor" }, expect: "invalid_cursor" },
    { call: "list_offered_workflows", with: { project: "none-such" }, expect: "project_not_found" },
  ],
  get_schedule: [
    scheduled,
    { call: "get_schedule", with: { workflow_id: "nightly" }, expect: "schedule_not_found" },
    publish("nightly"),
    { call: "get_schedule", with: { workflow_id: "nightly" }, readOnly: true },
    archive("nightly"),
    { call: "get_schedule", with: { workflow_id: "nightly" }, expect: "schedule_not_found" },
    { call: "restore_workflow", with: { workflow_id: "nightly" } },
    { call: "get_schedule", with: { workflow_id: "nightly" } },
    ...wrongId("get_schedule"),
  ],
  list_schedules: [
    { call: "list_schedules" },
    scheduled,
    publish("nightly"),
    create({ name: "Daily", definition: { ...HELLO, schedule: { cron: "0 9 * * *" } } }),
    publish("daily"),
    { call: "list_schedules", readOnly: true },
    { call: "list_schedules", by: "viewer" },
    { call: "list_schedules", with: { limit: 1 } },
    { call: "list_schedules", with: (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] }) },
    { call: "list_schedules", with: { cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_schedules", with: { limit: 201 }, expect: "invalid_input" },
    { call: "list_schedules", with: { project: "none" }, expect: "project_not_found" },
  ],
  pause_schedule: [
    scheduled,
    { call: "pause_schedule", with: { workflow_id: "nightly" }, expect: "schedule_not_found" },
    publish("nightly"),
    { call: "pause_schedule", with: { workflow_id: "nightly", idempotency_key: "p" } },
    { call: "pause_schedule", with: { workflow_id: "nightly", idempotency_key: "p" } },
    hello,
    {
      call: "pause_schedule",
      with: { workflow_id: "hello", idempotency_key: "p" },
      expect: "idempotency_key_reused",
    },
    { call: "pause_schedule", with: { workflow_id: "nightly" } },
    { call: "get_schedule", with: { workflow_id: "nightly" } },
    { call: "pause_schedule", with: { workflow_id: "nightly" }, readOnly: true, expect: "missing_scope" },
    ...wrongId("pause_schedule"),
  ],
  resume_schedule: [
    scheduled,
    { call: "resume_schedule", with: { workflow_id: "nightly" }, expect: "schedule_not_found" },
    publish("nightly"),
    { call: "resume_schedule", with: { workflow_id: "nightly" } },
    { call: "pause_schedule", with: { workflow_id: "nightly" } },
    { call: "resume_schedule", with: { workflow_id: "nightly", idempotency_key: "r" } },
    {
      call: "resume_schedule",
      with: { workflow_id: "x", idempotency_key: "r" },
      expect: "idempotency_key_reused",
    },
    { call: "resume_schedule", with: { workflow_id: "nightly" }, readOnly: true, expect: "missing_scope" },
    ...wrongId("resume_schedule"),
  ],
  run_workflow: [
    hello,
    run("hello"),
    run("hello", { inputs: { name: "Ann" }, idempotency_key: "r" }),
    run("hello", { inputs: { name: "Ann" }, idempotency_key: "r" }),
    { ...run("hello", { idempotency_key: "r" }), expect: "idempotency_key_reused" },
    { ...run("hello", { inputs: { nam: 1 } }), expect: "invalid_input" },
    { ...run("hello", { wait: 3_601 }), expect: "invalid_input" },
    { ...run("hello", { version: 2 }), expect: "version_not_found" },
    run("hello", { given: { hello: { greeting: "Good evening" } } }),
    { ...run("hello", { given: { helo: {} } }), expect: "invalid_input" },
    { ...run("hello", { given: { from_run: "run_none" } }), expect: "invalid_input" },
    sending,
    run("sending", { given: {} }),
    run("sending", { given: { send: { status_code: 201, body: null } } }),
    failing,
    run("failing"),
    issuey,
    { ...run("faulty"), expect: "workflow_not_runnable" },
    empty,
    { ...run("empty"), expect: "workflow_not_runnable" },
    asking,
    run("asking"),
    { ...run("hello"), readOnly: true, expect: "missing_scope" },
    ...wrongId("run_workflow"),
    archive("hello"),
    { ...run("hello"), expect: "workflow_archived" },
    pausing,
    run("pausing"),
    run("pausing"),
    { ...run("pausing"), expect: "too_many_runs" },
  ],
  list_runs: [
    { call: "list_runs" },
    hello,
    failing,
    run("hello"),
    run("failing"),
    run("hello"),
    { call: "list_runs", readOnly: true },
    { call: "list_runs", with: { workflow_id: "hello", status: ["succeeded", "failed"] } },
    { call: "list_runs", with: { since: "2026-11-21", until: "2026-11-21T08:03:30Z" } },
    { call: "list_runs", with: { trigger: "schedule" } },
    { call: "list_runs", with: { trial: true } },
    { call: "list_runs", with: { workflow_id: "hello", values: ["output", "inputs", "steps.none.x"] } },
    { call: "list_runs", with: { search: "hello" } },
    { call: "list_runs", with: { where: "run.status == 'failed'", search: "failing" } },
    { call: "list_runs", with: { search: "hello", limit: 1 } },
    { call: "list_runs", with: { values: ["total", "inputs"] }, expect: "invalid_input" },
    { call: "list_runs", with: { where: "output.(", search: "a b c d e f g h i" }, expect: "invalid_input" },
    { call: "list_runs", with: { trial: false, limit: 1 } },
    { call: "list_runs", with: { limit: 2 } },
    { call: "list_runs", with: (before) => ({ limit: 2, cursor: lastOutput(before)["next_cursor"] }) },
    { call: "list_runs", with: { cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_runs", with: { since: "yesterday", status: ["done"] }, expect: "invalid_input" },
    { call: "list_runs", with: { workflow_id: "helo" }, expect: "workflow_not_found" },
    { call: "list_workflows", with: { include: ["last_run"] } },
    { call: "get_workflow", with: { workflow_id: "hello", include: ["last_run"] } },
    { call: "list_runs", with: { project: "none" }, expect: "project_not_found" },
  ],
  group_runs: [
    hello,
    failing,
    { call: "group_runs" },
    run("hello", { inputs: { name: "Ada" } }),
    run("hello", { inputs: { name: "Grace" } }),
    run("failing"),
    { call: "group_runs", readOnly: true },
    { call: "group_runs", with: { group_by: ["workflow_id", "status", "day"], timezone: "Europe/Berlin" } },
    {
      call: "group_runs",
      with: {
        workflow_id: "hello",
        where: 'inputs.name in ["Ada", "Grace"]',
        group_by: ["inputs.name == 'Ada, not'", "size(inputs.name)"],
        measures: ["size(inputs.name)", "output.none"],
        max_groups: 1,
      },
    },
    { call: "group_runs", with: { status: ["failed"], group_by: ["error_code", "failed_step"] } },
    { call: "group_runs", with: { where: "version = 1 and status = 'failed'", group_by: ["version"] } },
    {
      call: "group_runs",
      with: { where: "output.(", group_by: ["versoin", "a b"], measures: ["x +"], timezone: "Mars" },
      expect: "invalid_input",
    },
    { call: "group_runs", with: { workflow_id: "helo" }, expect: "workflow_not_found" },
    { call: "group_runs", with: { project: "none" }, expect: "project_not_found" },
  ],
  list_workflow_runs: [
    hello,
    run("hello"),
    run("hello"),
    { call: "list_workflow_runs", with: { workflow_id: "hello" } },
    { call: "list_workflow_runs", with: { workflow_id: "hello", status: ["failed"] } },
    {
      call: "list_workflow_runs",
      with: { workflow_id: "hello", cursor: "forged" },
      expect: "invalid_cursor",
    },
    ...wrongId("list_workflow_runs"),
  ],
  get_run: [
    hello,
    failing,
    asking,
    run("hello", { inputs: { name: "x".repeat(3_000) } }),
    run("failing"),
    run("asking"),
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 3) }), readOnly: true },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 4) }) },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 5) }) },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 3), detail: "steps" }) },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 4), detail: "full" }) },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 3), step_id: "hello", max_chars: 100 }) },
    {
      call: "get_run",
      with: (before) => ({ run_id: idOf(before, 3), step_id: "helo" }),
      expect: "invalid_input",
    },
    {
      call: "get_run",
      with: (before) => ({ run_id: idOf(before, 3), step_id: "hello", item: 0 }),
      expect: "invalid_input",
    },
    { call: "get_run", with: (before) => ({ run_id: idOf(before, 3), item: 0 }), expect: "invalid_input" },
    { call: "get_run", with: { run_id: "run_none" }, expect: "run_not_found" },
  ],
  get_run_definition: [
    failing,
    run("failing"),
    { call: "get_run_definition", with: (before) => ({ run_id: idOf(before, 1) }), readOnly: true },
    {
      call: "retry_run",
      with: (before) => ({
        run_id: idOf(before, 1),
        patch: [{ op: "update_step", id: "check", set: { that: "2 > 1" } }],
        wait: 20,
      }),
    },
    { call: "get_run_definition", with: (before) => ({ run_id: idOf(before, 3) }) },
    { call: "get_run_definition", with: { run_id: "run_none" }, expect: "run_not_found" },
    { call: "get_run_definition", with: { run_id: "x".repeat(101) }, expect: "invalid_input" },
  ],
  compare_runs: [
    hello,
    run("hello"),
    run("hello", { inputs: { name: "Bob" } }),
    {
      call: "compare_runs",
      with: (before) => ({ run_id: idOf(before, 2), with: idOf(before, 1) }),
      readOnly: true,
    },
    { call: "compare_runs", with: (before) => ({ run_id: idOf(before, 1), with: idOf(before, 1) }) },
    failing,
    run("failing"),
    { call: "compare_runs", with: (before) => ({ run_id: idOf(before, 6), with: idOf(before, 2) }) },
    { call: "compare_runs", with: (before) => ({ run_id: idOf(before, 6) }), expect: "invalid_input" },
    { call: "compare_runs", with: { run_id: "run_none" }, expect: "run_not_found" },
    {
      call: "compare_runs",
      with: (before) => ({ run_id: idOf(before, 1), with: "run_none" }),
      expect: "run_not_found",
    },
    { call: "compare_runs", with: { run_id: "x".repeat(101) }, expect: "invalid_input" },
  ],
  get_run_value: [
    hello,
    run("hello"),
    ...["output", "inputs", "steps.hello.output"].map((ref): ParityCall => ({
      call: "get_run_value",
      with: (before) => ({ run_id: idOf(before, 1), ref }),
    })),
    {
      call: "get_run_value",
      with: (before) => ({ run_id: idOf(before, 1), ref: "output", offset: 3, max_chars: 4 }),
    },
    {
      call: "get_run_value",
      with: (before) => ({ run_id: idOf(before, 1), ref: "steps.no.output" }),
      expect: "value_not_found",
    },
    {
      call: "get_run_value",
      with: (before) => ({ run_id: idOf(before, 1), ref: "anything else" }),
      expect: "value_not_found",
    },
    {
      call: "get_run_value",
      with: (before) => ({ run_id: idOf(before, 1), ref: "output", offset: -1 }),
      expect: "invalid_input",
    },
    { call: "get_run_value", with: { run_id: "run_none", ref: "output" }, expect: "run_not_found" },
  ],
  cancel_run: [
    pausing,
    run("pausing"),
    {
      call: "cancel_run",
      with: (before) => ({ run_id: idOf(before, 1) }),
      readOnly: true,
      expect: "missing_scope",
    },
    { call: "cancel_run", with: (before) => ({ run_id: idOf(before, 1), idempotency_key: "c" }) },
    { call: "cancel_run", with: (before) => ({ run_id: idOf(before, 1), idempotency_key: "c" }) },
    {
      call: "cancel_run",
      with: { run_id: "run_none", idempotency_key: "c" },
      expect: "idempotency_key_reused",
    },
    { call: "cancel_run", with: (before) => ({ run_id: idOf(before, 1) }), expect: "run_finished" },
    { call: "cancel_run", with: { run_id: "run_none" }, expect: "run_not_found" },
    { call: "cancel_run", with: { run_id: "x".repeat(101) }, expect: "invalid_input" },
  ],
  retry_run: [
    failing,
    run("failing"),
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 1), wait: 20, idempotency_key: "r" }) },
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 1), wait: 20, idempotency_key: "r" }) },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 1), idempotency_key: "r" }),
      expect: "idempotency_key_reused",
    },
    {
      call: "retry_run",
      with: (before) => ({
        run_id: idOf(before, 1),
        patch: [{ op: "update_step", id: "check", set: { that: "2 > 1" } }],
        wait: 20,
      }),
    },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 1), patch: [{ op: "remove_step", id: "chek" }] }),
      expect: "invalid_input",
    },
    {
      call: "retry_run",
      with: (before) => ({
        run_id: idOf(before, 1),
        patch: [{ op: "update_step", id: "check", unset: ["that"] }],
      }),
      expect: "workflow_not_runnable",
    },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 1), version: 2 }),
      expect: "version_not_found",
    },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 1) }),
      readOnly: true,
      expect: "missing_scope",
    },
    { call: "retry_run", with: { run_id: "run_none" }, expect: "run_not_found" },
    create({
      name: "Calling",
      definition: { steps: [{ id: "call", type: "workflow", workflow: "failing" }] },
    }),
    run("calling"),
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 12) }), expect: "confirmation_needed" },
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 12), confirm: true, wait: 20 }) },
    ...crowded,
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 16) }), expect: "run_not_finished" },
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 1), dry_run: true }) },
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 1) }), expect: "too_many_runs" },
    archive("failing"),
    { call: "retry_run", with: (before) => ({ run_id: idOf(before, 1) }), expect: "workflow_archived" },
    archive("calling"),
    { call: "create_project", with: { name: "Finance" }, by: "admin" },
    { call: "move_workflow", with: { workflow_id: "failing", project: "finance" }, by: "admin" },
    {
      call: "retry_run",
      with: (before) => ({ run_id: idOf(before, 1) }),
      by: "other",
      expect: "workflow_not_found",
    },
  ],
  list_approvals: [
    { call: "list_approvals" },
    asking,
    run("asking"),
    run("asking"),
    { call: "list_approvals", readOnly: true },
    { call: "list_approvals", with: (before) => ({ run_id: idOf(before, 2) }) },
    { call: "list_approvals", with: { status: "approved" } },
    { call: "list_approvals", with: { limit: 1 } },
    { call: "list_approvals", with: (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] }) },
    { call: "list_approvals", with: { cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_approvals", with: { status: "open" }, expect: "invalid_input" },
    ...["all", "assigned", "decidable"].map((for_me): ParityCall => ({
      call: "list_approvals",
      with: { for_me },
    })),
    { call: "list_approvals", with: { for_me: "decidable" }, by: "other" },
    { call: "list_approvals", with: { for_me: "all", status: "declined" }, expect: "invalid_input" },
    { call: "list_approvals", with: { project: "none" }, expect: "project_not_found" },
  ],
  get_approval: [
    asking,
    run("asking"),
    { call: "get_approval", with: (before) => ({ approval_id: approvalOf(before, 1) }), readOnly: true },
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 1), decision: "decline", comment: "No." }),
      by: "other",
    },
    { call: "get_approval", with: (before) => ({ approval_id: approvalOf(before, 1) }) },
    { call: "get_approval", with: { approval_id: "apr_none" }, expect: "approval_not_found" },
    { call: "get_approval", with: { approval_id: "x".repeat(101) }, expect: "invalid_input" },
  ],
  decide_approval: [
    asking,
    run("asking"),
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 1), decision: "approve" }),
      expect: "approval_not_yours",
    },
    {
      call: "decide_approval",
      with: (before) => ({
        approval_id: approvalOf(before, 1),
        decision: "approve",
        form: { amount: "much" },
      }),
      by: "other",
      expect: "invalid_input",
    },
    {
      call: "decide_approval",
      with: (before) => ({
        approval_id: approvalOf(before, 1),
        decision: "approve",
        plan_digest: "of another plan",
      }),
      by: "other",
      expect: "approval_plan_changed",
    },
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 1), decision: "approve" }),
      readOnly: true,
      expect: "missing_scope",
    },
    ...[0, 1].map((): ParityCall => ({
      call: "decide_approval",
      with: (before) => ({
        approval_id: approvalOf(before, 1),
        decision: "approve",
        comment: "Right.",
        form: { amount: 3 },
        idempotency_key: "d",
      }),
      by: "other",
    })),
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 1), decision: "decline", idempotency_key: "d" }),
      by: "other",
      expect: "idempotency_key_reused",
    },
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 1), decision: "decline" }),
      by: "other",
      expect: "approval_decided",
    },
    {
      call: "decide_approval",
      with: { approval_id: "apr_none", decision: "approve" },
      expect: "approval_not_found",
    },
    { call: "decide_approval", with: { approval_id: "apr_none", decision: "yes" }, expect: "invalid_input" },
  ],
  delegate_approval: [
    create({
      name: "Asking Ann",
      definition: {
        steps: [
          {
            id: "ask",
            type: "approval",
            message: "Go?",
            assignees: ["ann@example.com"],
            required: 1,
            timeout: "2h",
          },
        ],
      },
    }),
    run("asking-ann"),
    run("asking-ann"),
    delegate({ by: "other", expect: "invalid_input", to: "nobody@example.com" }),
    delegate({ by: "other", expect: "invalid_input", to: "ann@example.com" }),
    delegate({ expect: "approval_not_yours", to: "root@example.com" }),
    delegate({ by: "other", to: "root@example.com", key: "p" }),
    delegate({ by: "other", to: "root@example.com", key: "p" }),
    delegate({ by: "other", expect: "idempotency_key_reused", to: "ann@example.com", key: "p" }),
    delegate({ by: "other", expect: "approval_not_yours", to: "root@example.com" }),
    {
      call: "delegate_approval",
      with: { approval_id: "apr_none", to: "a@example.com" },
      readOnly: true,
      expect: "missing_scope",
    },
    {
      call: "decide_approval",
      with: (before) => ({ approval_id: approvalOf(before, 2), decision: "decline" }),
      by: "other",
    },
    delegate({ by: "other", expect: "approval_decided", to: "root@example.com", of: 2 }),
    {
      call: "delegate_approval",
      with: { approval_id: "apr_none", to: "a@example.com" },
      expect: "approval_not_found",
    },
  ],
  describe_environment: [
    // Over MCP the tables and tools are there by default.
    {
      call: "describe_environment",
      with: { fields: ["guide", "databases", "tables", "tools", "step_types"] },
    },
    { call: "describe_environment", with: { fields: ["databases", "table"] }, expect: "invalid_input" },
    { call: "describe_environment", with: { project: "default", fields: ["limits", "mail"] } },
    { call: "describe_environment", with: { project: "nowhere" }, expect: "project_not_found" },
    { call: "describe_environment", with: { fields: ["tables", "models"] }, readOnly: true },
    { call: "describe_environment", with: { topic: "definition" } },
    { call: "describe_environment", with: { topic: "expressions" } },
    { call: "describe_environment", with: { topic: "approval" } },
    { call: "describe_environment", with: { topic: "aproval" }, expect: "invalid_input" },
  ],
  describe_database: [
    {
      call: "describe_database",
      with: { database: "shop", project: "nowhere" },
      expect: "project_not_found",
    },
    { call: "describe_database", with: { database: "shop" }, readOnly: true },
    { call: "describe_database", with: { database: "shop", table: "orders", samples: 2 } },
    {
      call: "describe_database",
      with: { database: "shop", samples: 2 },
      readOnly: true,
      expect: "missing_scope",
    },
    { call: "describe_database", with: { database: "shop", table: "order" }, expect: "invalid_input" },
    { call: "describe_database", with: { database: "shpo" }, expect: "database_not_found" },
    { call: "describe_database", with: { database: "gone" }, expect: "connection_failed" },
  ],
};
