import { describe, expect, it } from "vitest";
import { redeliver } from "../../../../tools/subscriptions/redeliver.ts";
import { rotateSubscriptionSecret } from "../../../../tools/subscriptions/rotate-subscription-secret.ts";
import { testSubscription } from "../../../../tools/subscriptions/test-subscription.ts";
import { updateSubscription } from "../../../../tools/subscriptions/update-subscription.ts";
import { getSubscription } from "../../../../tools/subscriptions/get-subscription.ts";
import { DAY, HOUR, MINUTE } from "../../../../src/core/clock.ts";
import { MAX_ATTEMPTS } from "../../../../src/engine/executor/deliveries/schedule.ts";
import {
  eventReceiver,
  FAILS,
  subscriptionHarness,
  SUCCEEDS,
  verify,
} from "../../../support/subscriptions.ts";

describe("deliveries", () => {
  it("tell of the end of runs, signed as Standard Webhooks, without values of the runs", async () => {
    const receiver = await eventReceiver();
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { secret } = await harness.subscribe({
      url: `${receiver.url}/hook?tenant=1`,
      events: ["run.succeeded", "run.failed"],
    });
    const good = await harness.publish("Good");
    const bad = await harness.publish("Bad", FAILS);
    const runs = [await harness.run(good, { n: 4711 }), await harness.run(bad)];
    await harness.settle();
    const events = receiver.verified(secret!).toSorted((a, b) => b.type.localeCompare(a.type));
    expect(events).toMatchObject([
      {
        type: "run.succeeded",
        data: {
          workflow: { id: good, name: "Good", url: expect.stringMatching(/\/ui\/workflows\/good$/) },
          run: { id: runs[0], status: "succeeded", trigger: "web", error: null },
        },
      },
      {
        type: "run.failed",
        data: {
          workflow: { id: bad },
          run: { id: runs[1], status: "failed", error: { code: "assert_failed", step_id: "check" } },
        },
      },
    ]);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hook?tenant=1", "/hook?tenant=1"]);
    const sent = JSON.stringify(receiver.received);
    expect(sent).not.toContain("4711");
    expect(sent).not.toContain("a secret of the run");
    expect(await harness.deliveries()).toMatchObject([
      { state: "delivered", status: 204, attempts: 1 },
      { state: "delivered", status: 204, attempts: 1 },
    ]);
  });

  it("are retried for about a day with the same id, then given up, and sent again on demand", async () => {
    let status = 503;
    const receiver = await eventReceiver((response) => response.writeHead(status).end("no"));
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { id, secret } = await harness.subscribe({ url: receiver.url, events: ["run.succeeded"] });
    await harness.run(await harness.publish("Good"));
    const start = harness.clock.now();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await harness.settle();
      const [delivery] = await harness.deliveries();
      expect(delivery).toMatchObject({ attempts: attempt, status: 503, response: "no" });
      if (delivery!.next_at !== null)
        harness.clock.advance(Date.parse(delivery!.next_at) - harness.clock.now());
    }
    const [given] = await harness.deliveries({ state: "failed" });
    expect(given).toMatchObject({ state: "failed", next_at: null, error: "The receiver answered 503." });
    expect(harness.clock.now() - start).toBeGreaterThan(16 * HOUR);
    expect(harness.clock.now() - start).toBeLessThan(30 * HOUR);
    expect(await harness.call(getSubscription, { subscription_id: id })).toMatchObject({
      pending: 0,
      failed: 1,
    });
    status = 200;
    await harness.call(redeliver, { delivery_id: given!.id });
    await harness.settle();
    expect(await harness.delivery(given!.id)).toMatchObject({ state: "delivered", attempts: 1, status: 200 });
    expect(new Set(receiver.verified(secret!).map((event) => event.id))).toEqual(new Set([given!.id]));
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS + 1);
  });

  it("wait as long as the receiver asks", async () => {
    const receiver = await eventReceiver((response) =>
      response.writeHead(429, { "retry-after": "3600" }).end(),
    );
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    await harness.subscribe({ url: receiver.url, events: ["run.succeeded"] });
    await harness.run(await harness.publish("Good"));
    await harness.settle();
    const [delivery] = await harness.deliveries();
    expect(Date.parse(delivery!.next_at!) - harness.clock.now()).toBe(HOUR);
  });

  it("carry two valid signatures after a rotation, until the overlap is over", async () => {
    const receiver = await eventReceiver();
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { id, secret: old } = await harness.subscribe({ url: receiver.url, events: ["run.failed"] });
    const { secret: next } = await harness.call(rotateSubscriptionSecret, {
      subscription_id: id,
      overlap: "1h",
    });
    expect(next).not.toBe(old);
    const sendTest = async () => {
      await harness.call(testSubscription, { subscription_id: id });
      await harness.settle();
      return receiver.received.at(-1)!;
    };
    const during = await sendTest();
    for (const secret of [old!, next!])
      expect(verify(secret, during.headers, during.body)).toMatchObject({ type: "subscription.test" });
    harness.clock.advance(HOUR + MINUTE);
    const after = await sendTest();
    expect(verify(next!, after.headers, after.body)).toMatchObject({ type: "subscription.test" });
    expect(() => verify(old!, after.headers, after.body)).toThrow(/signature/i);
  });

  it("stop with a note when every attempt has failed for days, and go on when somebody resumes", async () => {
    let status = 500;
    const receiver = await eventReceiver((response) => response.writeHead(status).end());
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { id } = await harness.subscribe({ url: receiver.url, events: ["run.succeeded"] });
    const workflow = await harness.publish("Good");
    await harness.run(workflow);
    await harness.settle();
    harness.clock.advance(5 * DAY);
    await harness.settle();
    const paused = await harness.call(getSubscription, { subscription_id: id });
    expect(paused).toMatchObject({
      pause_reason: expect.stringContaining("Every attempt has failed since"),
      pending: 1,
    });
    await harness.run(workflow);
    await harness.settle();
    expect(await harness.deliveries()).toHaveLength(1);
    await expect(harness.call(testSubscription, { subscription_id: id })).rejects.toMatchObject({
      code: "subscription_paused",
    });
    status = 200;
    await harness.call(updateSubscription, { subscription_id: id, paused: false });
    harness.clock.advance(DAY);
    await harness.settle();
    expect(await harness.deliveries()).toMatchObject([{ state: "delivered" }]);
    expect(await harness.call(getSubscription, { subscription_id: id })).toMatchObject({
      paused_at: null,
      failing_since: null,
    });
  });

  it("of one slow receiver delay nobody else", async () => {
    const slow = await eventReceiver(() => {});
    const quick = await eventReceiver();
    const harness = await subscriptionHarness({ hosts: [slow.host, quick.host] });
    await harness.subscribe({ url: slow.url, events: ["run.succeeded"] });
    const { secret } = await harness.subscribe({ url: quick.url, events: ["run.succeeded"] });
    const workflow = await harness.publish("Good");
    for (let count = 0; count < 5; count += 1) await harness.run(workflow);
    while (quick.received.length < 5) await harness.executor.deliverer.deliverDue();
    expect(quick.verified(secret!)).toHaveLength(5);
    expect(slow.received.length).toBeLessThanOrEqual(2);
  });

  it("contain the values of the run only if the subscription asks for them and its creator may read them", async () => {
    const receiver = await eventReceiver();
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { secret } = await harness.subscribe({
      url: receiver.url,
      events: ["run.succeeded"],
      include_values: true,
    });
    const workflow = await harness.publish("Good", SUCCEEDS);
    await harness.run(workflow, { n: 7 });
    await harness.settle();
    const values = { inputs: { n: 7 }, output: { answer: 7 }, error: null };
    expect(receiver.verified(secret!)).toMatchObject([{ data: { values } }]);
    await harness.instance.store.transaction((trx) =>
      trx
        .updateTable("users")
        .set({ status: "inactive" as never })
        .where("email", "=", "root@example.com")
        .execute(),
    );
    await harness.run(workflow, { n: 8 });
    await harness.settle();
    expect(receiver.verified(secret!)[1]!.data).toMatchObject({ values: null });
  });
});
