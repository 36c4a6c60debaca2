/** The parity scenarios of backtests. Their replays start when a scenario says so, so no call waits for them before. */
import type { lastOutput, ParityCall } from "./parity-scenarios.ts";

/** Continues the backtests until they have ended. No operation. */
export const FINISH = "finish backtests";

type Input = Record<string, unknown>;
type Expected = ParityCall["expect"];

const create = (name: string): ParityCall => ({
  call: "create_workflow",
  with: {
    name,
    definition: {
      inputs: { type: "object", properties: { amount: { type: "integer", default: 100 } } },
      steps: [{ id: "sum", type: "set", values: { total: "${{ inputs.amount * 2 }}" } }],
    },
  },
});
const run = (workflow_id: string): ParityCall => ({
  call: "run_workflow",
  with: { workflow_id, wait: 20 },
});
/** A workflow with two runs that have ended. */
const RUNS = [create("Pay"), run("pay"), run("pay")];
/** Ended runs that the change makes different, and with another one fail. */
const HALF = [{ op: "update_step", id: "sum", set: { values: { total: "${{ inputs.amount }}" } } }];
const BREAKS = [
  {
    op: "add_step",
    step: { id: "check", type: "assert", that: "inputs.amount < 50", message: "Too much." },
  },
];
const WITHOUT_VALUES = [{ op: "update_step", id: "sum", unset: ["values"] }];

const start = (more: Input = {}, expect?: Expected): ParityCall => ({
  call: "backtest_workflow",
  with: { workflow_id: "pay", wait: 0, ...more },
  ...(expect && { expect }),
});
const FINISHED: ParityCall = { call: FINISH };
/** A call about the backtest that another call has started. @param back how many calls before */
const of =
  (back: number, more: Input = {}) =>
  (before: Parameters<typeof lastOutput>[0]): Input => ({
    workflow_id: "pay",
    backtest_id: before.at(-back)!.output!["id"],
    ...more,
  });
const NONE = { workflow_id: "pay", backtest_id: "bt_none" };
const TOO_LONG = { ...NONE, backtest_id: "b".repeat(101) };

const get = (input: ParityCall["with"], more: Partial<ParityCall> = {}): ParityCall => ({
  call: "get_backtest",
  with: input!,
  ...more,
});
const list = (more: Input = {}, expect?: Expected): ParityCall => ({
  call: "list_backtests",
  with: { workflow_id: "pay", ...more },
  ...(expect && { expect }),
});
const listRuns = (input: ParityCall["with"], more: Partial<ParityCall> = {}): ParityCall => ({
  call: "list_backtest_runs",
  with: input!,
  ...more,
});
const cancel = (input: ParityCall["with"], more: Partial<ParityCall> = {}): ParityCall => ({
  call: "cancel_backtest",
  with: input!,
  ...more,
});

const change = (patch: object[]): ParityCall => ({
  call: "update_workflow",
  with: { workflow_id: "pay", patch },
});
const publish = (more: Input = {}, expect?: Expected): ParityCall => ({
  call: "publish_workflow",
  with: { workflow_id: "pay", ...more },
  ...(expect && { expect }),
});

/** Publications of a workflow with the rule that they need a backtest. */
export const TESTED_PUBLICATIONS: readonly ParityCall[] = [
  create("Pay"),
  change([{ op: "update_top", set: { backtest: { last: 5 } } }]),
  publish(),
  run("pay"),
  change(HALF),
  start({ version: 3 }),
  FINISHED,
  publish({}, "backtest_differs"),
  publish({ accept_differences: ["output.sum"] }, "backtest_differs"),
  publish({ accept_differences: ["output.total"] }),
  { call: "list_workflow_versions", with: { workflow_id: "pay" } },
  change([{ op: "update_top", set: { output: 1 } }]),
  ...[1, 2, 3].map((version) => start({ version })),
  publish({}, "too_many_backtests"),
  FINISHED,
];

export const BACKTEST_SCENARIOS: Readonly<Record<string, readonly ParityCall[]>> = {
  backtest_workflow: [
    ...RUNS,
    start({ patch: HALF, idempotency_key: "s" }),
    start({ patch: HALF, idempotency_key: "s" }),
    start({ patch: HALF, last: 1, idempotency_key: "s" }, "idempotency_key_reused"),
    FINISHED,
    start({ patch: HALF, idempotency_key: "s" }),
    { call: "backtest_workflow", with: of(1, { wait: 20 }) },
    start({ version: 1, last: 1, status: "succeeded", reads: "live", since: "2026-11-21" }),
    start({ patch: BREAKS, run_version: 1, until: "2026-11-22" }),
    FINISHED,
    { call: "backtest_workflow", with: of(3) },
    { call: "backtest_workflow", with: of(3) },
    create("Empty"),
    start({ workflow_id: "empty" }, "run_not_found"),
    start({ status: "failed" }, "run_not_found"),
    start({ workflow_id: "empty", source_workflow_id: "pay" }),
    start(NONE, "backtest_not_found"),
    start({ version: 9 }, "version_not_found"),
    start({ patch: HALF, version: 9 }, "version_not_found"),
    start({ patch: WITHOUT_VALUES }, "workflow_not_runnable"),
    start({ workflow_id: "none" }, "workflow_not_found"),
    start({ source_workflow_id: "none" }, "workflow_not_found"),
    start({ last: 1_001 }, "invalid_input"),
    start({ definition: { steps: [] }, version: 1, patch: HALF }, "invalid_input"),
    start({ given: { summ: {} } }, "invalid_input"),
    { ...start(), readOnly: true, expect: "missing_scope" },
    start(),
    start(),
    start({}, "too_many_backtests"),
    { call: "archive_workflow", with: { workflow_id: "pay" } },
    start({}, "workflow_archived"),
  ],
  get_backtest: [
    ...RUNS,
    start({ patch: HALF }),
    get(of(1)),
    FINISHED,
    get(of(3, { wait: 20 }), { readOnly: true }),
    get(NONE, { expect: "backtest_not_found" }),
    get({ ...NONE, workflow_id: "none" }, { expect: "workflow_not_found" }),
    get(TOO_LONG, { expect: "invalid_input" }),
  ],
  list_backtests: [
    ...RUNS,
    list(),
    start({ patch: BREAKS }),
    FINISHED,
    start(),
    { ...list(), readOnly: true },
    list({ limit: 1 }),
    list({ version: 1 }),
    list({ version: 9 }),
    list({ version: 0 }, "invalid_input"),
    {
      call: "list_backtests",
      with: (before) => ({ workflow_id: "pay", limit: 1, cursor: before.at(-4)!.output!["next_cursor"] }),
    },
    list({ cursor: "forged" }, "invalid_cursor"),
    list({ limit: 201 }, "invalid_input"),
    list({ workflow_id: "none" }, "workflow_not_found"),
  ],
  list_backtest_runs: [
    ...RUNS,
    start({ patch: HALF }),
    listRuns(of(1)),
    FINISHED,
    listRuns(of(3), { readOnly: true }),
    listRuns(of(4, { result: "equal" })),
    listRuns(of(5, { result: "different", limit: 1 })),
    {
      call: "list_backtest_runs",
      with: (before) => ({
        ...of(6, { result: "different", limit: 1 })(before),
        cursor: before.at(-1)!.output!["next_cursor"],
      }),
    },
    listRuns(of(7, { cursor: "forged" }), { expect: "invalid_cursor" }),
    listRuns(of(8, { result: "fine" }), { expect: "invalid_input" }),
    listRuns(NONE, { expect: "backtest_not_found" }),
    listRuns({ ...NONE, workflow_id: "none" }, { expect: "workflow_not_found" }),
  ],
  cancel_backtest: [
    ...RUNS,
    start({ patch: HALF }),
    cancel(of(1, { idempotency_key: "c" })),
    cancel(of(2, { idempotency_key: "c" })),
    start(),
    cancel(of(1, { idempotency_key: "c" }), { expect: "idempotency_key_reused" }),
    FINISHED,
    cancel(of(3), { expect: "backtest_finished" }),
    cancel(NONE, { expect: "backtest_not_found" }),
    cancel({ ...NONE, workflow_id: "none" }, { expect: "workflow_not_found" }),
    cancel(TOO_LONG, { expect: "invalid_input" }),
    cancel(NONE, { readOnly: true, expect: "missing_scope" }),
  ],
};
