/** Reads what the login of a database can write, which is the only reliable protection. */
import type { Config } from "../../../schemas/config.ts";

type Ask = (query: string) => Promise<Record<string, unknown>[]>;

/**
 * @param ask runs a read-only query
 * @returns what can be written, in a few words; null for nothing, or if the file's permissions decide
 */
export async function describeWriteAccess(
  type: Config["databases"][number]["type"],
  ask: Ask,
): Promise<string | null> {
  if (type === "sqlite" || type === "duckdb") return null;
  const found = type === "postgresql" ? await inPostgres(ask) : findWriteGrants(await inMysql(ask));
  return found.length === 0 ? null : found.join("; ");
}

interface PostgresRights {
  superuser: boolean;
  tables: number | string;
  schemas: string | null;
  creates: boolean;
  server: string | null;
}

/** https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-ACCESS */
async function inPostgres(ask: Ask): Promise<string[]> {
  const [row] = (await ask(`
    SELECT current_setting('is_superuser') = 'on' AS superuser,
      (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
          AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
          AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS tables,
      (SELECT string_agg(n.nspname, ', ' ORDER BY n.nspname) FROM pg_namespace n
        WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
          AND has_schema_privilege(n.oid, 'CREATE')) AS schemas,
      has_database_privilege(current_database(), 'CREATE') AS creates,
      (SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname) FROM pg_roles r
        WHERE r.rolname IN ('pg_write_server_files', 'pg_execute_server_program')
          AND pg_has_role(r.oid, 'MEMBER')) AS server`)) as unknown as [PostgresRights];
  if (row.superuser) return ["it is a superuser"];
  const tables = Number(row.tables);
  return [
    ...(tables > 0 ? [`${tables} ${tables === 1 ? "table or view" : "tables and views"}`] : []),
    ...(row.schemas === null ? [] : [`new tables in the schema ${row.schemas}`]),
    ...(row.creates ? ["new schemas"] : []),
    ...(row.server === null ? [] : [`on the server itself, by ${row.server}`]),
  ];
}

async function inMysql(ask: Ask): Promise<string[]> {
  return (await ask("SHOW GRANTS")).map((row) => String(Object.values(row)[0]));
}

const WRITES =
  /\b(?:ALL PRIVILEGES|INSERT|UPDATE|DELETE|CREATE(?! TEMPORARY)|DROP|ALTER|INDEX|TRIGGER|EVENT|FILE|SUPER|REFERENCES)\b/gi;

/**
 * Lists the write privileges in lines of SHOW GRANTS.
 * @see https://dev.mysql.com/doc/refman/8.4/en/show-grants.html
 */
export function findWriteGrants(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, privileges, where] = /^GRANT (.+?) ON (.+?) TO /i.exec(line) ?? [];
    if (privileges === undefined) {
      // MySQL names a role here without its privileges.
      const [, role] = /^GRANT (\S+) TO /i.exec(line) ?? [];
      return role === undefined ? [] : [`the privileges of its role ${role}, which were not checked`];
    }
    // The names of columns in parentheses may look like privileges.
    const found = privileges.replaceAll(/\([^)]*\)/g, "").match(WRITES) ?? [];
    return found.length === 0 ? [] : [`${[...new Set(found)].join(", ")} on ${where}`];
  });
}
