/**
 * Prunes old versions: their definitions are deleted, while the history keeps who changed what, when and why. Versions that
 * something refers to are never pruned.
 */
import { type Kysely, type NotNull, sql } from "kysely";
import type { PrunableVersions, PruneRule } from "../core/ports.ts";
import { releaseValues, versionHolder } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import { addStoredBytes } from "./stored-bytes.ts";

/** Maximum number of values that a version refers to: its definition and the text of it. */
const VALUES_PER_VERSION = 2;

/** The versions that a run, a schedule or a pin of an unfinished run refers to, as `<workflow>@<version>`. */
async function versionsInUse(db: Kysely<Schema>, workflowId: string | undefined): Promise<Set<string>> {
  const ofRuns = await db
    .selectFrom("runs")
    .select(["workflow_id", "version"])
    .distinct()
    .where("workflow_id", "is not", null)
    .$narrowType<{ workflow_id: NotNull }>()
    .$if(workflowId !== undefined, (query) => query.where("workflow_id", "=", workflowId!))
    .execute();
  const ofSchedules = await db.selectFrom("schedules").select(["workflow_id", "version"]).execute();
  const ofBackfills = await db
    .selectFrom("backfills")
    .select(["workflow_id", "version"])
    .where("status", "=", "running")
    .execute();
  const ofBacktests = await db
    .selectFrom("backtests")
    .select(["workflow_id", "version"])
    .where("status", "=", "running")
    .execute();
  // The version that its retries run. One that a retry keeps is that of a run.
  const ofBulkActions = await db
    .selectFrom("bulk_actions")
    .select(["workflow_id", "version"])
    .where("status", "=", "running")
    .where("workflow_id", "is not", null)
    .where("version", "is not", null)
    .$narrowType<{ workflow_id: NotNull; version: NotNull }>()
    .execute();
  const pins = await db
    .selectFrom("runs")
    .select("pins")
    .distinct()
    .where("finished_at", "is", null)
    .where("pins", "is not", null)
    .execute();
  return new Set([
    ...[...ofRuns, ...ofSchedules, ...ofBackfills, ...ofBacktests, ...ofBulkActions].map((row) =>
      versionHolder(row.workflow_id, row.version),
    ),
    ...pins.flatMap((row) =>
      Object.entries(JSON.parse(row.pins!) as Record<string, number>).map(([id, version]) =>
        versionHolder(id, version),
      ),
    ),
  ]);
}

async function candidates(db: Kysely<Schema>, { workflowId, keep, before }: PruneRule) {
  const rows = await db
    .selectFrom("workflow_versions as v")
    .innerJoin("workflows as w", "w.id", "v.workflow_id")
    .select(["v.workflow_id", "v.version", "v.subject", "v.stored_bytes", "v.description", "w.project"])
    .where("v.definition", "is not", null)
    .where("v.created_at", "<", before)
    .whereRef("v.version", "<=", sql<number>`w.version - ${Math.max(keep, 1)}`)
    .where(({ or, eb }) =>
      or([
        eb("w.published_version", "is", null),
        eb("v.version", "!=", eb.ref("w.published_version").$castTo<number>()),
      ]),
    )
    .$if(workflowId !== undefined, (query) => query.where("v.workflow_id", "=", workflowId!))
    .orderBy("v.workflow_id")
    .orderBy("v.version")
    .execute();
  const inUse = await versionsInUse(db, workflowId);
  return rows
    .filter((row) => !inUse.has(versionHolder(row.workflow_id, row.version)))
    .map((row) => {
      const left = Buffer.byteLength(row.description);
      return {
        workflowId: row.workflow_id,
        version: row.version,
        subject: row.subject,
        project: row.project,
        left,
        freed: row.stored_bytes - left,
      };
    });
}

/** What pruning would delete, by workflow. */
export async function prunableVersions(db: Kysely<Schema>, rule: PruneRule): Promise<PrunableVersions[]> {
  const byWorkflow = Map.groupBy(await candidates(db, rule), ({ workflowId }) => workflowId);
  return [...byWorkflow].map(([workflowId, versions]) => ({
    workflowId,
    versions: versions.map(({ version }) => version),
    bytes: versions.reduce((sum, { freed }) => sum + freed, 0),
  }));
}

/** Prunes the versions of one workflow, see `WorkflowWriter.pruneVersions`. */
export async function pruneVersions(
  trx: Kysely<Schema>,
  rule: PruneRule & { workflowId: string },
  at: string,
): Promise<PrunableVersions> {
  const { workflowId } = rule;
  const found = await candidates(trx, rule);
  for (const { version, subject, project, left, freed } of found) {
    await trx
      .updateTable("workflow_versions")
      .set({ definition: null, definition_text: null, pruned_at: at, stored_bytes: left })
      .where("workflow_id", "=", workflowId)
      .where("version", "=", version)
      .execute();
    await addStoredBytes(trx, [{ subject, project, bytes: -freed }]);
    await releaseValues(trx, versionHolder(workflowId, version), VALUES_PER_VERSION);
  }
  return {
    workflowId,
    versions: found.map(({ version }) => version),
    bytes: found.reduce((sum, { freed }) => sum + freed, 0),
  };
}
