/** Reads the audit log. */
import { type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import { foldText } from "../../schemas/fold-text.ts";
import type { AuditEntry, AuditFilter, AuditReader } from "../core/account-ports.ts";
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { auditColumns, toAuditEntry } from "./audit-entries.ts";
import { auditRanges, auditRangesAfter } from "./audit-ranges.ts";
import { MAX_COUNTED } from "./capped-count.ts";
import { contains } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

const lineBreak = sql.lit("\n");
/**
 * The text to search, as `auditSearchText` folds it. In both databases `lower` converts only ASCII here. Search terms contain no line
 * break, so none matches across two columns.
 */
const searchText = sql<string>`coalesce(search_text, lower(operation || ${lineBreak} || coalesce(target, '') || ${lineBreak} || owner || ${lineBreak} || coalesce(key_name, '') || ${lineBreak} || client))`;

/** A project with the id of a deleted one is another project, whose admins do not see what the former one did. */
const isOfPresentProject = sql<SqlBool>`at >= coalesce((select created_at from projects where projects.id = audit_log.project and projects.id <> ${sql.lit(DEFAULT_PROJECT)}), '')`;

/** Matches the operation itself, or with an outcome after a dot. */
const isOperation = (operation: string) =>
  sql<SqlBool>`(operation = ${operation} or substr(operation, 1, ${operation.length + 1}) = ${`${operation}.`})`;

function matches(eb: ExpressionBuilder<Schema, "audit_log">, filter: AuditFilter) {
  const { searchTerms = [], owner, operation, target, surface, since, until, project, visible } = filter;
  return eb.and([
    ...(owner === undefined ? [] : [eb("owner", "=", owner)]),
    ...(operation === undefined ? [] : [isOperation(operation)]),
    ...(target === undefined ? [] : [eb("target", "=", target)]),
    ...(surface === undefined ? [] : [eb("surface", "=", surface)]),
    ...(since === undefined ? [] : [eb("at", ">=", since)]),
    ...(until === undefined ? [] : [eb("at", "<", until)]),
    ...(project === undefined ? [] : [eb("project", "=", project)]),
    ...visibleRows(visible, { project: "project", workflow: "target" }),
    ...(visible?.projects ? [isOfPresentProject] : []),
    ...searchTerms.map((word) => contains(searchText, foldText(word))),
  ]);
}

export function auditReader(db: Kysely<Schema>): AuditReader {
  async function find(
    scanned: AsyncGenerator<{ from: number; to: number }>,
    { filter, limit, order }: { filter: AuditFilter; limit: number; order: "asc" | "desc" },
  ): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    for await (const { from, to } of scanned) {
      const rows = await db
        .selectFrom("audit_log")
        .select(auditColumns)
        .where("id", ">=", from)
        .where("id", "<=", to)
        .where((eb) => matches(eb, filter))
        .orderBy("id", order)
        .limit(limit - found.length)
        .execute();
      found.push(...rows.map(toAuditEntry));
      if (found.length >= limit) break;
    }
    return found;
  }

  return {
    page: ({ filter, before, limit }) => find(auditRanges(db, before), { filter, limit, order: "desc" }),

    pageAfter: ({ filter, after, limit }) =>
      find(auditRangesAfter(db, after), { filter, limit, order: "asc" }),

    async count(filter) {
      let total = 0;
      for await (const { from, to } of auditRanges(db, null)) {
        const { count } = await db
          .selectFrom("audit_log")
          .select((eb) => eb.fn.countAll<number | string>().as("count"))
          .where("id", ">=", from)
          .where("id", "<=", to)
          .where((eb) => matches(eb, filter))
          .executeTakeFirstOrThrow();
        total += Number(count);
        if (total >= MAX_COUNTED) break;
      }
      return total;
    },
  };
}
