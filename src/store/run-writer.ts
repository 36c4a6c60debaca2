/** Writes runs for the engine, inside its transactions. */
import type { Kysely, Updateable } from "kysely";
import type { AbandonedAttempt } from "../core/model.ts";
import type { RunWriter } from "../core/run-ports.ts";
import { decodeItem, encodeItem } from "./item-column.ts";
import { prepared, preparedInsert } from "./prepared.ts";
import { encodeValue } from "./run-values.ts";
import { runReader } from "./runs.ts";
import { encodeState, encodeStates } from "./step-state-columns.ts";
import type { RunAttemptRow, RunRow, RunStepRow, Schema } from "./schema.ts";

const insertRun = preparedInsert("runs");
const json = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

const insertChunk = preparedInsert("fan_outs");
const upsertAttempt = prepared((db, ...v: (string | number | null)[]) =>
  db
    .insertInto("run_attempts")
    .values({
      run_id: v[0] as string,
      step_id: v[1] as string,
      item: v[2] as number,
      attempt: v[3] as number,
      status: v[4] as never,
      executor: v[5] as string,
      started_at: v[6] as string,
      finished_at: v[7] as string,
      usage: v[8] as string,
      error: v[9] as string,
      input: v[10] as string,
    })
    .onConflict((conflict) =>
      conflict.columns(["run_id", "step_id", "item", "attempt"]).doUpdateSet((eb) => ({
        status: eb.ref("excluded.status"),
        executor: eb.ref("excluded.executor"),
        finished_at: eb.ref("excluded.finished_at"),
        usage: eb.ref("excluded.usage"),
        error: eb.ref("excluded.error"),
        input: eb.fn.coalesce("excluded.input", "run_attempts.input"),
      })),
    ),
);

export function runWriter(trx: Kysely<Schema>): RunWriter {
  const reader = runReader(trx);
  return {
    ...reader,

    // SQLite runs one write transaction at a time, so a transaction that has begun holds every lock.
    lock: reader.find,
    lockQueue: () => Promise.resolve(),
    lockStarts: () => Promise.resolve(),

    async insert(run) {
      await insertRun(trx, {
        id: run.id,
        workflow_id: run.workflowId,
        version: run.version,
        definition: json(run.definition),
        status: run.status,
        states: encodeStates(run.stepStates),
        seq: 0,
        admitted: Number(run.admitted),
        stop: null,
        trigger: run.trigger,
        priority: run.priority,
        depth: run.depth,
        first_run: run.firstRunId,
        retry_of: run.retryOf,
        parent_run: run.parent?.runId ?? null,
        parent_step: run.parent?.stepId ?? null,
        parent_item: run.parent === null ? null : encodeItem(run.parent.item),
        scheduled_for: run.scheduledFor,
        trace: run.trace,
        owner: run.actor.owner,
        key_name: run.actor.keyName,
        lineage: run.actor.lineage,
        surface: run.actor.surface,
        client: run.actor.client,
        created_at: run.createdAt,
        started_at: null,
        finished_at: null,
        error: null,
        inputs: await encodeValue(trx, run.id, run.inputs),
        output: null,
      });
    },

    async update(id, { stepStates, admitted, error, stop, output, startedAt, finishedAt, ...plain }) {
      const set: Updateable<RunRow> = { ...plain };
      if (stepStates !== undefined) set.states = encodeStates(stepStates);
      if (admitted !== undefined) set.admitted = Number(admitted);
      if (error !== undefined) set.error = json(error);
      if (stop !== undefined) set.stop = json(stop);
      if (startedAt !== undefined) set.started_at = startedAt;
      if (finishedAt !== undefined) set.finished_at = finishedAt;
      if (output !== undefined) set.output = await encodeValue(trx, id, output);
      await trx.updateTable("runs").set(set).where("id", "=", id).execute();
    },

    async saveStep({ runId, stepId, item }, { state, output, items, error, ...fields }) {
      const columns: Partial<RunStepRow> = { state: encodeState(state) };
      for (const [key, value] of Object.entries(fields))
        columns[SNAKE[key as keyof typeof SNAKE]] = value as never;
      if (error !== undefined) columns.error = json(error);
      if (items !== undefined && items !== null) {
        columns.items_total = items.total;
        columns.items_started = items.started;
        columns.items_done = items.done;
        columns.items_failed = items.failed;
        columns.items_bytes = items.bytes;
      }
      if (output !== undefined) columns.output = await encodeValue(trx, runId, output);
      await trx
        .insertInto("run_steps")
        .values({
          run_id: runId,
          step_id: stepId,
          item: encodeItem(item),
          ...EMPTY_STEP,
          ...columns,
        } as RunStepRow)
        .onConflict((conflict) => conflict.columns(["run_id", "step_id", "item"]).doUpdateSet(columns))
        .execute();
    },

    async saveAttempt({ runId, stepId, item }, attempt) {
      const input = attempt.input === undefined ? null : await encodeValue(trx, runId, attempt.input);
      await upsertAttempt(
        trx,
        runId,
        stepId,
        encodeItem(item),
        attempt.attempt,
        attempt.status,
        attempt.executor,
        attempt.startedAt,
        attempt.finishedAt,
        json(attempt.usage),
        json(attempt.error),
        input,
      );
    },

    async saveChunk({ runId, stepId }, chunk, items) {
      await insertChunk(trx, { run_id: runId, step_id: stepId, chunk, items: JSON.stringify(items) });
    },

    async countActive(workflowId, trigger) {
      let query = trx
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("workflow_id", "=", workflowId)
        .where("finished_at", "is", null)
        .where("admitted", "=", 1);
      if (trigger !== undefined) query = query.where("trigger", "=", trigger);
      return (await query.executeTakeFirstOrThrow()).count;
    },

    async hasUnfinished(count) {
      const row = await trx
        .selectFrom("runs")
        .select("id")
        .where("finished_at", "is", null)
        .limit(1)
        .offset(Math.max(count - 1, 0))
        .executeTakeFirst();
      return row !== undefined;
    },

    async nextQueued(workflowId) {
      const row = await trx
        .selectFrom("runs")
        .select("id")
        .where("workflow_id", "=", workflowId)
        .where("finished_at", "is", null)
        .where("admitted", "=", 0)
        .orderBy("priority", "desc")
        .orderBy("created_at")
        .orderBy("id")
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : reader.find(row.id);
    },

    async children(runId) {
      const rows = await trx
        .selectFrom("run_steps")
        .select(["run_id", "step_id", "item", "child_run"])
        .where("run_id", "=", runId)
        .where("state", "=", encodeState("running"))
        .where("child_run", "is not", null)
        .execute();
      return rows.map((row) => ({
        ref: { runId: row.run_id, stepId: row.step_id, item: decodeItem(row.item) },
        childRun: row.child_run!,
      }));
    },

    async wasScheduled(workflowId, at) {
      const row = await trx
        .selectFrom("runs")
        .select("id")
        .where("workflow_id", "=", workflowId)
        .where("scheduled_for", "=", at)
        .where("trigger", "=", "schedule")
        .executeTakeFirst();
      return row !== undefined;
    },

    async saveCachedOutput(key, expiresAt, output) {
      const row = { expires_at: expiresAt, output: JSON.stringify(output) };
      await trx
        .insertInto("step_cache")
        .values({ key, ...row })
        .onConflict((conflict) => conflict.column("key").doUpdateSet(row))
        .execute();
    },

    async interruptAttempts(executor, at, unit) {
      let query = trx
        .updateTable("run_attempts")
        .set({ status: "interrupted", finished_at: at })
        .where("executor", "=", executor)
        .where("finished_at", "is", null);
      if (unit !== undefined) {
        query = query
          .where("run_id", "=", unit.runId)
          .where("step_id", "=", unit.stepId)
          .where("item", "=", encodeItem(unit.item));
      }
      return (await query.returning(LEFT_COLUMNS).execute()).map(leftAttempt);
    },

    async hasScheduled(workflowId) {
      const row = await trx
        .selectFrom("runs")
        .select("id")
        .where("workflow_id", "=", workflowId)
        .where("finished_at", "is", null)
        .where("trigger", "=", "schedule")
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async closeOpenSteps(runId, at) {
      const left = await trx
        .updateTable("run_attempts")
        .set({ status: "cancelled", finished_at: at })
        .where("run_id", "=", runId)
        .where("finished_at", "is", null)
        .returning(LEFT_COLUMNS)
        .execute();
      await trx
        .updateTable("run_steps")
        .set({ state: encodeState("cancelled"), finished_at: at })
        .where("run_id", "=", runId)
        .where("state", "in", OPEN_STATES)
        .execute();
      return left.map(leftAttempt);
    },

    async purge(before, now, limit) {
      const stale = await trx
        .deleteFrom("step_cache")
        .where("key", "in", (eb) =>
          eb.selectFrom("step_cache").select("key").where("expires_at", "<=", now).limit(limit),
        )
        .executeTakeFirst();
      const old = await trx
        .selectFrom("runs")
        .select("id")
        .where("finished_at", "is not", null)
        .where("finished_at", "<", before)
        .orderBy("finished_at")
        .limit(FORGOTTEN_AT_ONCE)
        .execute();
      const ids = old.map((row) => row.id);
      // Deletes the run's other rows first, in batches: a run may have hundreds of thousands.
      for (const id of ids) {
        if (await forgetRows(trx, id, limit)) return true;
        await trx.deleteFrom("runs").where("id", "=", id).execute();
      }
      return ids.length === FORGOTTEN_AT_ONCE || stale.numDeletedRows >= BigInt(limit);
    },
  };
}

/** Maximum number of runs purged per transaction. */
const FORGOTTEN_AT_ONCE = 50;

/** Deletes up to `limit` of a run's rows of each kind; returns whether there may be more. */
async function forgetRows(trx: Kysely<Schema>, runId: string, limit: number): Promise<boolean> {
  const deleted = [
    await trx
      .deleteFrom("run_steps")
      .where((eb) =>
        eb(
          eb.refTuple("run_id", "step_id", "item"),
          "in",
          eb
            .selectFrom("run_steps")
            .select(["run_id", "step_id", "item"])
            .where("run_id", "=", runId)
            .limit(limit)
            .$asTuple("run_id", "step_id", "item"),
        ),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom("run_attempts")
      .where((eb) =>
        eb(
          eb.refTuple("run_id", "step_id", "item", "attempt"),
          "in",
          eb
            .selectFrom("run_attempts")
            .select(["run_id", "step_id", "item", "attempt"])
            .where("run_id", "=", runId)
            .limit(limit)
            .$asTuple("run_id", "step_id", "item", "attempt"),
        ),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom("run_values")
      .where("id", "in", (eb) =>
        eb.selectFrom("run_values").select("id").where("run_id", "=", runId).limit(limit),
      )
      .executeTakeFirst(),
  ];
  if (deleted.some(({ numDeletedRows }) => numDeletedRows >= BigInt(limit))) return true;
  await trx.deleteFrom("fan_outs").where("run_id", "=", runId).execute();
  await trx.deleteFrom("approvals").where("run_id", "=", runId).execute();
  return false;
}

const LEFT_COLUMNS = ["run_id", "step_id", "item", "attempt", "started_at"] as const;

const leftAttempt = (row: Pick<RunAttemptRow, (typeof LEFT_COLUMNS)[number]>): AbandonedAttempt => ({
  runId: row.run_id,
  stepId: row.step_id,
  item: decodeItem(row.item),
  attempt: row.attempt,
  startedAt: row.started_at,
});

/** States of steps to close at the end of a run. */
const OPEN_STATES = (["queued", "running", "waiting"] as const).map(encodeState);

const SNAKE = {
  seq: "seq",
  attempts: "attempts",
  startedAt: "started_at",
  finishedAt: "finished_at",
  inputHash: "input_hash",
  reusedFrom: "reused_from",
  childRun: "child_run",
  waitUntil: "wait_until",
} as const;

const EMPTY_STEP = {
  attempts: 0,
  started_at: null,
  finished_at: null,
  input_hash: null,
  reused_from: null,
  child_run: null,
  wait_until: null,
  items_total: null,
  items_started: null,
  items_done: null,
  items_failed: null,
  items_bytes: null,
  error: null,
  output: null,
};
