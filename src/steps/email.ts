import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { SECOND } from "../core/clock.ts";
import { listOf, objectOf, STRING } from "../core/shapes.ts";
import { defineStepType, template } from "../core/step-type.ts";
import { allAsWritten, asWritten } from "./as-written.ts";
import { recipientIssues } from "./recipient-issues.ts";

const Address = text(320, 1);
const Addresses = z.union([Address, z.array(Address).min(1).max(50)]);
/** The name of a file, which becomes a header of the mail. */
// oxlint-disable-next-line no-control-regex -- a header must not contain these characters
const FILE_NAME = /^[^\u0000-\u001f\u007f/\\]{1,200}$/;
const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}(?:; ?[\w-]+=[\w.-]+){0,3}$/;

const AttachmentFields = z
  .strictObject({
    name: z
      .string()
      .regex(FILE_NAME, { error: "must be the name of a file, without / and \\" })
      .meta({ description: "The name of the file.", example: "orders.csv" }),
    content: text(3_000_000).meta({ description: "Its text.", example: "${{ steps.csv.text }}" }),
    content_type: z
      .string()
      .regex(MEDIA_TYPE, { error: "must be a media type such as text/csv" })
      .optional()
      .meta({ description: "Its media type. Default: that of the name's extension.", example: "text/csv" }),
  })
  .meta({ description: "A file of text." });

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
    attachments: template(
      z
        .array(AttachmentFields)
        .max(10)
        .optional()
        .meta({
          description: "Files of text, together at most 3 MiB.",
          example: [{ name: "orders.csv", content: "${{ steps.csv.text }}" }],
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
  describeEffect: ({ to, cc }) => ({
    words: `Sends mail to ${allAsWritten(to)}${cc === undefined ? "" : `, with a copy to ${allAsWritten(cc)}`}`,
    does: "sends",
    targets: [to, ...(cc === undefined ? [] : [cc])].flat().map(asWritten),
  }),
  spanAttributes: () => ({}),
  check: (step, ctx) => {
    const { mailer } = ctx.connections;
    const reason = mailer.unavailableReason();
    if (reason !== null)
      return Promise.resolve({ issues: [{ path: [], code: "unusable", message: reason }] });
    return Promise.resolve({ issues: ["to", "cc"].flatMap((field) => recipientIssues(field, step, mailer)) });
  },
  run: async ({ to, cc, subject, text: body, html, attachments }, ctx) => {
    const copies = cc === undefined ? undefined : asList(cc);
    const mail = { to: asList(to), cc: copies, subject, text: body, html, attachments };
    const { idempotencyKey, signal, connections } = ctx;
    return {
      kind: "done",
      output: { ...(await connections.mailer.send({ ...mail, idempotencyKey }, signal)) },
    };
  },
});
