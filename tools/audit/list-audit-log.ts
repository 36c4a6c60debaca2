import { z } from "zod";
import { AuditEntry } from "../../schemas/audit.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { defineTool } from "../../src/core/tool.ts";
import { auditFilterFields, toAuditFilter } from "./audit-filter.ts";
import { entryNumbers } from "./entry-numbers.ts";
import { serializeEntry } from "./serialize-entry.ts";

const PAGE_SIZE = 50;

export const listAuditLog = defineTool({
  name: "list_audit_log",
  title: "List the audit log",
  description:
    "Lists accepted changes, newest first: who changed what, through which key and program. If the operator asks for it, " +
    "also reads of run values and uses of secrets. Admins only.",
  route: "GET /audit-log",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor", "project_not_found"],
  page: { item: AuditEntry, mcpLimit: PAGE_SIZE },
  input: z.strictObject({ ...auditFilterFields, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(AuditEntry),
  async run({ limit, cursor, ...fields }, ctx) {
    const filter = await toAuditFilter(ctx, fields);
    const numbers = entryNumbers(ctx);
    const query = JSON.stringify(["list_audit_log", filter]);
    const before = cursor === undefined ? null : numbers.decode(query, cursor);
    const pageSize = limit ?? PAGE_SIZE;
    // One more than the page shows whether there is a next page.
    const entries = await ctx.read.audit.page({ filter, before, limit: pageSize + 1 });
    const page = entries.slice(0, pageSize);
    return {
      items: page.map((entry) => serializeEntry(numbers, entry)),
      ...(await ctx.total(() => ctx.read.audit.count(filter))),
      next_cursor: entries.length > pageSize ? numbers.encode(query, page.at(-1)!.id) : null,
    };
  },
});
