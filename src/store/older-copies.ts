/** What older releases must not work with: they know no projects, limits of keys, trials or second factors, so they would ignore them. */
import { type Kysely, sql } from "kysely";
import { AppError } from "../core/errors.ts";
import { acceptOlderPurge } from "./audit-entries.ts";
import { MIGRATIONS } from "./migrate.ts";
import { findOlderProcesses } from "./older-processes.ts";
import type { Schema } from "./schema.ts";
import packageJson from "../../package.json" with { type: "json" };

/** The migration that adds projects. A release that does not know it knows no projects, and no hash chain of the audit log. */
const PROJECTS_MIGRATION = 25;
/** The migration that adds second factors. A release that does not know it lets people in with the password alone. */
export const SECOND_FACTORS_MIGRATION = 54;

/** What an executor records: the version, and after `+` the newest migration that it knows. */
export const releaseOnRecord = (): string => `${packageJson.version}+${MIGRATIONS.at(-1)!.id}`;

/** The newest migration that an executor can know; earlier releases recorded none, and those before projects no release. */
function newestKnown(release: string | null): number {
  if (release === null) return PROJECTS_MIGRATION - 1;
  const [, recorded] = release.split("+");
  return recorded === undefined ? SECOND_FACTORS_MIGRATION - 1 : Number(recorded);
}

/** The newest migration that a release must know to start on this state. */
async function requiredMigration(db: Kysely<Schema>): Promise<number> {
  const { requires } = await db
    .selectFrom("migrations")
    .select((eb) => eb.fn.max("requires").as("requires"))
    .executeTakeFirstOrThrow();
  return requires;
}

/** Whether releases that know no projects, and no hash chain of the audit log, may run on this state. */
export const olderReleasesMayRun = async (db: Kysely<Schema>): Promise<boolean> =>
  (await requiredMigration(db)) < PROJECTS_MIGRATION;

/**
 * Refuses a change that older releases would not respect while a copy of one runs, and keeps them from starting on this
 * state from now on. The first second project, limited key, review and trial call it, and the first second factor, in their
 * transaction.
 *
 * Executors record their release with their first heartbeat; processes that know no projects are noticed on this machine, too. A
 * copy that stopped without a trace counts until an executor of this release has noticed that its heartbeats are missing.
 * @param migration the one that a release must know to respect the change
 * @throws AppError upgrade_unfinished
 */
export async function assertNoOlderCopies(
  trx: Kysely<Schema>,
  migration: number = PROJECTS_MIGRATION,
): Promise<void> {
  const required = await requiredMigration(trx);
  if (required >= migration) return;
  const executors = await trx
    .selectFrom("executors")
    .select(["id", "started_at", "release"])
    .orderBy("started_at")
    .execute();
  const older = executors.find(({ release }) => newestKnown(release) < migration);
  if (older !== undefined)
    throw new AppError(
      "upgrade_unfinished",
      `A copy of an older release still runs on this state (executor ${older.id}, since ${older.started_at}); it would not respect ` +
        "this. Nothing was changed. Finish the upgrade first: replace that copy with this release. If it has stopped " +
        "already, try again two minutes after a server of this release has started.",
    );
  // With the first of these changes. PostgreSQL never runs releases that know no projects.
  if (required < PROJECTS_MIGRATION) await endReleasesBeforeProjects(trx);
  await trx
    .updateTable("migrations")
    .set({ requires: sql.lit(migration) })
    .where("id", "=", migration)
    .execute();
}

/** @throws AppError upgrade_unfinished */
async function endReleasesBeforeProjects(trx: Kysely<Schema>): Promise<void> {
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
}

async function databaseFileOf(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ name: string; file: string }>`pragma database_list`.execute(db);
  return rows.find(({ name }) => name === "main")!.file;
}
