/** Writes the steps of runs, their items, attempts and cached outputs. */
import type { Kysely } from "kysely";
import type { AbandonedAttempt } from "../core/model.ts";
import type { RunWriter } from "../core/run-ports.ts";
import { encodeItem, stepRefOf } from "./item-column.ts";
import { jsonText } from "./json-column.ts";
import { preparedForColumns, preparedInsert, preparedWrite } from "./prepared.ts";
import type { RunAttemptRow, RunStepRow, Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";
import { encodeState } from "./step-state-columns.ts";

const STEP_COLUMN_NAMES = {
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

/** States of the steps that the end of a run closes. */
const OPEN_STATES = (["queued", "running", "waiting"] as const).map(encodeState);

const ABANDONED_COLUMNS = ["run_id", "step_id", "item", "attempt", "started_at", "effect_key"] as const;

const abandonedAttempt = (
  row: Pick<RunAttemptRow, (typeof ABANDONED_COLUMNS)[number]>,
): AbandonedAttempt => ({
  ...stepRefOf(row),
  attempt: row.attempt,
  startedAt: row.started_at,
  effectKey: row.effect_key,
});

const insertChunk = preparedInsert("fan_outs");
const upsertAttempt = preparedWrite((db, ...values: (string | number | null)[]) =>
  db
    .insertInto("run_attempts")
    .values({
      run_id: values[0] as string,
      step_id: values[1] as string,
      item: values[2] as number,
      attempt: values[3] as number,
      status: values[4] as never,
      executor: values[5] as string,
      started_at: values[6] as string,
      finished_at: values[7] as string,
      usage: values[8] as string,
      error: values[9] as string,
      input: values[10] as string,
      effect_key: values[11] as string,
    })
    .onConflict((conflict) =>
      conflict.columns(["run_id", "step_id", "item", "attempt"]).doUpdateSet((eb) => ({
        status: eb.ref("excluded.status"),
        executor: eb.ref("excluded.executor"),
        started_at: eb.ref("excluded.started_at"),
        finished_at: eb.ref("excluded.finished_at"),
        usage: eb.ref("excluded.usage"),
        error: eb.ref("excluded.error"),
        input: eb.fn.coalesce("excluded.input", "run_attempts.input"),
        effect_key: eb.fn.coalesce("excluded.effect_key", "run_attempts.effect_key"),
      })),
    ),
);

type StepKey = "run_id" | "step_id" | "item";

const upsertStep = preparedForColumns((db, row: Partial<RunStepRow> & Pick<RunStepRow, StepKey>) => {
  const { run_id: _run, step_id: _step, item: _item, ...columns } = row;
  return db
    .insertInto("run_steps")
    .values({ ...EMPTY_STEP, ...row } as RunStepRow)
    .onConflict((conflict) => conflict.columns(["run_id", "step_id", "item"]).doUpdateSet(columns));
});

type StepWriter = Pick<
  RunWriter,
  | "saveStep"
  | "saveAttempt"
  | "saveChunk"
  | "children"
  | "saveCachedOutput"
  | "interruptAttempts"
  | "closeOpenSteps"
>;

export function stepWriter(trx: Kysely<Schema>, bytes: ByteCounter): StepWriter {
  const encode = valueEncoder(trx, bytes);
  return {
    async saveStep({ runId, stepId, item }, { state, output, items, error, ...fields }) {
      const columns: Partial<RunStepRow> = { state: encodeState(state) };
      for (const [key, value] of Object.entries(fields))
        columns[STEP_COLUMN_NAMES[key as keyof typeof STEP_COLUMN_NAMES]] = value as never;
      if (error !== undefined) columns.error = jsonText(error);
      if (items !== undefined && items !== null) {
        columns.items_total = items.total;
        columns.items_started = items.started;
        columns.items_done = items.done;
        columns.items_failed = items.failed;
        columns.items_bytes = items.bytes;
      }
      if (output !== undefined) columns.output = await encode(runId, output);
      await upsertStep(trx, { run_id: runId, step_id: stepId, item: encodeItem(item), ...columns });
    },

    async saveAttempt({ runId, stepId, item }, attempt) {
      const input = attempt.input === undefined ? null : await encode(runId, attempt.input);
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
        jsonText(attempt.usage),
        jsonText(attempt.error),
        input,
        attempt.effectKey ?? null,
      );
    },

    async saveChunk({ runId, stepId }, chunk, items) {
      const json = JSON.stringify(items);
      bytes.add(runId, json);
      await insertChunk(trx, { run_id: runId, step_id: stepId, chunk, items: json });
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
        ref: stepRefOf(row),
        childRun: row.child_run!,
      }));
    },

    async saveCachedOutput(key, expiresAt, output) {
      const row = { expires_at: expiresAt, output: output.text };
      await trx
        .insertInto("step_cache")
        .values({ key, ...row })
        .onConflict((conflict) => conflict.column("key").doUpdateSet(row))
        .execute();
    },

    async interruptAttempts(executor, at, ref) {
      let query = trx
        .updateTable("run_attempts")
        .set({ status: "interrupted", finished_at: at })
        .where("executor", "=", executor)
        .where("finished_at", "is", null);
      if (ref !== undefined) {
        query = query
          .where("run_id", "=", ref.runId)
          .where("step_id", "=", ref.stepId)
          .where("item", "=", encodeItem(ref.item));
      }
      return (await query.returning(ABANDONED_COLUMNS).execute()).map(abandonedAttempt);
    },

    async closeOpenSteps(runId, at) {
      const abandoned = await trx
        .updateTable("run_attempts")
        .set({ status: "cancelled", finished_at: at })
        .where("run_id", "=", runId)
        .where("finished_at", "is", null)
        .returning(ABANDONED_COLUMNS)
        .execute();
      await trx
        .updateTable("run_steps")
        .set({ state: encodeState("cancelled"), finished_at: at })
        .where("run_id", "=", runId)
        .where("state", "in", OPEN_STATES)
        .execute();
      return abandoned.map(abandonedAttempt);
    },
  };
}
