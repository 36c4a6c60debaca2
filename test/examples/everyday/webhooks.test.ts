import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";
import { getTriggers } from "../../../tools/triggers/get-triggers.ts";
import { exampleEnvironment } from "../../support/example-environment.ts";
import { apiClient } from "../../support/http.ts";

const SECRET = "whsec_of_this_test";
const checkout = (id: string, status = "paid") => ({
  id,
  type: "checkout.session.completed",
  data: {
    object: {
      id: "cs_live_b2",
      payment_status: status,
      amount_total: 1_999,
      currency: "eur",
      customer_details: { email: "ann@example.com" },
    },
  },
});

describe("everyday work that webhooks start", () => {
  it("mails one receipt for a checkout that is signed and reported several times", async () => {
    const environment = await exampleEnvironment({
      config: () => ({ secrets: [{ name: "stripe-hook", key_var: "STRIPE_HOOK", hosts: [] }] }),
      env: { STRIPE_HOOK: SECRET },
    });
    const { call, clock, executor, ended, instance } = environment;
    const id = await environment.publish("paid-checkouts-by-webhook");
    const { items } = await call<{ items: TriggerState[] }>(getTriggers, { workflow_id: id });
    const post = apiClient(await environment.listen());
    const stripe = new Stripe("sk_test_none");
    const send = (event: object, secret = SECRET) => {
      const payload = JSON.stringify(event);
      const timestamp = Math.floor(clock.now() / 1000);
      const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
      return post("POST", new URL(items[0]!.url!).pathname, payload, { "Stripe-Signature": header });
    };
    expect((await send(checkout("evt_1"), "whsec_of_somebody_else")).status).toBe(403);
    const answers = await Promise.all([
      send(checkout("evt_1")),
      send(checkout("evt_1")),
      send(checkout("evt_1")),
    ]);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size).toBe(1);
    const unpaid = await send(checkout("evt_2", "unpaid"));
    expect(unpaid.status).toBe(202);
    await executor.startReceived();
    const { run_id: runId } = answers[0].body as { run_id: string };
    const run = await ended(runId);
    expect(run).toMatchObject({
      status: "succeeded",
      trigger: "webhook",
      output: { mailed_to: "ann@example.com" },
    });
    expect((await send(checkout("evt_1"))).body.run_id).toBe(run.id);
    await executor.startReceived();
    expect(environment.mails).toHaveLength(1);
    expect(environment.mails[0]).toContain("19.99 EUR");
    expect(await instance.read.triggerDeliveries.find(unpaid.body.delivery_id as string)).toMatchObject({
      status: "filtered",
    });
    expect(await instance.read.runs.count({ trigger: "webhook" })).toBe(1);
  });
});
