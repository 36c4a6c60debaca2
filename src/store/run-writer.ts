/** Writes runs for the engine, inside its transactions. */
import { type Kysely, sql, type Updateable } from "kysely";
import type { RunRecord } from "../core/model.ts";
import type { RunWriter } from "../core/run-ports.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { isOneOf, lockName, skippingLocked } from "./dialect.ts";
import { encodeItem } from "./item-column.ts";
import { jsonText } from "./json-column.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { prepared, preparedForColumns, preparedInsert } from "./prepared.ts";
import { purgeRuns } from "./purge-runs.ts";
import { lockRun, runReader } from "./run-reader.ts";
import { encodeDefinition } from "./run-values.ts";
import type { RunRow, Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";
import { encodeStates } from "./step-state-columns.ts";
import { stepWriter } from "./step-writer.ts";
import { undoReader } from "./undo-reader.ts";

const insertRun = preparedInsert("runs");
type RunChanges = Omit<Updateable<RunRow>, "id">;

const updateRun = preparedForColumns((db, { id, ...set }: RunChanges & { id: string }) =>
  db.updateTable("runs").set(set).where("id", "=", id),
);

const firstQueued = prepared((db, workflow: string, project: string, after: string) =>
  skippingLocked(
    db,
    db
      .selectFrom("runs")
      .select("id")
      .where("workflow_id", "=", workflow)
      .where("project", "=", project)
      .where("finished_at", "is", null)
      .where("admitted", "=", sql.lit(0))
      .where("subject", ">", after)
      .orderBy("subject")
      .orderBy("priority", "desc")
      .orderBy("created_at")
      .orderBy("id")
      .limit(sql.lit(1)),
  ),
);

const anyQueued = prepared((db, workflow: string, project: string) =>
  db
    .selectFrom("runs")
    .select("id")
    .where("workflow_id", "=", workflow)
    .where("project", "=", project)
    .where("finished_at", "is", null)
    .where("admitted", "=", sql.lit(0))
    .limit(sql.lit(1)),
);

const countUnfinished = prepared((db) =>
  db
    .selectFrom("runs")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("finished_at", "is", null),
);

const holdersOf = ({ actor, project }: Pick<RunRecord, "actor" | "project">) => ({
  subject: usageSubjectOf(actor),
  project,
});

export function runWriter(trx: Kysely<Schema>, bytes: ByteCounter): RunWriter {
  const reader = runReader(trx);
  const encode = valueEncoder(trx, bytes);
  return {
    ...reader,
    ...stepWriter(trx, bytes),
    ...undoReader(trx),

    async lock(id) {
      const run = await lockRun(trx, id);
      if (run !== undefined) bytes.setHolders(id, holdersOf(run));
      // The counts are written at the end of the transaction.
      return run && { ...run, storedBytes: run.storedBytes + bytes.pending(id) };
    },
    lockQueue: (workflowId, mode) => lockName(trx, "queue", workflowId, mode),
    lockStarts: (subject) => lockName(trx, "starts", subject),

    async insert(run) {
      const definition = jsonText(run.definition);
      bytes.setHolders(run.id, holdersOf(run));
      if (definition !== null) bytes.add(run.id, definition);
      // An executor of an older release would execute what a trial must not.
      if (run.trial !== null || run.workflowId === null) await assertNoOlderCopies(trx);
      await insertRun(trx, {
        id: run.id,
        project: run.project,
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
        backfill: run.backfill,
        trace: run.trace,
        facts: jsonText(run.facts),
        owner: run.actor.owner,
        key_name: run.actor.keyName,
        lineage: run.actor.lineage,
        surface: run.actor.surface,
        client: run.actor.client,
        causes: run.causes.length === 0 ? null : jsonText(run.causes),
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
        replay: jsonText(run.replay),
        trial: run.trial === null ? null : await encode(run.id, run.trial),
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
        causes,
        ...columns
      },
    ) {
      const set: RunChanges = { ...columns };
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
      if (causes !== undefined) set.causes = jsonText(causes);
      if (committed !== undefined) set.committed = await encode(id, committed);
      await updateRun(trx, { id, ...set });
    },

    async countActive({ workflowId, project }, trigger) {
      let query = trx
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("workflow_id", "=", workflowId)
        .where("project", "=", project)
        .where("finished_at", "is", null)
        .where("admitted", "=", 1)
        .where("replay", "is", null);
      if (trigger !== undefined) query = query.where("trigger", "=", trigger);
      return (await query.executeTakeFirstOrThrow()).count;
    },

    countAllUnfinished: async () => (await countUnfinished(trx))[0]!.count,

    async countScheduled({ workflowId, project }) {
      const { count } = await trx
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("workflow_id", "=", workflowId)
        .where("project", "=", project)
        .where("finished_at", "is", null)
        .where("trigger", "=", "schedule")
        .executeTakeFirstOrThrow();
      return count;
    },

    async scheduledTimes(workflowId, times) {
      const rows = await trx
        .selectFrom("runs")
        .select("scheduled_for")
        .where("workflow_id", "=", workflowId)
        .where("trigger", "=", "schedule")
        .where((eb) => isOneOf(eb.ref("scheduled_for"), JSON.stringify(times)))
        .execute();
      return new Set(rows.map((row) => row.scheduled_for!));
    },

    async nextQueued({ workflowId, project }, lastOwner) {
      // Mostly there is none, and every end of a run asks.
      if ((await anyQueued(trx, workflowId, project)).length === 0) return undefined;
      for (const after of lastOwner === "" ? [""] : [lastOwner, ""]) {
        const [row] = await firstQueued(trx, workflowId, project, after);
        if (row !== undefined) return reader.find(row.id);
      }
      return undefined;
    },

    purge: (before, now, limit) => purgeRuns(trx, { before, now, limit }),
  };
}
