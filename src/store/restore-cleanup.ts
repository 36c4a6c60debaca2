/** Ends the sessions, links and claimed jobs that a restored backup contains. */
import type Database from "better-sqlite3";
import { OPERATOR } from "../../schemas/actor.ts";

/** The number of rows that were ended. */
export interface RestoreCleanup {
  sessions: number;
  links: number;
  mcpSessions: number;
  /** Jobs that an executor had claimed; the next executor runs them again. */
  jobs: number;
}

/** Added to the catalogue's revision, so that it exceeds every one that clients saw after the backup: no old ETag matches. */
const REVISION_INCREMENT = 1_000_000;

/**
 * Ends what belongs to the backup's time, in a database of any release; the caller commits.
 * @param at the time of the restore (ISO 8601)
 * @param backup when the backup was created, for the audit log; null when unknown
 */
export function resetTransientState(
  db: Database.Database,
  { at, backup }: { at: string; backup: string | null },
): RestoreCleanup {
  const columnsOf = (table: string): string[] =>
    db.prepare("select name from pragma_table_info(?)").pluck().all(table) as string[];
  const run = (table: string, statement: string, ...values: unknown[]): number =>
    columnsOf(table).length === 0 ? 0 : db.prepare(statement).run(...values).changes;

  // A user who has signed out since the backup, or changed the password, must not be signed in again.
  let sessions = 0;
  if (columnsOf("sessions").includes("external")) {
    // The browser can present the login of an identity provider again, so the row stays and says that it has ended.
    sessions += run(
      "sessions",
      "update sessions set ended_at = ?, sealed = null where external = 1 and ended_at is null",
      at,
    );
    sessions += run("sessions", "delete from sessions where external = 0");
  } else {
    sessions += run("sessions", "delete from sessions");
  }
  // A link that was used since the backup must not work again.
  run("settings", "insert or replace into settings (name, value) values ('restored_at', ?)", at);
  const links = run("account_links", "delete from account_links where used_at is null");
  const mcpSessions = run("mcp_sessions", "delete from mcp_sessions");
  run("mcp_messages", "delete from mcp_messages");
  run("mcp_holders", "delete from mcp_holders");
  const jobs = releaseJobs(run, at);
  run("counters", "update counters set value = value + ? where name = 'workflows'", REVISION_INCREMENT);
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

/** Releases the claimed jobs. They are not quarantined, because their executors did not crash. */
function releaseJobs(
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
