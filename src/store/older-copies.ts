/** What older releases must not work with: they know no projects, limits of keys and trials, so they would ignore them. */
import { type Kysely, sql } from "kysely";
import { AppError } from "../core/errors.ts";
import { acceptOlderPurge } from "./audit-entries.ts";
import { findOlderProcesses } from "./older-processes.ts";
import type { Schema } from "./schema.ts";

/** The migration that adds projects. A release that does not know it knows no projects. */
const PROJECTS_MIGRATION = 25;

/** Whether releases that know no projects, and no hash chain of the audit log, may run on this state. */
export async function olderReleasesMayRun(db: Kysely<Schema>): Promise<boolean> {
  const { requires } = await db
    .selectFrom("migrations")
    .select("requires")
    .where("id", "=", PROJECTS_MIGRATION)
    .executeTakeFirstOrThrow();
  return requires < PROJECTS_MIGRATION;
}

/**
 * Refuses a change that older releases would not respect while a copy of one runs, and keeps them from starting on this
 * state from now on. The first second project, limited key, review and trial call it, in their transaction.
 *
 * Executors of this release record it with their first heartbeat; processes without one are noticed on this machine. A copy that stopped without a trace counts until an executor
 * of this release has noticed that its heartbeats are missing.
 * @throws AppError upgrade_unfinished
 */
export async function assertNoOlderCopies(trx: Kysely<Schema>): Promise<void> {
  if (!(await olderReleasesMayRun(trx))) return;
  const older = await trx
    .selectFrom("executors")
    .select(["id", "started_at"])
    .where("release", "is", null)
    .orderBy("started_at")
    .limit(1)
    .executeTakeFirst();
  if (older !== undefined)
    throw new AppError(
      "upgrade_unfinished",
      `A copy of an older release still runs on this state (executor ${older.id}, since ${older.started_at}); it would not respect ` +
        "this. Nothing was changed. Finish the upgrade first: replace that copy with this release. If it has stopped " +
        "already, try again two minutes after a server of this release has started.",
    );
  const [process] = await findOlderProcesses(await databaseFileOf(trx));
  if (process !== undefined)
    throw new AppError(
      "upgrade_unfinished",
      `A process of an older release, or of another program, has this state open (process ${process}), such as a server with ` +
        "--workers 0; it would not respect this. Nothing was changed. Finish the upgrade first: stop that process, or replace " +
        "it with this release. If it was a command, try again when it has ended.",
    );
  // From now on, missing entries are an error.
  await acceptOlderPurge(trx);
  await trx
    .updateTable("migrations")
    .set({ requires: sql.lit(PROJECTS_MIGRATION) })
    .where("id", "=", PROJECTS_MIGRATION)
    .execute();
}

async function databaseFileOf(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ name: string; file: string }>`pragma database_list`.execute(db);
  return rows.find(({ name }) => name === "main")!.file;
}
