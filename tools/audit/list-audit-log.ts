import { z } from "zod";
import { Surface } from "../../schemas/actor.ts";
import { AuditEntry } from "../../schemas/audit.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { TimestampInput } from "../../schemas/run.ts";
import { text, searchTerms } from "../../schemas/text.ts";
import type { AuditEntry as AuditRecord } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";

/** Maximum number of search words. Each is compared with every entry, so many of them would slow other requests. */
const MAX_WORDS = 8;

const PAGE_SIZE = 50;

const Search = text(200, 1).refine((search) => searchTerms(search).length <= MAX_WORDS, {
  message: `must contain at most ${MAX_WORDS} different words`,
  params: { code: "too_many_words" },
});

export const listAuditLog = defineTool({
  name: "list_audit_log",
  title: "List the audit log",
  description:
    "Lists accepted changes, newest first: who changed what, through which key and program. Admins only.",
  route: "GET /audit-log",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: AuditEntry, mcpLimit: PAGE_SIZE },
  input: z.strictObject({
    search: Search.optional().meta({
      description: `Words that the operation, target, owner, key name or client contains, ignoring case; at most ${MAX_WORDS}.`,
      example: "publish",
    }),
    owner: text(254, 1)
      .optional()
      .meta({ description: "Only changes by this owner.", example: "ann@example.com" }),
    operation: text(100, 1).optional().meta({
      description: "Only this operation, with any outcome; or one outcome, such as `update_user.role_admin`.",
      example: "publish_workflow",
    }),
    target: text(200, 1)
      .optional()
      .meta({ description: "Only changes of this id.", example: "weekly-revenue" }),
    surface: Surface.optional(),
    since: TimestampInput.optional().meta({
      description: "At or after this time or date.",
      example: "2026-11-21",
    }),
    until: TimestampInput.optional().meta({
      description: "Before this time or date.",
      example: "2026-11-22T08:00:00Z",
    }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(AuditEntry),
  async run({ search, since, until, limit, cursor, ...exact }, ctx) {
    const filter = {
      ...exact,
      searchTerms: search === undefined ? undefined : searchTerms(search),
      since: toIso(since),
      until: toIso(until),
    };
    const query = JSON.stringify(["list_audit_log", filter]);
    const before = cursor === undefined ? null : Number(ctx.cursors.decode(query, cursor)[0]);
    const pageSize = limit ?? PAGE_SIZE;
    // One more than the page shows whether there is a next page.
    const entries = await ctx.read.audit.page({ filter, before, limit: pageSize + 1 });
    const page = entries.slice(0, pageSize);
    return {
      items: page.map(serializeEntry),
      total: await ctx.total(() => ctx.read.audit.count(filter)),
      next_cursor:
        entries.length > pageSize ? ctx.cursors.encode(query, [String(page.at(-1)!.id), ""]) : null,
    };
  },
});

const toIso = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : iso(Date.parse(time));

const serializeEntry = ({ keyName, requestId, ...entry }: AuditRecord): AuditEntry => ({
  ...entry,
  key_name: keyName,
  request_id: requestId,
});
