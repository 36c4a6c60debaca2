/** Converts errors of preparing a query to issues, with a similar name of a table or column. */
import type { CallContext, MissingName, PartialIssue, TableDescription } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Driver } from "./driver.ts";

const TABLE = [
  /no such table: (?:main\.)?(\S+)/, // SQLite
  /Table with name (\S+) does not exist/, // DuckDB
  /relation "([^"]+)" does not exist/, // PostgreSQL
  /Table '(?:[^'.]+\.)?([^']+)' doesn't exist/, // MySQL
];
const COLUMN = [
  /no such column: "?(?:[^\s."]+\.)?([^\s"]+)/,
  /Referenced column "([^"]+)" not found/,
  /does not have a column named "([^"]+)"/,
  /column "?(?:[^\s."]+\.)?([^\s"]+)"? does not exist/,
  /Unknown column '(?:[^'.]+\.)*([^']+)' in/,
];
/** DuckDB finds near matches itself. */
const OWN = /(?:Did you mean|Candidate bindings:) "(?:[^"]*\.)?([^".]+)"/;

/** The fix where a driver has none of its own. Nothing in the definition needs a change. */
const TRY_AGAIN =
  "Try again later. If the error remains, ask the operator to check whether the database can be reached.";

export function issueOf(error: unknown): PartialIssue {
  if (!(error instanceof StepError)) throw error;
  const { code, message, options } = error;
  const path = ["environment", "database_unavailable"].includes(code) ? ["database"] : ["query"];
  const fix = options.fix ?? (code === "database_unavailable" ? TRY_AGAIN : undefined);
  return { path, code, message, ...(fix !== undefined && { fix }) };
}

/** Returns the issue with a similar name for the missing table or column in the message, and the missing name. */
export async function issueWithSuggestion(
  error: unknown,
  driver: Driver,
  call: CallContext,
): Promise<{ issue: PartialIssue; missing?: MissingName }> {
  const issue = issueOf(error);
  const table = firstMatch(TABLE, issue.message);
  const column = table === undefined ? firstMatch(COLUMN, issue.message) : undefined;
  const missing = table ?? column;
  if (missing === undefined) return { issue };
  const all = await tablesOf(driver, call);
  const columns = [...new Set(all.flatMap((described) => described.columns.map(({ name }) => name)))];
  const tables = all.map(({ name }) => name);
  const known = table === undefined ? columns : tables;
  const own = OWN.exec(issue.message)?.[1];
  const near = own !== undefined && known.includes(own) ? own : nearMatch(missing, known);
  const withSuggestion = {
    ...issue,
    ...(table !== undefined && tables.length > 0 && tables.length <= 50 && { allowed: tables }),
    ...(near !== undefined && near !== missing && { did_you_mean: near }),
  };
  return {
    issue: withSuggestion,
    missing: { kind: table === undefined ? "column" : "table", name: missing },
  };
}

/** The known names; none if they cannot be read, because the issue is reported anyway. */
async function tablesOf(driver: Driver, call: CallContext): Promise<TableDescription[]> {
  try {
    return await driver.describe({ samples: 0, limit: 1_000, includeRowCounts: false }, call);
  } catch {
    return [];
  }
}

const firstMatch = (patterns: readonly RegExp[], text: string): string | undefined =>
  patterns.map((pattern) => pattern.exec(text)?.[1]).find((match) => match !== undefined);
