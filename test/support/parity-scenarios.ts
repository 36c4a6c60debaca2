/** What the parity test plays: every operation, its successes and each error it declares. */
import type { ErrorCode } from "../../src/core/errors.ts";
import type { Json } from "./json.ts";
import type { Outcome } from "./ways-in.ts";

/** One call; `expect` is the error it must give, nothing when it must work. */
export interface Step {
  call: string;
  with?: Input | ((before: readonly Outcome[]) => Input);
  expect?: ErrorCode;
  /** Use the key that may only read. */
  readOnly?: boolean;
}

type Input = Record<string, unknown>;

/** The output of the call before. */
export const last = (before: readonly Outcome[]): Json => before.at(-1)!.output!;

const create = (input: Input): Step => ({ call: "create_workflow", with: input });
const archive = (workflow_id: string): Step => ({ call: "archive_workflow", with: { workflow_id } });
const WEEKLY = create({
  name: "Weekly revenue",
  description: "By region",
  tags: ["finance"],
  definition: { steps: [{ id: "a" }] },
});
const NIGHTLY = create({ name: "Nightly backup" });

/** What every operation on one workflow refuses in the same way. */
const wrongId = (call: string): Step[] => [
  { call, with: { workflow_id: "weekly-revenu" }, expect: "workflow_not_found" },
  { call, with: { workflow_id: "nothing like it" }, expect: "workflow_not_found" },
  { call, with: { workflow_id: "x".repeat(201) }, expect: "invalid_input" },
];

/** For every operation: what is done first, and what is compared (all of it is). Fresh instances for each. */
export const SCENARIOS: Record<string, Step[]> = {
  create_workflow: [
    WEEKLY,
    create({ name: "Weekly revenue" }),
    create({ name: '  Ünïcode & "quotes" 東京\n', description: "x".repeat(10_000), reason: "why not" }),
    create({ name: "Once", idempotency_key: "k1" }),
    create({ name: "Once", idempotency_key: "k1" }),
    {
      call: "create_workflow",
      with: { name: "Twice", idempotency_key: "k1" },
      expect: "idempotency_key_reused",
    },
    { call: "create_workflow", with: {}, expect: "invalid_input" },
    { call: "create_workflow", with: { nmae: "Weekly" }, expect: "invalid_input" },
    {
      call: "create_workflow",
      with: { name: 1, description: null, tags: "a", definition: [], reason: true, extra: {} },
      expect: "invalid_input",
    },
    { call: "create_workflow", with: { name: " ", tags: ["a", "a"] }, expect: "invalid_input" },
    { call: "create_workflow", with: { name: "a\u0000b" }, expect: "invalid_input" },
    { call: "create_workflow", with: { name: "Denied" }, readOnly: true, expect: "missing_scope" },
    { call: "list_workflows" },
  ],
  get_workflow: [
    WEEKLY,
    { call: "get_workflow", with: { workflow_id: "weekly-revenue" } },
    { call: "get_workflow", with: { workflow_id: "weekly-revenue" }, readOnly: true },
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
      with: { workflow_id: "weekly-revenue", tags: [], definition: null, reason: "Start anew", if_match: 2 },
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
      with: (before) => ({ workflow_id: "weekly-revenue", limit: 3, cursor: last(before)["next_cursor"] }),
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
      with: (before) => ({ sort: "name", limit: 2, cursor: last(before)["next_cursor"] }),
    },
    { call: "list_workflows", with: { sort: "name", limit: 2 } },
    {
      // A cursor of another list is as good as a forged one.
      call: "list_workflows",
      with: (before) => ({ sort: "-name", cursor: last(before)["next_cursor"] }),
      expect: "invalid_cursor",
    },
    { call: "list_workflows", with: { cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_workflows", with: { limit: 201 }, expect: "invalid_input" },
    { call: "list_workflows", with: { sort: "nmae", status: "archive" }, expect: "invalid_input" },
    { call: "list_workflows", with: { serach: "weekly" }, expect: "invalid_input" },
  ],
};
