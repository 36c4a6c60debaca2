/** What of a state is over when it comes back from a backup: processes, logins and links of that time. */
import type Database from "better-sqlite3";
import { OPERATOR } from "../../schemas/actor.ts";

/** How much of each was ended. */
export interface RestoreCleanup {
  sessions: number;
  links: number;
  mcpSessions: number;
  /** Jobs that an executor held; the next one does them again. */
  jobs: number;
}

/** Further than any client has come that saw the catalogue after the backup: its ETag must not match by chance. */
const REVISION_LEAP = 1_000_000;

/**
 * Ends what is over, in a database of any release; the caller commits.
 * @param at the moment (ISO 8601)
 * @param backup when the backup was made, for the audit log; null where that is not known
 */
export function resetTransientState(
  db: Database.Database,
  { at, backup }: { at: string; backup: string | null },
): RestoreCleanup {
  const columnsOf = (table: string): string[] =>
    db.prepare("select name from pragma_table_info(?)").pluck().all(table) as string[];
  const run = (table: string, statement: string, ...values: unknown[]): number =>
    columnsOf(table).length === 0 ? 0 : db.prepare(statement).run(...values).changes;

  // Whoever has signed out since, or whose password was changed, must not be signed in again.
  let sessions = 0;
  if (columnsOf("sessions").includes("external")) {
    // A login kept elsewhere goes on until its row says that it has ended.
    sessions += run(
      "sessions",
      "update sessions set ended_at = ?, sealed = null where external = 1 and ended_at is null",
      at,
    );
    sessions += run("sessions", "delete from sessions where external = 0");
  } else {
    sessions += run("sessions", "delete from sessions");
  }
  // One that was used since works no second time.
  run("settings", "insert or replace into settings (name, value) values ('restored_at', ?)", at);
  const links = run("account_links", "delete from account_links where used_at is null");
  const mcpSessions = run("mcp_sessions", "delete from mcp_sessions");
  run("mcp_messages", "delete from mcp_messages");
  const jobs = freeJobs(run, at);
  run("counters", "update counters set value = value + ? where name = 'workflows'", REVISION_LEAP);
  run(
    "audit_log",
    `insert into audit_log (at, operation, target, owner, key_name, surface, client, request_id)
     values (?, 'restore_backup', ?, ?, null, 'cli', 'millrace', null)`,
    at,
    backup,
    OPERATOR,
  );
  return { sessions, links, mcpSessions, jobs };
}

/** Executors of that time are gone; unlike after a crash none of their jobs is suspected of having ended them. */
function freeJobs(
  run: (table: string, statement: string, ...values: unknown[]) => number,
  at: string,
): number {
  run("executors", "delete from executors");
  run(
    "run_attempts",
    "update run_attempts set status = 'interrupted', finished_at = ? where finished_at is null and executor is not null",
    at,
  );
  return run(
    "jobs",
    `update jobs set state = 'ready', due_at = ?, executor = null, alone = 0, fence = fence + 1, attempt = attempt + 1
     where state = 'claimed'`,
    at,
  );
}
