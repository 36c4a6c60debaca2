/** Writes runs for the engine, inside its transactions. */
import type { Kysely, Updateable } from "kysely";
import type { RunWriter } from "../core/run-ports.ts";
import { encodeItem } from "./item-column.ts";
import { jsonText } from "./json-column.ts";
import { prepared, preparedInsert } from "./prepared.ts";
import { purgeRuns } from "./purge-runs.ts";
import { runReader } from "./run-reader.ts";
import { encodeDefinition } from "./run-values.ts";
import type { RunRow, Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";
import { encodeStates } from "./step-state-columns.ts";
import { stepWriter } from "./step-writer.ts";
import { undoReader } from "./undo-reader.ts";

const insertRun = preparedInsert("runs");

const countUnfinished = prepared((db) =>
  db
    .selectFrom("runs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("finished_at", "is", null),
);

export function runWriter(trx: Kysely<Schema>, bytes: ByteCounter): RunWriter {
  const reader = runReader(trx);
  const encode = valueEncoder(trx, bytes);
  return {
    ...reader,
    ...stepWriter(trx, bytes),
    ...undoReader(trx),

    // SQLite runs one write transaction at a time, so a transaction that has begun holds every lock.
    async lock(id) {
      const run = await reader.find(id);
      // The counts are written at the end of the transaction.
      return run && { ...run, storedBytes: run.storedBytes + bytes.pending(id) };
    },
    lockQueue: () => Promise.resolve(),
    lockStarts: () => Promise.resolve(),

    async insert(run) {
      const definition = jsonText(run.definition);
      if (definition !== null) bytes.add(run.id, definition);
      await insertRun(trx, {
        id: run.id,
        workflow_id: run.workflowId,
        version: run.version,
        definition: await encodeDefinition(trx, run.id, definition),
        pins: jsonText(run.pins),
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
        facts: jsonText(run.facts),
        owner: run.actor.owner,
        key_name: run.actor.keyName,
        lineage: run.actor.lineage,
        surface: run.actor.surface,
        client: run.actor.client,
        created_at: run.createdAt,
        started_at: null,
        finished_at: null,
        error: null,
        on_failure: null,
        inputs: await encode(run.id, run.inputs),
        output: null,
        state: run.state === null ? null : await encode(run.id, run.state),
        state_revision: run.stateRevision,
        committed: null,
        stored_bytes: 0,
      });
    },

    async update(
      id,
      {
        stepStates,
        admitted,
        error,
        stop,
        onFailure,
        output,
        startedAt,
        finishedAt,
        state,
        stateRevision,
        committed,
        ...columns
      },
    ) {
      const set: Updateable<RunRow> = { ...columns };
      if (stepStates !== undefined) set.states = encodeStates(stepStates);
      if (admitted !== undefined) set.admitted = Number(admitted);
      if (error !== undefined) set.error = jsonText(error);
      if (stop !== undefined) set.stop = jsonText(stop);
      if (onFailure !== undefined) set.on_failure = jsonText(onFailure);
      if (startedAt !== undefined) set.started_at = startedAt;
      if (finishedAt !== undefined) set.finished_at = finishedAt;
      if (output !== undefined) set.output = await encode(id, output);
      if (state !== undefined) set.state = state === null ? null : await encode(id, state);
      if (stateRevision !== undefined) set.state_revision = stateRevision;
      if (committed !== undefined) set.committed = await encode(id, committed);
      await trx.updateTable("runs").set(set).where("id", "=", id).execute();
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

    countAllUnfinished: async () => (await countUnfinished(trx))[0]!.count,

    async countScheduled(workflowId) {
      const { count } = await trx
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("workflow_id", "=", workflowId)
        .where("finished_at", "is", null)
        .where("trigger", "=", "schedule")
        .executeTakeFirstOrThrow();
      return count;
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

    async nextQueued(workflowId, lastOwner) {
      for (const after of lastOwner === "" ? [""] : [lastOwner, ""]) {
        const row = await trx
          .selectFrom("runs")
          .select("id")
          .where("workflow_id", "=", workflowId)
          .where("finished_at", "is", null)
          .where("admitted", "=", 0)
          .where("subject", ">", after)
          .orderBy("subject")
          .orderBy("priority", "desc")
          .orderBy("created_at")
          .orderBy("id")
          .limit(1)
          .executeTakeFirst();
        if (row !== undefined) return reader.find(row.id);
      }
      return undefined;
    },

    purge: (before, now, limit) => purgeRuns(trx, { before, now, limit }),
  };
}
