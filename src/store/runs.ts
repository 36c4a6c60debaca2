/** Reads runs, their steps and attempts. */
import type { ExpressionBuilder, Kysely } from "kysely";
import type { RunTrigger } from "../../schemas/run.ts";
import { isOperatorKey } from "../core/usage-limits.ts";
import type {
  AttemptRecord,
  ListPosition,
  RunFilter,
  RunRecord,
  RunStop,
  StepRecord,
  StepRef,
  Usage,
} from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { jsonNumber } from "./dialect.ts";
import { decodeItem, encodeItem, NO_ITEM } from "./item-column.ts";
import { prepared } from "./prepared.ts";
import { decodeValue, valueText } from "./run-values.ts";
import { decodeState, decodeStates } from "./step-state-columns.ts";
import type { RunAttemptRow, RunRow, RunStepRow, Schema } from "./schema.ts";

const RUN_COLUMNS = [
  "id",
  "workflow_id",
  "version",
  "definition",
  "status",
  "states",
  "seq",
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
  "owner",
  "key_name",
  "lineage",
  "surface",
  "client",
  "created_at",
  "started_at",
  "finished_at",
  "error",
] as const satisfies readonly (keyof RunRow)[];

const STEP_COLUMNS = [
  "step_id",
  "item",
  "seq",
  "state",
  "attempts",
  "started_at",
  "finished_at",
  "input_hash",
  "reused_from",
  "child_run",
  "wait_until",
  "items_total",
  "items_started",
  "items_done",
  "items_failed",
  "items_bytes",
  "error",
] as const satisfies readonly (keyof RunStepRow)[];

const ATTEMPT_COLUMNS = [
  "step_id",
  "item",
  "attempt",
  "status",
  "started_at",
  "finished_at",
  "usage",
  "error",
] as const satisfies readonly (keyof RunAttemptRow)[];

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the column determines the type of its JSON
const parsed = <T>(column: string | null): T | null => (column === null ? null : (JSON.parse(column) as T));

type RunColumns = Pick<RunRow, (typeof RUN_COLUMNS)[number]>;

function runRecord(row: RunColumns): RunRecord {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    version: row.version,
    definition: parsed(row.definition),
    status: row.status,
    stepStates: decodeStates(row.states),
    seq: row.seq,
    admitted: row.admitted === 1,
    stop: parsed(row.stop),
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
    error: parsed(row.error),
  };
}

function stepRecord(row: Pick<RunStepRow, (typeof STEP_COLUMNS)[number]>): StepRecord {
  return {
    stepId: row.step_id,
    item: decodeItem(row.item),
    seq: row.seq,
    state: decodeState(row.state),
    attempts: row.attempts,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    inputHash: row.input_hash,
    reusedFrom: row.reused_from,
    childRun: row.child_run,
    waitUntil: row.wait_until,
    items:
      row.items_total === null
        ? null
        : {
            total: row.items_total,
            started: row.items_started!,
            done: row.items_done!,
            failed: row.items_failed!,
            bytes: row.items_bytes!,
          },
    error: parsed(row.error),
  };
}

const attemptRecord = (row: Pick<RunAttemptRow, (typeof ATTEMPT_COLUMNS)[number]>): AttemptRecord => ({
  stepId: row.step_id,
  item: decodeItem(row.item),
  attempt: row.attempt,
  status: row.status,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  usage: parsed(row.usage),
  error: parsed(row.error),
});

const findRun = prepared((db, id: string) => db.selectFrom("runs").select(RUN_COLUMNS).where("id", "=", id));
const findInputs = prepared((db, id: string) => db.selectFrom("runs").select("inputs").where("id", "=", id));
const findStep = prepared((db, runId: string, stepId: string, item: number) =>
  db
    .selectFrom("run_steps")
    .select(STEP_COLUMNS)
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("item", "=", item),
);
const stepsSince = prepared((db, runId: string, seq: number) =>
  db
    .selectFrom("run_steps")
    .select(STEP_COLUMNS)
    .where("run_id", "=", runId)
    .where("item", "=", NO_ITEM)
    .where("seq", ">", seq),
);
const stepOutput = prepared((db, runId: string, stepId: string, item: number) =>
  db
    .selectFrom("run_steps")
    .select("output")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("item", "=", item),
);
const findChunk = prepared((db, runId: string, stepId: string, chunk: number) =>
  db
    .selectFrom("fan_outs")
    .select("items")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("chunk", "=", chunk),
);
const findVersion = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select("definition")
    .where("workflow_id", "=", id)
    .where("version", "=", version),
);

/** An index covers this query; it contains no runs without model steps. */
const sumUsage = prepared((db, runId: string) =>
  db
    .selectFrom("run_attempts")
    .select((eb) => {
      const part = (key: keyof Usage) => jsonNumber(eb.ref("usage"), key);
      return [
        eb.fn.sum<number | null>(part("input_tokens")).as("input_tokens"),
        eb.fn.sum<number | null>(part("output_tokens")).as("output_tokens"),
        eb.fn.sum<number | null>(part("cost")).as("cost"),
        eb.fn.count<number>(part("cost")).as("priced"),
        eb.fn.countAll<number>().as("parts"),
      ];
    })
    .where("run_id", "=", runId)
    .where("usage", "is not", null),
);

/** The triggers of runs that a key or user started, not a schedule or another run. */
const STARTED: readonly RunTrigger[] = ["rest", "mcp", "cli", "web", "example"];

/** Number of a fan-out's items per query. */
const ITEMS_AT_ONCE = 1_000;

export function runReader(db: Kysely<Schema>): RunReader {
  return {
    async find(id) {
      const [row] = await findRun(db, id);
      return row === undefined ? undefined : runRecord(row);
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
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const next: ListPosition | null = rows.length > limit ? [last!.created_at, last!.id] : null;
      return { items: shown.map(runRecord), next };
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
        if (row !== undefined) found.set(id, runRecord(row));
      }
      return found;
    },

    async countUnfinishedFor(key, max) {
      const some = db
        .selectFrom("runs")
        .select("id")
        .where("owner", "=", key.owner)
        // All keys and sessions of a user count together, but each key of the operator separately.
        .$if(isOperatorKey(key), (query) => query.where("lineage", "=", key.lineage))
        .where("trigger", "in", STARTED)
        .where("finished_at", "is", null)
        .limit(max)
        .as("some");
      const { count } = await db
        .selectFrom(some)
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    async getStatusSummaries(ids) {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom("runs")
        .select(["id", "seq", "status", "stop"])
        .where("id", "in", [...ids])
        .execute();
      return rows.map(({ id, seq, status, stop }) => ({ id, seq, status, stop: parsed<RunStop>(stop) }));
    },

    async steps(runId, { sinceSeq = -1 } = {}) {
      return (await stepsSince(db, runId, sinceSeq)).map(stepRecord);
    },

    async step({ runId, stepId, item }) {
      const [row] = await findStep(db, runId, stepId, encodeItem(item));
      return row === undefined ? undefined : stepRecord(row);
    },

    async items({ runId, stepId }, from, limit) {
      const rows = await db
        .selectFrom("run_steps")
        .select(STEP_COLUMNS)
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", ">=", from)
        .orderBy("item")
        .limit(limit)
        .execute();
      return rows.map(stepRecord);
    },

    async attempts(runId, stepId, item) {
      let query = db.selectFrom("run_attempts").select(ATTEMPT_COLUMNS).where("run_id", "=", runId);
      if (stepId !== undefined) query = query.where("step_id", "=", stepId);
      if (item !== undefined) query = query.where("item", "=", encodeItem(item));
      const rows = await query.orderBy("step_id").orderBy("item").orderBy("attempt").limit(5_000).execute();
      return rows.map(attemptRecord);
    },

    async usage(runId) {
      const [sum] = await sumUsage(db, runId);
      const { input_tokens: input, output_tokens: output, cost, priced, parts } = sum!;
      if (parts === 0) return null;
      // Without the price of each model the sum would be too low.
      return { input_tokens: input!, output_tokens: output!, cost: priced === parts ? cost : null };
    },

    async runningSteps(runId) {
      const rows = await db
        .selectFrom("jobs")
        .select(["run_id", "step_id", "item"])
        .where("run_id", "=", runId)
        .where("state", "=", "claimed")
        .execute();
      return rows.map((row): StepRef => ({
        runId: row.run_id,
        stepId: row.step_id,
        item: decodeItem(row.item),
      }));
    },

    async valueText(at, range) {
      const column = await valueColumn(db, at);
      return column === undefined || column === null ? undefined : valueText(db, column, range);
    },

    async output({ runId, stepId, item }) {
      const [row] = await stepOutput(db, runId, stepId, encodeItem(item));
      if (row === undefined || row.output === null) return null;
      return (await decodeValue(db, row.output)) as Record<string, unknown>;
    },

    async itemOutputs({ runId, stepId }) {
      const results: Awaited<ReturnType<RunReader["itemOutputs"]>> = [];
      for (;;) {
        const rows = await db
          .selectFrom("run_steps")
          .select(["state", "error", "output"])
          .where("run_id", "=", runId)
          .where("step_id", "=", stepId)
          .where("item", ">=", results.length)
          .orderBy("item")
          .limit(ITEMS_AT_ONCE)
          .execute();
        for (const row of rows) {
          results.push({
            state: decodeState(row.state),
            error: parsed(row.error),
            output:
              row.output === null ? null : ((await decodeValue(db, row.output)) as Record<string, unknown>),
          });
        }
        if (rows.length < ITEMS_AT_ONCE) return results;
      }
    },

    async runOutput(runId) {
      const row = await db.selectFrom("runs").select("output").where("id", "=", runId).executeTakeFirst();
      return row === undefined || row.output === null ? null : decodeValue(db, row.output);
    },

    async inputs(runId) {
      const [row] = await findInputs(db, runId);
      return row === undefined ? {} : ((await decodeValue(db, row.inputs)) as Record<string, unknown>);
    },

    async itemChunk({ runId, stepId }, chunk) {
      const [row] = await findChunk(db, runId, stepId, chunk);
      return row === undefined ? [] : (JSON.parse(row.items) as unknown[]);
    },

    async versionDefinition(workflowId, version) {
      const [row] = await findVersion(db, workflowId, version);
      return parsed(row?.definition ?? null);
    },

    async cachedOutput(key, now) {
      const row = await db
        .selectFrom("step_cache")
        .select("output")
        .where("key", "=", key)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return row === undefined ? undefined : (JSON.parse(row.output) as Record<string, unknown>);
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

async function valueColumn(
  db: Kysely<Schema>,
  at: Parameters<RunReader["valueText"]>[0],
): Promise<string | null | undefined> {
  switch (at.what) {
    case "inputs":
    case "output": {
      const row = await db.selectFrom("runs").select(at.what).where("id", "=", at.runId).executeTakeFirst();
      return row?.[at.what as "output"];
    }
    case "step_output": {
      const [row] = await stepOutput(db, at.runId, at.stepId, encodeItem(at.item));
      return row?.output;
    }
    case "attempt_input": {
      const row = await db
        .selectFrom("run_attempts")
        .select("input")
        .where("run_id", "=", at.runId)
        .where("step_id", "=", at.stepId)
        .where("item", "=", encodeItem(at.item))
        .where("attempt", "=", at.attempt)
        .executeTakeFirst();
      return row?.input;
    }
  }
}
