/** Approvals in Teams, posted to a receiver that takes only what Teams documents for cards. */
import { expect, it } from "vitest";
import { z } from "zod";
import { openDecisions, PAYMENT } from "../../support/decisions.ts";
import { eventReceiver } from "../../support/subscriptions.ts";

const text = z.string().min(1);
/** Strict: what Teams does not know in a card, it does not show. */
const Card = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
        type: z.literal("AdaptiveCard"),
        version: z.literal("1.4"),
        body: z.tuple([
          z.strictObject({
            type: z.literal("TextBlock"),
            size: z.literal("Medium"),
            weight: z.literal("Bolder"),
            text,
            wrap: z.literal(true),
          }),
          z.strictObject({
            type: z.literal("TextBlock"),
            fontType: z.literal("Monospace"),
            text,
            wrap: z.literal(true),
          }),
        ]),
        actions: z.tuple([z.strictObject({ type: z.literal("Action.OpenUrl"), title: text, url: z.url() })]),
      }),
    }),
  ]),
});

/** The maximum size of a message to an incoming webhook, in bytes. */
const MAX_BYTES = 28 * 1024;

it("has the documented shape, the evidence as plain text, and no link that decides", async () => {
  const receiver = await eventReceiver((response, { body }) => {
    response.writeHead(Card.safeParse(JSON.parse(body)).success ? 200 : 400).end();
  });
  const [ask, ...rest] = PAYMENT.steps;
  const opened = await openDecisions({
    definition: {
      ...PAYMENT,
      steps: [
        {
          ...ask,
          message: "Pay [here](https://evil.example.com) ${{ inputs.amount }}?",
          evidence: { amount: "${{ inputs.amount }}", note: "*".repeat(20_000) },
          chat: ["board"],
        },
        ...rest,
      ],
    },
    config: {
      chats: [{ name: "board", type: "teams", webhook_url_var: "TEAMS" }],
      http: { allowed_hosts: [receiver.host] },
    },
    env: { TEAMS: `${receiver.url}/workflows/very-secret-part` },
  });
  const { approval } = await opened.ask();
  expect(receiver.received).toHaveLength(1);
  const { body } = receiver.received[0]!;
  expect(Buffer.byteLength(body)).toBeLessThan(MAX_BYTES);
  const [{ content }] = Card.parse(JSON.parse(body)).attachments;
  const [title, evidence] = content.body;
  expect(title.text).toContain("payment");
  expect(evidence.text).toContain("1250");
  expect(evidence.text).toContain("\\[here\\]\\(https://evil.example.com\\)");
  expect(content.actions[0].url).toContain(`/ui/approvals/${approval}`);
  // Everybody in the channel could use it.
  expect(body).not.toContain("/decide/");
  // Delivered: the job has recorded it and does not post again.
  const rows = await opened.instance.store.read.selectFrom("approval_messages").selectAll().execute();
  expect(rows.map(({ channel, status }) => `${channel} ${status}`)).toContain("teams sent");
});
