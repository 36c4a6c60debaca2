import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { SECOND } from "../core/clock.ts";
import { listOf, objectOf, STRING } from "../core/shapes.ts";
import { defineStepType, template } from "../core/step-type.ts";
import { recipientIssues } from "./recipient-issues.ts";

const Address = text(320, 1);
const Addresses = z.union([Address, z.array(Address).min(1).max(50)]);
const asList = (addresses: string | readonly string[]): readonly string[] =>
  typeof addresses === "string" ? [addresses] : addresses;

export const emailStep = defineStepType({
  type: "email",
  title: "Send mail",
  description:
    "Sends mail through the configured SMTP server, only to the domains in mail.allowed_domains of the configuration.",
  fields: {
    to: template(
      Addresses.meta({
        description: "One address or a list of addresses; at most 50 together with cc.",
        example: "team@example.com",
      }),
    ),
    cc: template(
      Addresses.optional().meta({ description: "Addresses that get a copy.", example: ["ada@example.com"] }),
    ),
    subject: template(
      text(500, 1).meta({ description: "The subject.", example: "Revenue since ${{ inputs.since }}" }),
    ),
    text: template(
      text(1_000_000, 1).meta({
        description: "The mail as plain text.",
        example: "${{ steps.summary.text }}",
      }),
    ),
    html: template(
      text(1_000_000, 1).optional().meta({
        description: "The mail as HTML, in addition to the text.",
        example: "<p>${{ steps.summary.text }}</p>",
      }),
    ),
  },
  example: {
    id: "send",
    type: "email",
    to: "team@example.com",
    subject: "Revenue since ${{ inputs.since }}",
    text: "${{ steps.summary.text }}",
  },
  output: objectOf({ message_id: STRING, accepted: listOf(STRING) }),
  timeoutMs: 60 * SECOND,
  hasEffects: () => true,
  resource: () => "mail",
  spanAttributes: () => ({}),
  check: (step, ctx) => {
    const { mailer } = ctx.connections;
    const reason = mailer.unavailableReason();
    if (reason !== null)
      return Promise.resolve({ issues: [{ path: [], code: "unusable", message: reason }] });
    return Promise.resolve({ issues: ["to", "cc"].flatMap((field) => recipientIssues(field, step, mailer)) });
  },
  run: async ({ to, cc, subject, text: body, html }, ctx) => {
    const mail = { to: asList(to), cc: cc === undefined ? undefined : asList(cc), subject, text: body, html };
    const { idempotencyKey, signal, connections } = ctx;
    return {
      kind: "done",
      output: { ...(await connections.mailer.send({ ...mail, idempotencyKey }, signal)) },
    };
  },
});
