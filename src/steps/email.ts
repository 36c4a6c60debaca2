import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { SECOND } from "../core/clock.ts";
import { listOf, objectOf, STRING } from "../core/shapes.ts";
import { defineStepType, literal, template, type UnresolvedStep } from "../core/step-type.ts";
import { MAX_COLUMNS, MAX_ROWS } from "../core/mail/table.ts";
import type { PartialIssue } from "../core/connections.ts";
import { StepError } from "../core/step-errors.ts";
import { allAsWritten, asWritten } from "./as-written.ts";
import { AttachmentFields, toAttachment } from "./mail-attachments.ts";
import { mailBody, placesIn } from "./mail-body.ts";
import { recipientIssues } from "./recipient-issues.ts";

const Address = text(320, 1);
const Addresses = z.union([Address, z.array(Address).min(1).max(50)]);
const TableFields = z.strictObject({
  rows: z.array(z.unknown()).max(100_000).meta({
    description: "Its rows, such as those of a query.",
    example: "${{ steps.orders.rows }}",
  }),
  title: text(200, 1).optional().meta({ description: "The line above it.", example: "Open orders" }),
  columns: z
    .array(text(200, 1))
    .min(1)
    .max(MAX_COLUMNS)
    .optional()
    .meta({
      description: "The columns to show, in this order. Default: the first 20.",
      example: ["name", "total"],
    }),
  max_rows: z.int().min(1).max(MAX_ROWS).optional().meta({
    description: "How many rows are shown; a line says how many are not. Default: 100.",
    example: 20,
  }),
});

const asList = (addresses: string | readonly string[]): readonly string[] =>
  typeof addresses === "string" ? [addresses] : addresses;

export const emailStep = defineStepType({
  type: "email",
  title: "Send mail",
  description: "Sends mail through the configured SMTP server, only to mail.allowed_domains.",
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
        description: "The text of the mail. With format or tables, the HTML is made of it too.",
        example: "${{ steps.summary.text }}",
      }),
    ),
    format: literal(
      z.enum(["text", "markdown"]).default("text").meta({
        description:
          "`markdown`: the text is Markdown of at most 20,000 characters, from which HTML and plain text are made. HTML in it is shown as it is written, and no image is loaded.",
        example: "markdown",
      }),
    ),
    tables: template(
      z
        .record(
          z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, { error: "must be a name such as open_orders" }),
          TableFields,
        )
        .refine((tables) => Object.keys(tables).length <= 10, { error: "must have at most 10 tables" })
        .optional()
        .meta({
          description:
            "Tables of rows, by name, each with rows, and title, columns and max_rows where they are wanted. Each takes the place of the line `[[name]]` of the text, or follows the text.",
          example: { orders: { rows: "${{ steps.orders.rows }}", title: "Open orders" } },
        }),
    ),
    html: template(
      text(1_000_000, 1).optional().meta({
        description:
          "The mail as HTML of your own, in addition to the text; not with format: markdown or tables.",
        example: "<p>${{ steps.summary.text }}</p>",
      }),
    ),
    attachments: template(
      z
        .array(AttachmentFields)
        .max(10)
        .optional()
        .meta({
          description:
            "Files, together at most 3 MiB. Each has a name and one of content (a text), rows (become CSV; columns chooses and orders them) and json (any value).",
          example: [
            { name: "orders.csv", rows: "${{ steps.orders.rows }}" },
            { name: "summary.json", json: "${{ steps.summary }}" },
          ],
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
  mailsTo: ({ to, cc }) => [...asList(to), ...(cc === undefined ? [] : asList(cc))],
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
    return Promise.resolve({
      issues: [...["to", "cc"].flatMap((field) => recipientIssues(field, step, mailer)), ...bodyIssues(step)],
    });
  },
  run: async ({ to, cc, subject, text: body, format, tables = {}, html, attachments }, ctx) => {
    const copies = cc === undefined ? undefined : asList(cc);
    const isMade = format === "markdown" || Object.keys(tables).length > 0;
    if (isMade && html !== undefined)
      throw new StepError("input_invalid", "The mail has html beside format: markdown or tables.", {
        fix: "Leave html out: it is made of the text and the tables.",
      });
    const bodies = isMade ? await mailBody({ subject, text: body, format, tables }) : { text: body, html };
    const mail = {
      to: asList(to),
      cc: copies,
      subject,
      ...bodies,
      attachments: attachments?.map(toAttachment),
    };
    const { idempotencyKey, connections } = ctx;
    return {
      kind: "done",
      output: { ...(await connections.mailer.send({ ...mail, idempotencyKey }, ctx)) },
    };
  },
});

/** Finds HTML beside what makes HTML, and places for tables that do not exist. */
function bodyIssues({ text: body, format, tables, html }: UnresolvedStep): PartialIssue[] {
  const isMade = format === "markdown" || tables !== undefined;
  const names = Object.keys(tables ?? {});
  const issues: PartialIssue[] = [];
  if (isMade && html !== undefined)
    issues.push({
      path: ["html"],
      code: "not_allowed",
      message: "is not allowed with format: markdown or tables, which make the HTML",
      fix: "Leave html out.",
    });
  if (isMade && typeof body === "string")
    for (const name of placesIn(body).filter((place) => !names.includes(place)))
      issues.push({
        path: ["text"],
        code: "not_found",
        severity: "warning",
        message: `has a place for the table "${name}", which tables does not have`,
        allowed: names,
        fix: `Add tables.${name} with rows, or remove the line [[${name}]].`,
      });
  return issues;
}
