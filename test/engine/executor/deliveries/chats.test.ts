import { describe, expect, it } from "vitest";
import { z } from "zod";
import { rotateSubscriptionSecret } from "../../../../tools/subscriptions/rotate-subscription-secret.ts";
import { testSubscription } from "../../../../tools/subscriptions/test-subscription.ts";
import {
  eventReceiver,
  FAILS,
  payAt,
  silentBank,
  subscriptionHarness,
  SUCCEEDS,
} from "../../../support/subscriptions.ts";

/** What the chats document, strictly: what they do not know they refuse, or would not show. */
const SlackText = z.strictObject({ type: z.literal("mrkdwn"), text: z.string().min(1).max(3_000) });
const Slack = z.strictObject({
  text: z.string().min(1),
  blocks: z
    .array(
      z.union([
        z.strictObject({ type: z.literal("section"), text: SlackText }),
        z.strictObject({ type: z.literal("section"), fields: z.array(SlackText).min(1).max(10) }),
      ]),
    )
    .max(50),
});
const Teams = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
        type: z.literal("AdaptiveCard"),
        version: z.literal("1.4"),
        body: z.array(
          z.union([
            z.strictObject({
              type: z.literal("TextBlock"),
              text: z.string(),
              weight: z.literal("Bolder"),
              size: z.literal("Medium"),
              color: z.enum(["Default", "Good", "Attention"]),
              wrap: z.literal(true),
            }),
            z.strictObject({
              type: z.literal("FactSet"),
              facts: z.array(z.strictObject({ title: z.string(), value: z.string() })),
            }),
          ]),
        ),
        actions: z.array(
          z.strictObject({ type: z.literal("Action.OpenUrl"), title: z.string(), url: z.url() }),
        ),
      }),
    }),
  ]),
});
const Discord = z.strictObject({
  embeds: z
    .array(
      z.strictObject({
        title: z.string().max(256),
        url: z.url(),
        color: z.int().min(0).max(0xff_ff_ff),
        fields: z
          .array(
            z.strictObject({ name: z.string().max(256), value: z.string().max(1_024), inline: z.boolean() }),
          )
          .max(25),
      }),
    )
    .max(10),
  allowed_mentions: z.strictObject({ parse: z.tuple([]) }),
});
const SHAPES = { slack: Slack, teams: Teams, discord: Discord } as const;

/** A name that would be markup and a mention in each of the chats. */
const NASTY = "Sync <!channel> @everyone *bold* [x](https://evil.example.com) & co";

async function chatHarness(
  format: keyof typeof SHAPES,
  events: ("run.failed" | "run.succeeded" | "run.interrupted")[] = ["run.failed"],
) {
  const bank = await silentBank();
  const receiver = await eventReceiver((response, { body, headers }) => {
    const isValid =
      SHAPES[format].safeParse(JSON.parse(body)).success && headers["content-type"] === "application/json";
    response.writeHead(isValid ? 200 : 400).end(isValid ? "ok" : "invalid_payload");
  });
  const url = `${receiver.url}/services/T0/B0/very-secret-part`;
  const harness = await subscriptionHarness({
    config: {
      http: { allowed_hosts: [receiver.host, bank.host] },
      secrets: [{ name: "chat", key_var: "CHAT_URL", hosts: [receiver.host] }],
    },
    env: { CHAT_URL: url },
  });
  const made = await harness.subscribe({ format, url_secret: "chat", events });
  return { ...harness, bank, receiver, made };
}

describe.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])("messages to %s", (format) => {
  it("have the documented shape, name what happened, and mention nobody", async () => {
    const { publish, run, settle, receiver, made, deliveries, call } = await chatHarness(format, [
      "run.failed",
      "run.succeeded",
    ]);
    expect(made).toMatchObject({ secret: null, url: null, url_secret: "chat" });
    await run(await publish(NASTY, FAILS));
    await run(await publish("Good", SUCCEEDS));
    await call(testSubscription, { subscription_id: made.id });
    await settle();
    expect((await deliveries()).map(({ state, response }) => `${state} ${response}`)).toEqual(
      Array.from({ length: 3 }, () => "delivered ok"),
    );
    const failure = receiver.received
      .map(({ body }) => body)
      .find((body) => body.includes("assert_failed") || body.includes("assert\\\\_failed"));
    expect(failure).toBeDefined();
    for (const markup of ["<!channel>", " @everyone", "](https://evil"]) {
      if (format === "slack" && markup !== "<!channel>") continue;
      expect(failure).not.toContain(markup);
    }
  });

  it("ask whether the effect of an interrupted attempt happened", async () => {
    const { publish, run, settle, receiver, bank, deliveries } = await chatHarness(format, [
      "run.interrupted",
    ]);
    await run(await publish("Pay", payAt(bank.url)));
    await settle();
    expect((await deliveries()).map(({ state, response }) => `${state} ${response}`)).toEqual([
      "delivered ok",
    ]);
    expect(receiver.received[0]!.body).toMatch(/Pay was interrupted\\*: did \\"pay\\" happen\?/);
  });
});

describe("the URL of a chat", () => {
  it("is in no answer, row or message", async () => {
    const { publish, run, settle, instance, deliveries, made } = await chatHarness("slack");
    await run(await publish("Bad", FAILS));
    await settle();
    const rows = await instance.store.read.selectFrom("subscriptions").selectAll().execute();
    const entries = await instance.store.read.selectFrom("audit_log").selectAll().execute();
    expect(JSON.stringify([rows, entries, await deliveries(), made])).not.toContain("very-secret-part");
  });
});

it("a chat has no signing secret to rotate", async () => {
  const { call, made } = await chatHarness("discord");
  await expect(call(rotateSubscriptionSecret, { subscription_id: made.id })).rejects.toMatchObject({
    code: "subscription_not_signed",
  });
});
