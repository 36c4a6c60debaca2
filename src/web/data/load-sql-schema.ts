/** Loads what completion in a query needs: the tables of its database. The database browser shares them. */
import type { QueryClient } from "@tanstack/react-query";
import * as texts from "#texts/data";
import type { SqlSchema } from "../editor/sql-suggestions.ts";
import { databasesQuery, tablesQuery } from "./queries.ts";

/** How long a database that could not be read is not asked again, in milliseconds. */
const RETRY_MS = 30_000;

/**
 * @param database undefined for the default database
 * @throws ApiError if the server refuses or can't reach the database; Error if there is no such database
 */
export async function loadSqlSchema(
  client: QueryClient,
  project: string | undefined,
  database: string | undefined,
): Promise<SqlSchema> {
  const { databases, defaultDatabase } = await client.fetchQuery(databasesQuery(project));
  const entry = databases.find(({ name }) => name === (database ?? defaultDatabase));
  if (entry === undefined) throw new Error(texts.noSuchDatabase);
  const query = tablesQuery(entry.name, project);
  const state = client.getQueryState(query.queryKey);
  if (state?.status === "error" && Date.now() - state.errorUpdatedAt < RETRY_MS) throw state.error!;
  const { tables } = await client.fetchQuery(query);
  return { type: entry.type, tables };
}

/** @returns the type of a database, of the default one for undefined; undefined while databases are not loaded */
export function databaseType(
  client: QueryClient,
  project: string | undefined,
  database: string | undefined,
): string | undefined {
  const list = client.getQueryData(databasesQuery(project).queryKey);
  return list?.databases.find(({ name }) => name === (database ?? list.defaultDatabase))?.type;
}
