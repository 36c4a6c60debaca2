/** The parity scenarios of backfills. Their runs wait, so no backfill finishes. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";

type Input = Record<string, unknown>;

const STEPS = [{ id: "pause", type: "wait", for: "30d" }];
/** Published with a schedule. */
const PUBLISHED: ParityCall[] = [
  {
    call: "create_workflow",
    with: { name: "Nightly", definition: { steps: STEPS, schedule: { cron: "0 3 * * *" } } },
  },
  { call: "publish_workflow", with: { workflow_id: "nightly" } },
];
const PLAIN: ParityCall[] = [
  { call: "create_workflow", with: { name: "Plain", definition: { steps: STEPS } } },
  { call: "publish_workflow", with: { workflow_id: "plain" } },
];
const RANGE = { workflow_id: "nightly", from: "2026-11-01", to: "2026-11-03" };

const start = (more: Input = {}, expect?: ParityCall["expect"]): ParityCall => ({
  call: "start_backfill",
  with: { ...RANGE, ...more },
  ...(expect && { expect }),
});
const preview = (more: Input = {}, expect?: ParityCall["expect"]): ParityCall => ({
  call: "preview_backfill",
  with: { ...RANGE, ...more },
  ...(expect && { expect }),
});
const ofLast =
  (more: Input = {}) =>
  (before: Parameters<typeof lastOutput>[0]): Input => ({
    workflow_id: "nightly",
    backfill_id: lastOutput(before)["id"],
    ...more,
  });
const NONE = { workflow_id: "nightly", backfill_id: "bf_none" };

export const BACKFILL_SCENARIOS: Readonly<Record<string, readonly ParityCall[]>> = {
  preview_backfill: [
    ...PUBLISHED,
    ...PLAIN,
    preview(),
    preview({ existing: "repeat", from: "2026-11-01T03:00:00Z", to: "2026-11-01T03:00:00Z" }),
    { ...preview(), readOnly: true },
    preview({ from: "yesterday" }, "invalid_input"),
    preview({ from: "2026-11-05" }, "invalid_input"),
    preview({ from: "2027-01-01", to: "2027-02-01" }, "invalid_input"),
    preview({ from: "1980-01-01" }, "invalid_input"),
    preview({ workflow_id: "plain" }, "schedule_not_found"),
    preview({ workflow_id: "none" }, "workflow_not_found"),
  ],
  start_backfill: [
    ...PUBLISHED,
    ...PLAIN,
    start({ concurrency: 2, reason: "The shop was closed.", idempotency_key: "s" }),
    start({ concurrency: 2, reason: "The shop was closed.", idempotency_key: "s" }),
    start({ idempotency_key: "s" }, "idempotency_key_reused"),
    start({ concurrency: 21 }, "invalid_input"),
    start({ from: "2026-11-05" }, "invalid_input"),
    start({ workflow_id: "plain" }, "schedule_not_found"),
    start({ workflow_id: "none" }, "workflow_not_found"),
    { ...start(), readOnly: true, expect: "missing_scope" },
    {
      call: "create_workflow",
      with: {
        name: "Strict",
        definition: {
          inputs: { type: "object", properties: { at: { type: "string", maxLength: 30 } } },
          steps: STEPS,
          schedule: { cron: "0 3 * * *", inputs: { at: "${{ run.scheduled_for.substring(0, 99) }}" } },
        },
      },
    },
    { call: "publish_workflow", with: { workflow_id: "strict" } },
    start({ workflow_id: "strict" }, "workflow_not_runnable"),
    ...Array.from({ length: 9 }, () => start()),
    start({}, "too_many_backfills"),
  ],
  list_backfills: [
    ...PUBLISHED,
    { call: "list_backfills", with: { workflow_id: "nightly" } },
    start(),
    start({ from: "2026-11-02" }),
    { call: "list_backfills", with: { workflow_id: "nightly" }, readOnly: true },
    { call: "list_backfills", with: { workflow_id: "nightly", limit: 1 } },
    {
      call: "list_backfills",
      with: (before) => ({
        workflow_id: "nightly",
        limit: 1,
        cursor: lastOutput(before)["next_cursor"],
      }),
    },
    { call: "list_backfills", with: { workflow_id: "nightly", cursor: "forged" }, expect: "invalid_cursor" },
    { call: "list_backfills", with: { workflow_id: "nightly", limit: 201 }, expect: "invalid_input" },
    { call: "list_backfills", with: { workflow_id: "none" }, expect: "workflow_not_found" },
  ],
  get_backfill: [
    ...PUBLISHED,
    start(),
    { call: "get_backfill", with: ofLast(), readOnly: true },
    { call: "get_backfill", with: NONE, expect: "backfill_not_found" },
    { call: "get_backfill", with: { ...NONE, workflow_id: "none" }, expect: "workflow_not_found" },
    { call: "get_backfill", with: { ...NONE, backfill_id: "b".repeat(101) }, expect: "invalid_input" },
  ],
  cancel_backfill: [
    ...PUBLISHED,
    start(),
    { call: "cancel_backfill", with: ofLast({ running: true, idempotency_key: "c" }) },
    { call: "cancel_backfill", with: ofLast({ running: true, idempotency_key: "c" }) },
    { call: "cancel_backfill", with: ofLast({ idempotency_key: "c" }), expect: "idempotency_key_reused" },
    start(),
    { call: "cancel_backfill", with: ofLast() },
    { call: "cancel_backfill", with: ofLast(), expect: "backfill_finished" },
    { call: "cancel_backfill", with: NONE, expect: "backfill_not_found" },
    { call: "cancel_backfill", with: { ...NONE, workflow_id: "none" }, expect: "workflow_not_found" },
    { call: "cancel_backfill", with: { ...NONE, running: "yes" }, expect: "invalid_input" },
    { call: "cancel_backfill", with: NONE, readOnly: true, expect: "missing_scope" },
  ],
};
