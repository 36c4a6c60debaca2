/** The files of an email step: a text, rows as CSV, or a value as JSON. */
import { z } from "zod";
import { CSV_SEPARATORS, cellText, rowsToCsv } from "../../schemas/csv.ts";
import { text, visibleOnly } from "../../schemas/text.ts";
import type { Attachment } from "../core/connections.ts";
import { columnsOf, rowOf } from "../core/mail/table.ts";
import { StepError } from "../core/step-errors.ts";
import { truncate } from "../core/truncate.ts";
import { assertWellFormed } from "../core/well-formed.ts";

/** The name of a file, which becomes a header of the mail. */
// oxlint-disable-next-line no-control-regex -- a header must not contain these characters
const FILE_NAME = /^[^\u0000-\u001f\u007f/\\]{1,200}$/;
const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}(?:; ?[\w-]+=[\w.-]+){0,3}$/;
const CONTENTS = ["content", "rows", "json"] as const;

export const AttachmentFields = z
  .strictObject({
    name: z
      .string()
      .regex(FILE_NAME, { error: "must be the name of a file, without / and \\" })
      .check(visibleOnly("line", 200, 1))
      .meta({ description: "The name of the file.", example: "orders.csv" }),
    content: text(3_000_000)
      .optional()
      .meta({ description: "Its text, as it is.", example: "${{ steps.csv.text }}" }),
    rows: z.array(z.unknown()).max(100_000).optional().meta({
      description:
        "Instead of content: rows, which become CSV with a line of column names. Texts that a spreadsheet would take for a formula get an apostrophe in front.",
      example: "${{ steps.orders.rows }}",
    }),
    columns: z
      .array(text(200, 1))
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "The columns of rows, in this order. Default: all.", example: ["name", "total"] }),
    csv: z
      .strictObject({
        for: z.enum(["spreadsheet", "program"]).optional().meta({
          description:
            "`spreadsheet` (the default): with a byte order mark, and no text is a formula. `program`: the exact values.",
          example: "program",
        }),
        separator: z
          .enum(CSV_SEPARATORS)
          .optional()
          .meta({ description: "The character between values. Default: a comma.", example: ";" }),
      })
      .optional()
      .meta({ description: "How rows are written.", example: { separator: ";" } }),
    json: z.unknown().optional().meta({
      description: "Instead of content: any value, which becomes JSON.",
      example: "${{ steps.orders }}",
    }),
    content_type: z
      .string()
      .regex(MEDIA_TYPE, { error: "must be a media type such as text/csv" })
      .optional()
      .meta({
        description: "Its media type. Default: that of what it is made of, or of the name's extension.",
        example: "text/csv",
      }),
  })
  .refine((file) => CONTENTS.filter((field) => file[field] !== undefined).length === 1, {
    error: "must have exactly one of content, rows and json",
  })
  .meta({ description: "A file: a text, rows as CSV, or a value as JSON." });

type AttachmentInput = z.output<typeof AttachmentFields>;

/** @throws StepError input_invalid when a value has no JSON, or a cell has half of a surrogate pair */
export function toAttachment({
  name,
  content,
  rows,
  columns,
  csv,
  json,
  content_type: given,
}: AttachmentInput): Attachment {
  const file = (body: string, type: string | undefined): Attachment => ({
    name,
    content: body,
    ...(type !== undefined && { content_type: type }),
  });
  if (rows !== undefined) {
    const objects = rows.map(rowOf);
    const shown = columns ?? columnsOf(objects);
    for (const column of shown) assertWellFormed(`A column of the attachment "${name}"`, column);
    for (const [index, row] of objects.entries())
      for (const column of shown)
        if (Object.hasOwn(row, column))
          assertWellFormed(
            `The column "${truncate(column, 100)}" of row ${index + 1} of the attachment "${name}"`,
            cellText(row[column]),
          );
    return file(rowsToCsv(objects, shown, csv), given ?? "text/csv");
  }
  if (content !== undefined) return file(content, given);
  const written = JSON.stringify(json, null, 2) as string | undefined;
  if (written === undefined)
    throw new StepError("input_invalid", `The value of the attachment "${name}" can't be written as JSON.`);
  return file(`${written}\n`, given ?? "application/json");
}
