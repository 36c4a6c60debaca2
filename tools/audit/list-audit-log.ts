import { z } from "zod";
import { Surface } from "../../schemas/actor.ts";
import { AuditEntry } from "../../schemas/audit.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { TimestampInput } from "../../schemas/run.ts";
import { text, searchTerms } from "../../schemas/text.ts";
import type { AuditEntry as AuditRecord } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { defineTool } from "../../src/core/tool.ts";

/** Each word is looked for in every entry: many of them would keep everybody else waiting. */
const MAX_WORDS = 8;

const PAGE = 50;

const Search = text(200, 1).refine((search) => searchTerms(search).length <= MAX_WORDS, {
  message: `must hold at most ${MAX_WORDS} different words`,
  params: { code: "too_many_words" },
});

export const listAuditLog = defineTool({
  name: "list_audit_log",
  title: "List the audit log",
  description: "Tells who changed what, through which key and program, newest first. For admins.",
  route: "GET /audit-log",
  surfaces: ["rest"],
  scope: "admin",
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: AuditEntry, mcpLimit: PAGE },
  input: z.strictObject({
    search: Search.optional().meta({
      description: `Words that stand in the operation, target, owner, key's name or client, in any case; at most ${MAX_WORDS}.`,
      example: "publish",
    }),
    owner: text(254, 1).optional().meta({ description: "Only what they did.", example: "ann@example.com" }),
    operation: text(100, 1).optional().meta({
      description: "Only this, whatever it came to; or one outcome of it, such as `update_user.role_admin`.",
      example: "publish_workflow",
    }),
    target: text(200, 1)
      .optional()
      .meta({ description: "Only what was done to it.", example: "weekly-revenue" }),
    surface: Surface.optional(),
    since: TimestampInput.optional().meta({
      description: "Done then or later: a moment or a day.",
      example: "2026-11-21",
    }),
    until: TimestampInput.optional().meta({ description: "Done before.", example: "2026-11-22T08:00:00Z" }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(AuditEntry),
  async run({ search, since, until, limit, cursor, ...exact }, ctx) {
    const filter = {
      ...exact,
      words: search === undefined ? undefined : searchTerms(search),
      since: momentOf(since),
      until: momentOf(until),
    };
    const query = JSON.stringify(["list_audit_log", filter]);
    const before = cursor === undefined ? null : Number(ctx.cursors.decode(query, cursor)[0]);
    const wanted = limit ?? PAGE;
    // One more tells whether there is a next page.
    const entries = await ctx.read.audit.page({ filter, before, limit: wanted + 1 });
    const shown = entries.slice(0, wanted);
    return {
      items: shown.map(showEntry),
      total: await ctx.total(() => ctx.read.audit.count(filter)),
      next_cursor: entries.length > wanted ? ctx.cursors.encode(query, [String(shown.at(-1)!.id), ""]) : null,
    };
  },
});

const momentOf = (written: string | undefined): string | undefined =>
  written === undefined ? undefined : iso(Date.parse(written));

const showEntry = ({ keyName, requestId, ...entry }: AuditRecord): AuditEntry => ({
  ...entry,
  key_name: keyName,
  request_id: requestId,
});
