/** The parity scenarios of bulk actions. Their rate lets each handle one run in a day, so none finishes. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";

type Input = Record<string, unknown>;
type Before = Parameters<typeof lastOutput>[0];
type Expected = ParityCall["expect"];

const FAILING: ParityCall = {
  call: "create_workflow",
  with: { name: "Failing", definition: { steps: [{ id: "check", type: "assert", that: "1 > 2" }] } },
};
const RUN: ParityCall = { call: "run_workflow", with: { workflow_id: "failing", wait: 20 } };
/** A workflow with runs that have failed. The first one is the second call. */
const failed = (count: number): ParityCall[] => [FAILING, ...Array.from({ length: count }, () => RUN)];

/** Two of the runs. @param first counted from 1 */
const pair = (before: Before, first: number): string[] =>
  [first, first + 1].map((call) => String(before[call]!.output!["id"]));
const retry = (before: Before, first: number): Input => ({
  action: "retry",
  run_ids: pair(before, first),
  rate: "1/d",
  wait: 0,
});
const preview = (first: number): ParityCall => ({
  call: "start_bulk_action",
  with: (before) => retry(before, first),
});
/** Starts what a preview has shown. @param back how many calls before it was */
const start = (first: number, more: Input = {}, expect?: Expected, back = 1): ParityCall => ({
  call: "start_bulk_action",
  with: (before) => ({
    ...retry(before, first),
    digest: before.at(-back)!.output!["digest"],
    ...more,
  }),
  ...(expect && { expect }),
});
const request = (input: Input, expect: Expected, more: Partial<ParityCall> = {}): ParityCall => ({
  call: "start_bulk_action",
  with: { action: "retry", ...input },
  ...(expect && { expect }),
  ...more,
});
/** A call about the bulk action that another call has started. @param back how many calls before */
const of =
  (back: number, more: Input = {}) =>
  (before: Before): Input => ({ bulk_action_id: before.at(-back)!.output!["id"], ...more });
const NONE = { bulk_action_id: "blk_none" };
const TOO_LONG = { bulk_action_id: "b".repeat(101) };
const call = (name: string, input: ParityCall["with"], more: Partial<ParityCall> = {}): ParityCall => ({
  call: name,
  with: input!,
  ...more,
});

export const BULK_ACTION_SCENARIOS: Readonly<Record<string, readonly ParityCall[]>> = {
  start_bulk_action: [
    ...failed(8),
    preview(1),
    start(1, { reason: "The bank was down.", idempotency_key: "s" }),
    start(1, { reason: "The bank was down.", idempotency_key: "s" }, undefined, 2),
    start(1, { idempotency_key: "s" }, "idempotency_key_reused", 3),
    call("start_bulk_action", of(3, { wait: 0 })),
    start(7, { digest: "unknown" }, "bulk_action_changed"),
    request({ workflow_id: "none" }, "workflow_not_found"),
    request({ project: "none" }, "project_not_found"),
    request({ run_ids: ["run_none"] }, "run_not_found"),
    request({ workflow_id: "failing", status: ["cancelled"] }, "run_not_found"),
    request({ status: ["running"] }, "invalid_input"),
    request({ workflow_id: "failing" }, "missing_scope", { readOnly: true }),
    call("start_bulk_action", { ...NONE, wait: 0 }, { expect: "bulk_action_not_found" }),
    preview(3),
    start(3),
    preview(5),
    start(5),
    preview(7),
    start(7, {}, "too_many_bulk_actions"),
  ],
  list_bulk_actions: [
    ...failed(4),
    call("list_bulk_actions", {}),
    preview(1),
    start(1),
    preview(3),
    start(3),
    call("list_bulk_actions", { workflow_id: "failing", project: "default" }, { readOnly: true }),
    call("list_bulk_actions", { limit: 1 }),
    call("list_bulk_actions", (before) => ({ limit: 1, cursor: lastOutput(before)["next_cursor"] })),
    call("list_bulk_actions", { cursor: "forged" }, { expect: "invalid_cursor" }),
    call("list_bulk_actions", { limit: 201 }, { expect: "invalid_input" }),
    call("list_bulk_actions", { workflow_id: "none" }, { expect: "workflow_not_found" }),
    call("list_bulk_actions", { project: "none" }, { expect: "project_not_found" }),
  ],
  get_bulk_action: [
    ...failed(2),
    preview(1),
    start(1),
    call("get_bulk_action", of(1), { readOnly: true }),
    call("get_bulk_action", of(2, { wait: 0 })),
    call("get_bulk_action", NONE, { expect: "bulk_action_not_found" }),
    call("get_bulk_action", TOO_LONG, { expect: "invalid_input" }),
  ],
  list_bulk_action_runs: [
    ...failed(2),
    preview(1),
    start(1),
    call("list_bulk_action_runs", of(1), { readOnly: true }),
    call("list_bulk_action_runs", of(2, { limit: 1 })),
    call("list_bulk_action_runs", (before) => ({
      ...of(3)(before),
      limit: 1,
      cursor: lastOutput(before)["next_cursor"],
    })),
    call("list_bulk_action_runs", of(4, { cursor: "forged" }), { expect: "invalid_cursor" }),
    call("list_bulk_action_runs", of(5, { result: "lost" }), { expect: "invalid_input" }),
    call("list_bulk_action_runs", NONE, { expect: "bulk_action_not_found" }),
  ],
  cancel_bulk_action: [
    ...failed(4),
    preview(1),
    start(1),
    call("cancel_bulk_action", of(1, { running: true, idempotency_key: "c" })),
    call("cancel_bulk_action", of(2, { running: true, idempotency_key: "c" })),
    call("cancel_bulk_action", of(3, { idempotency_key: "c" }), { expect: "idempotency_key_reused" }),
    preview(3),
    start(3),
    call("cancel_bulk_action", of(1)),
    call("cancel_bulk_action", of(2), { expect: "bulk_action_finished" }),
    call("cancel_bulk_action", NONE, { expect: "bulk_action_not_found" }),
    call("cancel_bulk_action", { ...NONE, running: "yes" }, { expect: "invalid_input" }),
    call("cancel_bulk_action", NONE, { readOnly: true, expect: "missing_scope" }),
  ],
};
