/** Ends the sessions, links and claimed jobs that a restored backup contains. */
import type Database from "better-sqlite3";
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import { uncheckedConnection } from "./database.ts";

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

const entry = { operation: "restore_backup", owner: OPERATOR, surface: "cli", client: "millrace" } as const;

/**
 * Ends what belongs to the backup's time, in a database of any release; the caller commits.
 * @param at the time of the restore (ISO 8601)
 * @param backup when the backup was created, for the audit log; null when unknown
 */
export async function resetTransientState(
  db: Database.Database,
  { at, backup }: { at: string; backup: string | null },
): Promise<RestoreCleanup> {
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
  const links =
    run("account_links", "delete from account_links where used_at is null") +
    run("approval_links", "delete from approval_links where used_at is null");
  // A code or refresh token that was used since the backup must not work again. Applications keep their registration.
  run("oauth_states", "delete from oauth_states where model <> 'Client'");
  // Without these no application can renew its token, and the token of the backup may have been replaced since.
  if (columnsOf("api_keys").includes("application"))
    run(
      "api_keys",
      "update api_keys set revoked_at = ? where application is not null and revoked_at is null",
      at,
    );
  run("mcp_subscriptions", "delete from mcp_subscriptions");
  const mcpSessions = run("mcp_sessions", "delete from mcp_sessions");
  run("mcp_messages", "delete from mcp_messages");
  run("mcp_holders", "delete from mcp_holders");
  const jobs = releaseJobs(run, at);
  run("counters", "update counters set value = value + ? where name = 'workflows'", REVISION_INCREMENT);
  // A database of an older release has no chain: the entry is the last one before the chain begins.
  if (columnsOf("audit_log").includes("hash"))
    await appendAuditEntry(uncheckedConnection(db), {
      ...entry,
      at,
      target: backup,
      keyName: null,
      lineage: COMMAND_LINE,
      requestId: null,
    });
  else
    run(
      "audit_log",
      `insert into audit_log (at, operation, target, owner, key_name, surface, client, request_id)
       values (?, ?, ?, ?, null, ?, ?, null)`,
      at,
      entry.operation,
      backup,
      entry.owner,
      entry.surface,
      entry.client,
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
