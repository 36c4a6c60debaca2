/**
 * Functions of DuckDB that a query must not call. Some change settings of the engine although its configuration is locked,
 * some read or write its logs, profiles and files, and some execute text that is not checked here. Statements such as SET
 * are refused by their type, and files by the engine itself; these are functions, which a SELECT can call.
 */
import type { PartialIssue } from "../../core/connections.ts";

const SETTINGS = "changes settings of the database engine";
const LOGS = "reads or writes the log of the database engine";
const TEXT = "executes a text that can't be checked";
const MEMORY = "reads the memory of the database engine";
const SECRETS = "reads secrets of the database engine";

const FORBIDDEN: Readonly<Record<string, string>> = {
  enable_logging: SETTINGS,
  disable_logging: SETTINGS,
  enable_profiling: SETTINGS,
  disable_profiling: SETTINGS,
  enable_profile: SETTINGS,
  disable_profile: SETTINGS,
  enable_peg_parser: SETTINGS,
  disable_peg_parser: SETTINGS,
  checkpoint: SETTINGS,
  force_checkpoint: SETTINGS,
  write_log: LOGS,
  truncate_duckdb_logs: LOGS,
  duckdb_logs: LOGS,
  duckdb_logs_parsed: LOGS,
  duckdb_log_contexts: LOGS,
  query: TEXT,
  json_execute_serialized_sql: TEXT,
  arrow_scan: MEMORY,
  arrow_scan_dumb: MEMORY,
  duckdb_secrets: SECRETS,
  which_secret: SECRETS,
};

/** Before a name that a list of columns follows, not arguments. */
const BEFORE_TABLE = String.raw`(?<!\b(?:into|table|exists|references)\s+(?:"?[\w$]+"?\s*\.\s*)?)`;
/** A call: the name, quoted or not, and a parenthesis. DuckDB takes characters without width for spaces. */
const CALL = new RegExp(
  String.raw`${BEFORE_TABLE}(?<![\w$])"?(${Object.keys(FORBIDDEN).join("|")})"?[\s\p{Cf}]*\(`,
  "iu",
);

/** @param code the query without its comments. Texts in quotes count too: a quoted name calls the function as well. */
export function forbiddenCall(code: string): PartialIssue | undefined {
  const name = CALL.exec(code)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  const reason = FORBIDDEN[name]!;
  return {
    path: ["query"],
    code: "not_allowed",
    message: `must not call ${name}, which ${reason}`,
    fix: reason === TEXT ? "Write the query itself instead of a text that contains it." : "Remove the call.",
  };
}
