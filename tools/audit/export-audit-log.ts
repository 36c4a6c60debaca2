import { z } from "zod";
import { AuditEntry } from "../../schemas/audit.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { defineTool } from "../../src/core/tool.ts";
import { auditFilterFields, toAuditFilter } from "./audit-filter.ts";
import { entryNumbers } from "./entry-numbers.ts";
import { serializeEntry } from "./serialize-entry.ts";

const PAGE_SIZE = 1_000;

const Format = z.enum(["jsonl", "csv"]).optional().meta({
  description: "`jsonl`, the default: lines of JSON. `csv`: a line for each entry, with the details as JSON.",
  example: "csv",
});

const CSV = {
  isChosen: ({ format }: { format?: z.output<typeof Format> }) => format === "csv",
  file: "audit-log.csv",
  columns: [
    "id",
    "at",
    "operation",
    "target",
    "project",
    "owner",
    "key_name",
    "lineage",
    "surface",
    "client",
    "request_id",
    "details",
    "hash",
  ],
};

export const exportAuditLog = defineTool({
  name: "export_audit_log",
  title: "Export the audit log",
  description:
    "Returns the audit log as lines of JSON, oldest entry first, each with the hash that covers it and the entry before it. " +
    "Without filters, the lines can be verified outside of Millrace. `format: csv` returns CSV for spreadsheets instead. Admins only.",
  route: "GET /audit-log/export",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor", "project_not_found"],
  page: { item: AuditEntry, mcpLimit: PAGE_SIZE, linesFile: "audit-log.jsonl", csv: CSV },
  input: z.strictObject({
    ...auditFilterFields,
    format: Format,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(AuditEntry),
  async run({ limit, cursor, ...input }, ctx) {
    const { format: _, ...fields } = input;
    const filter = await toAuditFilter(ctx, fields);
    const numbers = entryNumbers(ctx);
    const query = JSON.stringify(["export_audit_log", filter]);
    const after = cursor === undefined ? 0 : numbers.decode(query, cursor);
    const pageSize = limit ?? PAGE_SIZE;
    // One more than the page shows whether there is a next page.
    const entries = await ctx.read.audit.pageAfter({ filter, after, limit: pageSize + 1 });
    const page = entries.slice(0, pageSize);
    return {
      items: page.map((entry) => serializeEntry(numbers, entry)),
      ...(await ctx.total(() => ctx.read.audit.count(filter))),
      next_cursor: entries.length > pageSize ? numbers.encode(query, page.at(-1)!.id) : null,
    };
  },
});
