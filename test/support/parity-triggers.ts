/** The parity scenarios of triggers and their deliveries. */
import { crowded, lastOutput, type ParityCall } from "./parity-scenarios.ts";
import type { CallResult } from "./surface-clients.ts";

const workflow_id = "pushed";
const say = {
  inputs: { type: "object", properties: { ref: { type: "string" } } },
  steps: [{ id: "say", type: "set", values: { x: "${{ inputs.ref }}" } }],
};
const definition = {
  ...say,
  triggers: [{ id: "hook", type: "webhook", inputs: { ref: "${{ event.body.ref }}" } }],
};
const create: ParityCall = { call: "create_workflow", with: { name: "Pushed", definition } };
const publish: ParityCall = { call: "publish_workflow", with: { workflow_id } };
const wrongId = (call: string, more: object = {}): ParityCall[] => [
  { call, with: { workflow_id: "pushde", ...more }, expect: "workflow_not_found" },
  { call, with: { workflow_id: "x".repeat(201), ...more }, expect: "invalid_input" },
];
/** Sends a delivery to the trigger, which is no operation of the catalogue. */
export const RECEIVE = "receive_delivery";
const receive: ParityCall = { call: RECEIVE, with: { workflow_id, body: { ref: "main" } } };
/** The delivery that an earlier call has sent. */
const sentBy = (before: readonly CallResult[], index: number) => ({
  workflow_id,
  delivery_id: before[index]!.output!["delivery_id"],
});
const missing = { workflow_id, delivery_id: "trd_none" };
const list: ParityCall = { call: "list_trigger_deliveries", with: { workflow_id, limit: 1 }, readOnly: true };

export const TRIGGER_SCENARIOS: Record<string, ParityCall[]> = {
  get_triggers: [
    create,
    { call: "get_triggers", with: { workflow_id } },
    publish,
    { call: "get_triggers", with: { workflow_id } },
    { call: "get_triggers", with: { workflow_id }, readOnly: true },
    ...wrongId("get_triggers"),
  ],
  rotate_trigger: [
    create,
    { call: "rotate_trigger", with: { workflow_id, trigger: "hook" }, expect: "trigger_not_found" },
    publish,
    { call: "rotate_trigger", with: { workflow_id, trigger: "hook", idempotency_key: "r" } },
    { call: "rotate_trigger", with: { workflow_id, trigger: "hook", idempotency_key: "r" } },
    {
      call: "rotate_trigger",
      with: { workflow_id, trigger: "other", idempotency_key: "r" },
      expect: "idempotency_key_reused",
    },
    {
      call: "rotate_trigger",
      with: { workflow_id, trigger: "hook" },
      readOnly: true,
      expect: "missing_scope",
    },
    ...wrongId("rotate_trigger", { trigger: "hook" }),
  ],
  list_trigger_deliveries: [
    create,
    publish,
    receive,
    receive,
    list,
    {
      call: "list_trigger_deliveries",
      with: (before) => ({ workflow_id, limit: 1, cursor: lastOutput(before)["next_cursor"] }),
    },
    { call: "list_trigger_deliveries", with: { workflow_id, trigger: "hook", status: "started", limit: 5 } },
    { call: "list_trigger_deliveries", with: { workflow_id, trigger: "none" }, expect: "trigger_not_found" },
    { call: "list_trigger_deliveries", with: { workflow_id, cursor: "forged" }, expect: "invalid_cursor" },
    ...wrongId("list_trigger_deliveries"),
  ],
  get_trigger_delivery: [
    create,
    publish,
    receive,
    { call: "get_trigger_delivery", with: (before) => sentBy(before, 2), readOnly: true },
    { call: "get_trigger_delivery", with: missing, expect: "trigger_delivery_not_found" },
    ...wrongId("get_trigger_delivery", { delivery_id: "trd_none" }),
  ],
  redeliver_trigger_delivery: [
    create,
    publish,
    receive,
    { call: RECEIVE, with: { workflow_id, refused: true } },
    {
      call: "redeliver_trigger_delivery",
      with: (before) => ({ ...sentBy(before, 2), idempotency_key: "d" }),
    },
    {
      call: "redeliver_trigger_delivery",
      with: (before) => ({ ...sentBy(before, 2), idempotency_key: "d" }),
    },
    {
      call: "redeliver_trigger_delivery",
      with: { ...missing, idempotency_key: "d" },
      expect: "idempotency_key_reused",
    },
    { call: "redeliver_trigger_delivery", with: missing, expect: "trigger_delivery_not_found" },
    { call: "redeliver_trigger_delivery", with: missing, readOnly: true, expect: "missing_scope" },
    ...wrongId("redeliver_trigger_delivery", { delivery_id: "trd_none" }),
    { call: "list_trigger_deliveries", with: { workflow_id, status: "refused", limit: 5 } },
    {
      call: "redeliver_trigger_delivery",
      with: (before) => ({
        workflow_id,
        delivery_id: (lastOutput(before)["items"] as { id: string }[])[0]!.id,
      }),
      expect: "trigger_delivery_not_stored",
    },
    ...crowded,
    { call: "redeliver_trigger_delivery", with: (before) => sentBy(before, 2), expect: "too_many_runs" },
    { call: "update_workflow", with: { workflow_id, definition: say } },
    publish,
    { call: "redeliver_trigger_delivery", with: (before) => sentBy(before, 2), expect: "trigger_not_found" },
  ],
};
