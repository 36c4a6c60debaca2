/** Reads runs. */
import type { Kysely } from "kysely";
import type { ListPosition, RunRecord, RunStop } from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { forUpdate, isOneOf } from "./dialect.ts";
import { decodeItem } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { decodeDefinition } from "./run-values.ts";
import { countRuns, newestRuns } from "./run-lists.ts";
import { scanRuns } from "./run-scan.ts";
import { runValueReader } from "./run-value-reader.ts";
import type { RunRow, Schema } from "./schema.ts";
import { stepReader } from "./step-reader.ts";
import { decodeStates } from "./step-state-columns.ts";

const RUN_COLUMNS = [
  "id",
  "project",
  "workflow_id",
  "version",
  "definition",
  "pins",
  "status",
  "states",
  "seq",
  "stored_bytes",
  "admitted",
  "stop",
  "trigger",
  "priority",
  "depth",
  "first_run",
  "retry_of",
  "trial",
  "replay",
  "parent_run",
  "parent_step",
  "parent_item",
  "scheduled_for",
  "backfill",
  "trace",
  "state_revision",
  "owner",
  "key_name",
  "lineage",
  "surface",
  "client",
  "causes",
  "created_at",
  "started_at",
  "finished_at",
  "error",
  "on_failure",
] as const satisfies readonly (keyof RunRow)[];

type RunColumns = Pick<RunRow, (typeof RUN_COLUMNS)[number]>;

async function runRecord(db: Kysely<Schema>, row: RunColumns): Promise<RunRecord> {
  return {
    id: row.id,
    project: row.project,
    workflowId: row.workflow_id,
    version: row.version,
    definition: await decodeDefinition(db, row.definition),
    pins: parseJson(row.pins),
    status: row.status,
    stepStates: decodeStates(row.states),
    seq: row.seq,
    storedBytes: row.stored_bytes,
    admitted: row.admitted === 1,
    stop: parseJson(row.stop),
    trigger: row.trigger,
    priority: row.priority,
    depth: row.depth,
    firstRunId: row.first_run,
    retryOf: row.retry_of,
    isTrial: row.trial !== null,
    replay: parseJson(row.replay),
    parent:
      row.parent_run === null
        ? null
        : { runId: row.parent_run, stepId: row.parent_step!, item: decodeItem(row.parent_item!) },
    scheduledFor: row.scheduled_for,
    backfill: row.backfill,
    trace: row.trace,
    stateRevision: row.state_revision,
    actor: {
      owner: row.owner,
      keyName: row.key_name,
      lineage: row.lineage,
      surface: row.surface,
      client: row.client,
    },
    causes: parseJson(row.causes) ?? [],
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: parseJson(row.error),
    onFailure: parseJson(row.on_failure),
  };
}

const findRun = prepared((db, id: string) => db.selectFrom("runs").select(RUN_COLUMNS).where("id", "=", id));
const findLockedRun = prepared((db, id: string) =>
  forUpdate(db, db.selectFrom("runs").select(RUN_COLUMNS).where("id", "=", id)),
);

/** Reads a run and locks its row, see `RunWriter.lock`. */
export async function lockRun(trx: Kysely<Schema>, id: string): Promise<RunRecord | undefined> {
  const [row] = await findLockedRun(trx, id);
  return row === undefined ? undefined : runRecord(trx, row);
}

const findSummaries = prepared((db, ids: string) =>
  db
    .selectFrom("runs")
    .select(["id", "seq", "status", "stop"])
    .where((eb) => isOneOf(eb.ref("id"), ids)),
);

const countUnfinishedInProject = prepared((db, project: string) =>
  db
    .selectFrom("runs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("finished_at", "is", null)
    .where("project", "=", project),
);
const countUnfinished = prepared((db, subject: string) =>
  db
    .selectFrom("runs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("subject", "=", subject)
    .where("finished_at", "is", null),
);

export function runReader(db: Kysely<Schema>): RunReader {
  return {
    ...stepReader(db),
    ...runValueReader(db),

    async find(id) {
      const [row] = await findRun(db, id);
      return row === undefined ? undefined : runRecord(db, row);
    },

    async page({ filter, after, limit }) {
      // One more than the page shows whether there is a next page.
      const keys = await newestRuns(db, { filter, after, limit: limit + 1 });
      const listed = keys.slice(0, limit);
      const rows = await db
        .selectFrom("runs")
        .select(RUN_COLUMNS)
        .where(
          "id",
          "in",
          listed.map(({ id }) => id),
        )
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      const last = listed.at(-1);
      const next: ListPosition | null = keys.length > limit ? [last!.created_at, last!.id] : null;
      return { items: await Promise.all(rows.map((row) => runRecord(db, row))), next };
    },

    count: (filter) => countRuns(db, filter),
    scan: (query) => scanRuns(db, query),

    async countUnfinishedByStatus() {
      const rows = await db
        .selectFrom("runs")
        .select((eb) => ["status" as const, eb.fn.countAll<number>().as("count")])
        .where("finished_at", "is", null)
        .groupBy("status")
        .execute();
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },

    async latestByWorkflow(workflowIds, projects = null) {
      const newest: string[] = [];
      for (const workflowId of workflowIds) {
        const filter = { workflowId, isTrial: false, visibility: { projects, workflows: null } };
        newest.push(...(await newestRuns(db, { filter, after: null, limit: 1 })).map(({ id }) => id));
      }
      const rows = await db.selectFrom("runs").select(RUN_COLUMNS).where("id", "in", newest).execute();
      const found = await Promise.all(rows.map((row) => runRecord(db, row)));
      return new Map(found.map((run) => [run.workflowId!, run]));
    },

    countUnfinishedOf: async (project) => (await countUnfinishedInProject(db, project))[0]!.count,
    countUnfinishedFor: async (actor) => (await countUnfinished(db, usageSubjectOf(actor)))[0]!.count,

    async retriedOf(ids) {
      if (ids.length === 0) return new Set();
      const rows = await db
        .selectFrom("runs")
        .select("retry_of")
        .distinct()
        .where("retry_of", "is not", null)
        .where((eb) => isOneOf(eb.ref("retry_of"), JSON.stringify(ids)))
        .execute();
      return new Set(rows.map((row) => row.retry_of!));
    },

    async getStatusSummaries(ids) {
      const rows = ids.length === 0 ? [] : await findSummaries(db, JSON.stringify(ids));
      return rows.map(({ id, seq, status, stop }) => ({ id, seq, status, stop: parseJson<RunStop>(stop) }));
    },
  };
}
