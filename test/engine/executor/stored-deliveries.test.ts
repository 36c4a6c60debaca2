import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/core/clock.ts";
import { purgeExpired } from "../../../src/store/purge.ts";
import { storedBytes, storedBytesErrors } from "../../../src/store/stored-bytes.ts";
import { createProject } from "../../../tools/projects/create-project.ts";
import { deleteProject } from "../../../tools/projects/delete-project.ts";
import { createSubscription } from "../../../tools/subscriptions/create-subscription.ts";
import { deleteSubscription } from "../../../tools/subscriptions/delete-subscription.ts";
import { testSubscription } from "../../../tools/subscriptions/test-subscription.ts";
import { getTriggers } from "../../../tools/triggers/get-triggers.ts";
import { listTriggerDeliveries } from "../../../tools/triggers/list-trigger-deliveries.ts";
import { redeliverTriggerDelivery } from "../../../tools/triggers/redeliver-trigger-delivery.ts";
import { moveWorkflow } from "../../../tools/workflows/move-workflow.ts";
import { eventually } from "../../support/eventually.ts";
import { eventReceiver, subscriptionHarness } from "../../support/subscriptions.ts";

const OWNER = "root@example.com";
const KEEP = { runs: 90 * DAY, audit: 90 * DAY, deliveries: 30 * DAY };
const RECEIVES = {
  triggers: [
    { id: "orders", type: "webhook", signature: { scheme: "shared_secret", secret: "hook" }, if: "false" },
  ],
  steps: [{ id: "a", type: "set", values: { n: 1 } }],
};

async function open(limits: Record<string, number> = {}) {
  const receiver = await eventReceiver((response) => response.writeHead(200).end("thank you"));
  const harness = await subscriptionHarness({
    hosts: [receiver.host],
    config: {
      http: { allowed_hosts: [receiver.host] },
      secrets: [{ name: "hook", key_var: "HOOK", hosts: [] }],
      limits: { per_key: limits },
    },
    env: { HOOK: "a shared secret" },
  });
  const { instance, clock } = harness;
  const { store } = instance;
  const { url } = await instance.rest({
    config: {
      secrets: [{ name: "hook", key_var: "HOOK", hosts: [] }],
      limits: { per_key: limits },
    },
    env: { HOOK: "a shared secret" },
  });
  return {
    ...harness,
    receiver,
    stored: (subject = OWNER) => storedBytes(store.read, subject),
    errors: () => storedBytesErrors(store.read),
    purge: () => purgeExpired(store, clock, KEEP, async () => {}),
    /** Publishes a workflow with a trigger. @returns what sends a delivery of so many characters */
    async trigger(name: string) {
      const workflow = await harness.publish(name, RECEIVES);
      const { items } = await harness.call(getTriggers, { workflow_id: workflow });
      const { pathname } = new URL(items[0]!.url!);
      const send = (chars: number) =>
        fetch(new URL(pathname, url), {
          method: "POST",
          headers: { "content-type": "application/json", "x-webhook-secret": "a shared secret" },
          body: JSON.stringify({ text: "x".repeat(chars) }),
        });
      return { workflow, send };
    },
  };
}

describe("the bytes of deliveries", () => {
  it("to triggers count for the owner and the project, until their bodies are deleted", async () => {
    const { call, trigger, stored, errors, purge, clock, executor } = await open();
    await call(createProject, { name: "Finance" });
    const { workflow, send } = await trigger("Orders");
    const before = await stored();
    expect((await send(50_000)).status).toBe(202);
    const one = (await stored()) - before;
    expect(one).toBeGreaterThan(50_000);
    expect(one).toBeLessThan(52_000);
    expect((await send(50_000)).status).toBe(202);
    expect(await stored()).toBe(before + 2 * one);
    await call(moveWorkflow, { workflow_id: workflow, project: "finance", force: true });
    expect(await stored("project:finance")).toBeGreaterThan(2 * one);
    expect(await errors()).toEqual([]);
    // One that has not ended is kept.
    await executor.startReceived();
    clock.advance(4_000 * DAY);
    await purge();
    expect(await stored()).toBeLessThanOrEqual(before);
    expect(await errors()).toEqual([]);
  });

  it("to triggers are released when newer ones need the room, and with the delivery", async () => {
    const { trigger, stored, errors, purge, clock, executor } = await open();
    const { send } = await trigger("Orders");
    const before = await stored();
    for (let round = 0; round < 21; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => send(1_000)));
      await executor.startReceived();
    }
    await send(1_000);
    await executor.startReceived();
    const one = 1_300;
    expect((await stored()) - before).toBeLessThan(202 * one);
    expect(await errors()).toEqual([]);
    clock.advance(4_000 * DAY);
    await purge();
    expect(await stored()).toBeLessThanOrEqual(before);
    expect(await errors()).toEqual([]);
  });

  it("to subscriptions count for who created them, with what the receiver answered, until they are deleted", async () => {
    const { call, receiver, subscribe, publish, run, settle, stored, errors, purge, clock } = await open();
    await call(createProject, { name: "Finance" });
    const { id } = await subscribe({ url: receiver.url, events: ["run.succeeded", "workflow.published"] });
    const before = await stored();
    await call(testSubscription, { subscription_id: id });
    const pending = (await stored()) - before;
    expect(pending).toBeGreaterThan(50);
    await settle();
    expect(await stored()).toBe(before + pending + "thank you".length);
    const workflow = await publish("Good");
    await run(workflow);
    await settle();
    expect(await errors()).toEqual([]);
    const other = await call(createSubscription, {
      name: "finance",
      project: "finance",
      url: "https://example.com/hook",
      events: ["run.failed"],
    });
    await call(testSubscription, { subscription_id: other.id });
    expect(await stored("project:finance")).toBeGreaterThan(50);
    expect(await errors()).toEqual([]);
    await call(deleteProject, { project: "finance" });
    expect(await stored("project:finance")).toBe(0);
    expect(await errors()).toEqual([]);
    clock.advance(4_000 * DAY);
    await purge();
    expect(await errors()).toEqual([]);
    await call(testSubscription, { subscription_id: id });
    await call(deleteSubscription, { subscription_id: id });
    expect(await errors()).toEqual([]);
  });

  it("reach the limit of the owner: more are refused, and say what to do", async () => {
    const { call, trigger, stored, receiver, subscribe } = await open({ stored_bytes: 120_000 });
    const { id } = await subscribe({ url: receiver.url, events: ["run.failed"] });
    const { workflow, send } = await trigger("Orders");
    const answers = [];
    for (let count = 0; count < 5; count += 1) answers.push(await send(50_000));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429]);
    expect(await answers[4]!.json()).toMatchObject({
      code: "storage_limit_reached",
      detail: expect.stringContaining("deliveries"),
    });
    expect(await stored()).toBeLessThan(160_000);
    // Another executor may have claimed them, and records them soon.
    const filtered = await eventually(async () => {
      const { items } = await call(listTriggerDeliveries, { workflow_id: workflow, status: "filtered" });
      return items[0];
    }, "a filtered delivery");
    const more = { name: "more", url: receiver.url, events: ["run.failed" as const] };
    for (const refused of [
      () => call(redeliverTriggerDelivery, { workflow_id: workflow, delivery_id: filtered.id }),
      () => call(testSubscription, { subscription_id: id }),
      () => call(createSubscription, more),
    ])
      await expect(refused()).rejects.toMatchObject({ code: "storage_limit_reached" });
  });
});
