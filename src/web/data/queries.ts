/** The queries for the configured databases: their names, their tables and sample rows. */
import { queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../../../schemas/generated/endpoints.ts";
import { send } from "../api/client.ts";

export type Table = Schemas.Table;

export type DatabaseEntry = NonNullable<Schemas.Environment["databases"]>[number];

interface DatabaseList {
  databases: DatabaseEntry[];
  /** The database of `sql` steps that name none. */
  defaultDatabase: string | null;
}

/** How long tables are shown before they are loaded again, in milliseconds. */
const TABLES_STALE_MS = 60_000;
/** Number of sample rows of a table. */
const SAMPLE_ROWS = 5;

/** @param project whose connections are meant; undefined for a user with one project */
export const databasesQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: ["databases", project ?? null],
    queryFn: async ({ signal }): Promise<DatabaseList> => {
      const { data } = await send("get", "/environment", {
        query: { fields: ["databases", "default_database"], ...inProject(project) },
        signal,
      });
      return { databases: data.databases ?? [], defaultDatabase: data.default_database ?? null };
    },
    staleTime: TABLES_STALE_MS,
  });

/** The tables of a database; all of them up to the server's limit, and whether there are more. */
export const tablesQuery = (database: string, project: string | undefined) =>
  queryOptions({
    queryKey: ["databases", project ?? null, database, "tables"],
    queryFn: async ({ signal }): Promise<{ tables: Table[]; more: boolean }> => {
      const { data } = await send("get", "/environment/databases/{database}", {
        path: { database },
        query: inProject(project),
        signal,
      });
      return { tables: data.tables, more: data.more === true };
    },
    staleTime: TABLES_STALE_MS,
  });

/** One table with its first rows. */
export const sampleQuery = (database: string, table: string, project: string | undefined) =>
  queryOptions({
    queryKey: ["databases", project ?? null, database, "sample", table],
    queryFn: async ({ signal }): Promise<Table> => {
      const { data } = await send("get", "/environment/databases/{database}", {
        path: { database },
        query: { table, samples: SAMPLE_ROWS, ...inProject(project) },
        signal,
      });
      return data.tables[0]!;
    },
    staleTime: TABLES_STALE_MS,
  });

const inProject = (project: string | undefined) => (project === undefined ? {} : { project });
