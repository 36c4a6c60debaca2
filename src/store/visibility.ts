/** Conditions that limit a query to what a caller can find. */
import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { Visibility } from "../core/access.ts";

/**
 * @param visibility null or left out for everything
 * @param columns those with the ids of the project and of the workflow, with their table
 */
export function visibleRows(
  visibility: Visibility | null | undefined,
  columns: { project: string; workflow: string },
): RawBuilder<SqlBool>[] {
  const { projects = null, workflows = null } = visibility ?? {};
  return [
    ...(projects === null ? [] : [isOneOf(columns.project, projects)]),
    ...(workflows === null ? [] : [isOneOf(columns.workflow, workflows)]),
  ];
}

/** An empty list is a condition of its own, because `in ()` is not SQL. */
const isOneOf = (column: string, values: readonly string[]): RawBuilder<SqlBool> =>
  values.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`;
