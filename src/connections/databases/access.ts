/** Checks by its first word whether a statement is allowed, in addition to the permissions of the database. */
import type { PartialIssue } from "../../core/connections.ts";
import { nearMatch } from "../../core/near-match.ts";
import { hiddenWrite } from "./hidden-writes.ts";
import type { Dialect, ScannedQuery } from "./sql-scanner.ts";

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const READING: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  sqlite: wordsOf("select with values explain"),
  duckdb: wordsOf("select with values from table describe desc show summarize explain pivot unpivot"),
  postgresql: wordsOf("select with values table show explain"),
  mysql: wordsOf("select with values table show describe desc explain"),
};

/** Statements that change the connection, other databases or files, which are refused even with `write`. */
const NEVER = wordsOf(
  "begin start commit rollback end abort savepoint release xa " +
    "set reset use discard prepare execute deallocate listen unlisten lock unlock handler " +
    "attach detach pragma install load copy export import checkpoint vacuum",
);

/** Words near to one that reads, and meant all the same. */
const WRITING = wordsOf("delete create update insert replace merge drop alter");

interface Permission {
  access: "read-only" | "read-write";
  /** Whether the caller sees only a part of the configuration, such as what a project is granted. */
  isLimited: boolean;
}

/** @returns issues of the query; `database_read_only` if it would write without permission */
export function accessIssues(
  { keyword, words, tokens }: ScannedQuery,
  dialect: Dialect,
  database: string,
  { write, access, isLimited }: { write: boolean } & Permission,
): PartialIssue[] {
  const permission = { access, isLimited };
  if (write && access === "read-only") {
    return [
      {
        path: ["write"],
        code: "database_read_only",
        message: `is true, but the database ${database} is read-only`,
        fix: `Remove write, or ${askForWrites(database, isLimited)}.`,
      },
    ];
  }
  // DuckDB calls functions of the engine in this way; other databases call procedures of the operator.
  if (NEVER.has(keyword) || (dialect === "duckdb" && keyword === "call"))
    return queryIssue(`must not begin with ${keyword.toUpperCase()}`, "Write a query.");
  if (dialect === "mysql" && words.has("into") && (words.has("outfile") || words.has("dumpfile")))
    return queryIssue("must not write files", "Remove INTO OUTFILE.");
  if (write || keyword === "") return [];
  if (READING[dialect].has(keyword)) {
    const effect = hiddenWrite(tokens, dialect);
    return effect === undefined ? [] : [readOnlyIssue(effect, database, permission)];
  }
  const near = nearMatch(keyword, READING[dialect]);
  if (near !== undefined && !WRITING.has(keyword))
    return [
      {
        path: ["query"],
        code: "not_allowed",
        message: `begins with ${keyword.toUpperCase()}, which is not allowed`,
        did_you_mean: near.toUpperCase(),
      },
    ];
  return [readOnlyIssue(`begins with ${keyword.toUpperCase()}`, database, permission)];
}

/** Whose decision it is depends on where access is withheld, which no project learns. */
const askForWrites = (database: string, isLimited: boolean): string =>
  isLimited
    ? `ask an admin for write access to ${database}: its grant and its entry in the configuration must both allow it`
    : `ask the operator to set access: read-write for ${database} in the configuration`;

const readOnlyIssue = (
  effect: string,
  database: string,
  { access, isLimited }: Permission,
): PartialIssue => ({
  path: ["query"],
  code: "database_read_only",
  message: `${effect}, and this step only reads`,
  fix:
    access === "read-write"
      ? "Set write: true on the step."
      : `Set write: true on the step, and ${askForWrites(database, isLimited)}.`,
});

const queryIssue = (message: string, fix: string): PartialIssue[] => [
  { path: ["query"], code: "database_read_only", message, fix },
];
