import { simpleParser } from "mailparser";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";
import type { TriggerState } from "../../../schemas/trigger-delivery.ts";
import { getTriggers } from "../../../tools/triggers/get-triggers.ts";
import { decisionBrowser, digestIn } from "../../support/decisions.ts";
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

  it("sorts each request of a help desk once, and lets a person decide from the mail what is urgent", async () => {
    const secret = `whsec_${Buffer.from("a secret of this test").toString("base64")}`;
    const environment = await exampleEnvironment({
      config: () => ({ secrets: [{ name: "inbox-hook", key_var: "INBOX_HOOK", hosts: [] }] }),
      env: { INBOX_HOOK: secret },
      model: ({ prompt }) =>
        JSON.stringify(
          prompt.includes("money back")
            ? { kind: "refund", urgent: true, answer: "You get it all back." }
            : { kind: "order", urgent: false, answer: "It arrives on Friday." },
        ),
    });
    const { call, clock, executor, ended, mails } = environment;
    const id = await environment.publish("support-inbox");
    const { items } = await call<{ items: TriggerState[] }>(getTriggers, { workflow_id: id });
    const url = await environment.listen();
    const post = apiClient(url);
    const send = async (message: string, body: string) => {
      const payload = JSON.stringify({ from: "ada@example.com", subject: "My order", body });
      const at = new Date(clock.now());
      const headers = {
        "webhook-id": message,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(secret).sign(message, at, payload),
      };
      const answer = await post("POST", new URL(items[0]!.url!).pathname, payload, headers);
      expect(answer.status).toBe(202);
      return answer.body.run_id as string;
    };
    const textOf = async (index: number): Promise<string> => (await simpleParser(mails[index]!)).text!;
    const order = await send("msg_1", "Where is it?");
    expect(await send("msg_1", "Where is it?")).toBe(order);
    await executor.startReceived();
    expect((await ended(order)).output).toEqual({ kind: "order", answered: true });
    expect(mails).toHaveLength(1);
    expect(await textOf(0)).toContain("It arrives on Friday.");

    const refund = await send("msg_2", "I want my money back.");
    await executor.startReceived();
    const run = await ended(refund, async (idle) => {
      if (idle.status !== "waiting" || mails.length < 2) return false;
      const text = await textOf(1);
      expect(text).toContain("You get it all back.");
      const [link] = /\/decide\/[\w-]+/.exec(text)!;
      const browser = decisionBrowser(url);
      const { html } = await browser("GET", link);
      const decided = await browser("POST", link, { decision: "decline", plan_digest: digestIn(html) });
      expect(decided).toMatchObject({ status: 200, html: expect.stringContaining("Declined") as string });
      return true;
    });
    expect(run).toMatchObject({ status: "succeeded", output: { kind: "refund", answered: false } });
    expect(mails).toHaveLength(2);
  });
});
