/** Reads runs. */
import type { ExpressionBuilder, Kysely } from "kysely";
import type { ListPosition, RunFilter, RunRecord, RunStop } from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { decodeItem } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { decodeDefinition } from "./run-values.ts";
import { runValueReader } from "./run-value-reader.ts";
import type { RunRow, Schema } from "./schema.ts";
import { stepReader } from "./step-reader.ts";
import { decodeStates } from "./step-state-columns.ts";

const RUN_COLUMNS = [
  "id",
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
  "parent_run",
  "parent_step",
  "parent_item",
  "scheduled_for",
  "trace",
  "state_revision",
  "owner",
  "key_name",
  "lineage",
  "surface",
  "client",
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
    parent:
      row.parent_run === null
        ? null
        : { runId: row.parent_run, stepId: row.parent_step!, item: decodeItem(row.parent_item!) },
    scheduledFor: row.scheduled_for,
    trace: row.trace,
    stateRevision: row.state_revision,
    actor: {
      owner: row.owner,
      keyName: row.key_name,
      lineage: row.lineage,
      surface: row.surface,
      client: row.client,
    },
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: parseJson(row.error),
    onFailure: parseJson(row.on_failure),
  };
}

const findRun = prepared((db, id: string) => db.selectFrom("runs").select(RUN_COLUMNS).where("id", "=", id));

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
      let query = db
        .selectFrom("runs")
        .select(RUN_COLUMNS)
        .where((eb) => matching(eb, filter));
      if (after !== null) {
        query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after[0], after[1])));
      }
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next: ListPosition | null = rows.length > limit ? [last!.created_at, last!.id] : null;
      return { items: await Promise.all(page.map((row) => runRecord(db, row))), next };
    },

    async count(filter) {
      const { count } = await db
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where((eb) => matching(eb, filter))
        .executeTakeFirstOrThrow();
      return count;
    },

    async countUnfinishedByStatus() {
      const rows = await db
        .selectFrom("runs")
        .select((eb) => ["status" as const, eb.fn.countAll<number>().as("count")])
        .where("finished_at", "is", null)
        .groupBy("status")
        .execute();
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },

    async latestByWorkflow(workflowIds) {
      const found = new Map<string, RunRecord>();
      for (const id of workflowIds) {
        const row = await db
          .selectFrom("runs")
          .select(RUN_COLUMNS)
          .where("workflow_id", "=", id)
          .orderBy("created_at", "desc")
          .orderBy("id", "desc")
          .limit(1)
          .executeTakeFirst();
        if (row !== undefined) found.set(id, await runRecord(db, row));
      }
      return found;
    },

    countUnfinishedFor: async (actor) => (await countUnfinished(db, usageSubjectOf(actor)))[0]!.count,

    async getStatusSummaries(ids) {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom("runs")
        .select(["id", "seq", "status", "stop"])
        .where("id", "in", [...ids])
        .execute();
      return rows.map(({ id, seq, status, stop }) => ({ id, seq, status, stop: parseJson<RunStop>(stop) }));
    },
  };
}

function matching(eb: ExpressionBuilder<Schema, "runs">, filter: RunFilter) {
  return eb.and([
    ...(filter.workflowId === undefined ? [] : [eb("workflow_id", "=", filter.workflowId)]),
    ...(filter.status === undefined ? [] : [eb("status", "in", [...filter.status])]),
    ...(filter.trigger === undefined ? [] : [eb("trigger", "=", filter.trigger)]),
    ...(filter.since === undefined ? [] : [eb("created_at", ">=", filter.since)]),
    ...(filter.until === undefined ? [] : [eb("created_at", "<", filter.until)]),
  ]);
}
