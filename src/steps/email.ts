import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { EXPRESSION_PATTERN } from "../../schemas/workflow-definition.ts";
import { SECOND } from "../core/clock.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import { listOf, objectOf, STRING } from "../core/shapes.ts";
import { defineStepType, template, type UnresolvedStep } from "../core/step-type.ts";

const Address = text(320, 1);
const Addresses = z.union([Address, z.array(Address).min(1).max(50)]);
const asList = (one: string | readonly string[]): readonly string[] =>
  typeof one === "string" ? [one] : one;

export const emailStep = defineStepType({
  type: "email",
  title: "Send mail",
  description:
    "Sends mail through the configured SMTP server, to the domains that mail.allowed_domains of the configuration names.",
  fields: {
    to: template(
      Addresses.meta({
        description: "One address or a list of them; 50 with cc at most.",
        example: "team@example.com",
      }),
    ),
    cc: template(
      Addresses.optional().meta({ description: "Who gets a copy.", example: ["ada@example.com"] }),
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
        description: "The same as HTML, beside the text.",
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
    const why = mailer.unavailableReason();
    if (why !== null) return Promise.resolve({ issues: [{ path: [], code: "unusable", message: why }] });
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

/** Faults of the addresses that are known already: those that hold no expression. */
function recipientIssues(field: string, step: UnresolvedStep, mailer: Mailer): PartialIssue[] {
  const written = step[field];
  const allowed = mailer.allowedDomains();
  return (Array.isArray(written) ? written : [written]).flatMap((address: unknown, index): PartialIssue[] => {
    if (typeof address !== "string" || EXPRESSION_PATTERN.test(address)) return [];
    const path = Array.isArray(written) ? [field, index] : [field];
    if (!z.email().safeParse(address).success)
      return [{ path, code: "wrong_format", message: "must be a mail address, such as ada@example.com" }];
    const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
    if (allowed.includes(domain)) return [];
    return [
      {
        path,
        code: "mail_refused",
        message: `no mail may be sent to ${domain}`,
        allowed: [...allowed],
        fix: "The operator adds the domain to mail.allowed_domains in the configuration.",
      },
    ];
  });
}
