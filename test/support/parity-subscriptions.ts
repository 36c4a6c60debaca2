/** The parity scenarios of subscriptions, their deliveries and overdue workflows. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";
import type { CallResult } from "./surface-clients.ts";

type Input = NonNullable<ParityCall["with"]>;

const call = (name: string, input: Input = {}, expect?: ParityCall["expect"]): ParityCall => ({
  call: name,
  by: "admin",
  with: input,
  ...(expect && { expect }),
});
const refused = (name: string, input: Input = {}): ParityCall => ({
  call: name,
  by: "editor",
  with: input,
  expect: "missing_scope",
});

/** A call that no operation has: no subscription can be reached, so its deliveries are given up. */
export const GIVE_UP = "give_up_deliveries";

const ALERTS = { name: "Alerts", url: "https://example.com/hook", events: ["run.failed"] };
const alerts = call("create_subscription", ALERTS);
const none = { subscription_id: "sub_none" };
const idOf = (before: readonly CallResult[], index = 0) => ({
  subscription_id: before[index]!.output!["id"],
});
const deliveryOf = (before: readonly CallResult[]) => ({ delivery_id: lastOutput(before)["id"] });

export const SUBSCRIPTION_SCENARIOS: Record<string, ParityCall[]> = {
  create_subscription: [
    call("create_subscription", { ...ALERTS, idempotency_key: "s" }),
    call("create_subscription", { ...ALERTS, idempotency_key: "s" }),
    call("create_subscription", { ...ALERTS, name: "X", idempotency_key: "s" }, "idempotency_key_reused"),
    call(
      "create_subscription",
      { ...ALERTS, url: "http://127.0.0.1/", workflows: ["gone"] },
      "invalid_input",
    ),
    call("create_subscription", { ...ALERTS, format: "slack" }, "invalid_input"),
    call("create_subscription", { ...ALERTS, url_secret: "hook" }, "invalid_input"),
    call("create_subscription", { name: "Alerts", events: ["run.failed"] }, "invalid_input"),
    call("create_subscription", { ...ALERTS, events: ["run.ended"] }, "invalid_input"),
    call("create_subscription", { ...ALERTS, project: "finance" }, "project_not_found"),
    ...Array.from({ length: 49 }, () => alerts),
    call("create_subscription", ALERTS, "too_many_subscriptions"),
    refused("create_subscription", ALERTS),
  ],
  list_subscriptions: [
    call("list_subscriptions"),
    alerts,
    alerts,
    call("list_subscriptions", { project: "default" }),
    call("list_subscriptions", { limit: 1 }),
    call("list_subscriptions", { project: "finance" }, "project_not_found"),
    call("list_subscriptions", { cursor: "forged" }, "invalid_cursor"),
    call("list_subscriptions", { limit: 0 }, "invalid_input"),
    refused("list_subscriptions"),
  ],
  get_subscription: [
    alerts,
    call("get_subscription", (before) => idOf(before)),
    call("get_subscription", none, "subscription_not_found"),
    call("get_subscription", { subscription_id: "x".repeat(101) }, "invalid_input"),
    refused("get_subscription", none),
  ],
  update_subscription: [
    alerts,
    call("update_subscription", (before) => ({ ...idOf(before), name: "Other", tags: ["a"], paused: true })),
    call("update_subscription", (before) => ({
      ...idOf(before),
      paused: false,
      url: "https://example.com/b",
    })),
    call("update_subscription", (before) => ({ ...idOf(before), url: "ftp://example.com" }), "invalid_input"),
    call("update_subscription", none, "subscription_not_found"),
    refused("update_subscription", none),
  ],
  delete_subscription: [
    alerts,
    call("delete_subscription", (before) => idOf(before)),
    call("delete_subscription", (before) => idOf(before), "subscription_not_found"),
    call("delete_subscription", { subscription_id: "x".repeat(101) }, "invalid_input"),
    refused("delete_subscription", none),
  ],
  rotate_subscription_secret: [
    alerts,
    call("rotate_subscription_secret", (before) => ({ ...idOf(before), idempotency_key: "r" })),
    call("rotate_subscription_secret", (before) => ({ ...idOf(before), idempotency_key: "r" })),
    call(
      "rotate_subscription_secret",
      (before) => ({ ...idOf(before), overlap: "0s", idempotency_key: "r" }),
      "idempotency_key_reused",
    ),
    call("rotate_subscription_secret", (before) => ({ ...idOf(before), overlap: "31d" }), "invalid_input"),
    call("rotate_subscription_secret", none, "subscription_not_found"),
    refused("rotate_subscription_secret", none),
  ],
  test_subscription: [
    alerts,
    call("test_subscription", (before) => ({ ...idOf(before), idempotency_key: "t" })),
    call("test_subscription", (before) => ({ ...idOf(before), idempotency_key: "t" })),
    call("test_subscription", { ...none, idempotency_key: "t" }, "idempotency_key_reused"),
    call("update_subscription", (before) => ({ ...idOf(before), paused: true })),
    call("test_subscription", (before) => idOf(before), "subscription_paused"),
    call("test_subscription", none, "subscription_not_found"),
    call("test_subscription", { subscription_id: "x".repeat(101) }, "invalid_input"),
    refused("test_subscription", none),
  ],
  list_deliveries: [
    call("list_deliveries"),
    alerts,
    call("test_subscription", (before) => idOf(before, 1)),
    call("list_deliveries", (before) => idOf(before, 1)),
    call("list_deliveries", { state: "failed" }),
    call("list_deliveries", { state: "lost" }, "invalid_input"),
    call("list_deliveries", { project: "finance" }, "project_not_found"),
    call("list_deliveries", { cursor: "forged" }, "invalid_cursor"),
    refused("list_deliveries"),
  ],
  get_delivery: [
    alerts,
    call("test_subscription", (before) => idOf(before)),
    call("get_delivery", deliveryOf),
    call("get_delivery", { delivery_id: "dlv_none" }, "delivery_not_found"),
    call("get_delivery", { delivery_id: "x".repeat(101) }, "invalid_input"),
    refused("get_delivery", { delivery_id: "dlv_none" }),
  ],
  redeliver: [
    alerts,
    call("test_subscription", (before) => idOf(before)),
    call("redeliver", deliveryOf, "delivery_pending"),
    call(GIVE_UP),
    call("redeliver", (before) => ({ delivery_id: before[1]!.output!["id"], idempotency_key: "r" })),
    call("redeliver", (before) => ({ delivery_id: before[1]!.output!["id"], idempotency_key: "r" })),
    call("redeliver", { delivery_id: "dlv_none", idempotency_key: "r" }, "idempotency_key_reused"),
    call("update_subscription", (before) => ({ ...idOf(before), paused: true })),
    call("redeliver", (before) => ({ delivery_id: before[1]!.output!["id"] }), "subscription_paused"),
    call("redeliver", { delivery_id: "dlv_none" }, "delivery_not_found"),
    call("redeliver", { delivery_id: "x".repeat(101) }, "invalid_input"),
    refused("redeliver", { delivery_id: "dlv_none" }),
  ],
  get_overdue_workflows: [
    call("get_overdue_workflows"),
    call("get_overdue_workflows", { project: "finance" }, "project_not_found"),
    call("get_overdue_workflows", { workflow_id: "" }, "invalid_input"),
  ],
  get_run_statistics: [
    call("get_run_statistics"),
    call("get_run_statistics", { days: 2, timezone: "Asia/Kathmandu" }),
    call("get_run_statistics", { project: "finance" }, "project_not_found"),
    call("get_run_statistics", { timezone: "Europe/Atlantis" }, "invalid_input"),
    call("get_run_statistics", { days: 0 }, "invalid_input"),
  ],
};
