/**
 * Finds what a statement writes although it begins with a word that reads. SQLite and DuckDB find it themselves when they
 * prepare the statement; PostgreSQL and MySQL only when it runs.
 */
import type { Dialect } from "./sql-scanner.ts";

const WRITES: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge", "replace"]);
/** Words before the parenthesis of a common table expression. */
const BEFORE_BODY: ReadonlySet<string | undefined> = new Set(["as", "materialized"]);
/** What follows FOR in a clause that locks rows. */
const LOCKS = ["update", "share", "no key update", "key share"];

/**
 * @param tokens of a statement that begins with SELECT, WITH, EXPLAIN and the like
 * @returns what it writes, to complete "The query …"; undefined if it only reads
 */
export function hiddenWrite(tokens: readonly string[], dialect: Dialect): string | undefined {
  const isPostgres = dialect === "postgresql";
  const [keyword] = tokens;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1] ?? "";
    if (token === "(") {
      depth += 1;
      if (BEFORE_BODY.has(tokens[index - 1]) && WRITES.has(next))
        return `contains WITH … AS (${next.toUpperCase()} …)`;
    } else if (token === ")") {
      depth -= 1;
      if (keyword === "with" && depth === 0 && WRITES.has(next)) return `contains ${next.toUpperCase()}`;
    } else if (isPostgres && token === "into" && depth === 0 && !WRITES.has(tokens[index - 1] ?? "")) {
      return "creates a table with INTO";
    } else if (isPostgres && token === "for") {
      const clause = tokens.slice(index + 1, index + 4).join(" ");
      const lock = LOCKS.find((words) => clause === words || clause.startsWith(`${words} `));
      if (lock !== undefined) return `locks rows with FOR ${lock.toUpperCase()}`;
    } else if (isPostgres && keyword === "explain" && depth === 0 && WRITES.has(token)) {
      if (tokens.includes("analyze")) return `runs ${token.toUpperCase()}`;
    }
  }
  return undefined;
}
