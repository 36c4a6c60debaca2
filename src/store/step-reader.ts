/** Reads the steps of runs, their items and attempts. */
import { type Kysely, sql } from "kysely";
import { type AttemptRecord, type StepRecord, type Usage } from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { jsonNumber } from "./dialect.ts";
import { decodeItem, encodeItem, NO_ITEM, stepRefOf } from "./item-column.ts";
import { executedItems, failedItems, itemReuse } from "./item-reuse.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { slotsOfRun } from "./rate-slots.ts";
import type { RunAttemptRow, RunStepRow, Schema } from "./schema.ts";
import { decodeState } from "./step-state-columns.ts";

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
  "effect_key",
] as const satisfies readonly (keyof RunAttemptRow)[];

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
    error: parseJson(row.error),
  };
}

const attemptRecord = (row: Pick<RunAttemptRow, (typeof ATTEMPT_COLUMNS)[number]>): AttemptRecord => ({
  stepId: row.step_id,
  item: decodeItem(row.item),
  attempt: row.attempt,
  status: row.status,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  usage: parseJson(row.usage),
  error: parseJson(row.error),
  effectKey: row.effect_key,
});

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

/** A partial index covers this query: it holds only the attempts that used a model. */
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

type StepReader = Pick<
  RunReader,
  | "steps"
  | "step"
  | "items"
  | "failedItems"
  | "itemReuse"
  | "executedItems"
  | "lastAttempts"
  | "usage"
  | "runningSteps"
  | "rateWaits"
  | "attemptsDue"
>;

export function stepReader(db: Kysely<Schema>): StepReader {
  return {
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

    async failedItems({ runId, stepId }, from, limit) {
      const numbers = await failedItems(db, runId, stepId, from, limit);
      if (numbers.length === 0) return [];
      const rows = await db
        .selectFrom("run_steps")
        .select(STEP_COLUMNS)
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", "in", numbers)
        .orderBy("item")
        .execute();
      return rows.map(stepRecord);
    },

    itemReuse: (runId) => itemReuse(db, runId),

    executedItems: ({ runId, stepId }, limit) => executedItems(db, runId, stepId, limit),

    async lastAttempts({ runId, stepId, item }, limit) {
      const rows = await db
        .selectFrom("run_attempts")
        .select(ATTEMPT_COLUMNS)
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .where("item", "=", encodeItem(item))
        .orderBy("attempt", "desc")
        .limit(limit)
        .execute();
      return rows.toReversed().map(attemptRecord);
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
      return rows.map(stepRefOf);
    },

    rateWaits: (runId, now) => slotsOfRun(db, runId, now),

    async attemptsDue(runId) {
      const rows = await db
        .selectFrom("jobs")
        .select((eb) => ["step_id" as const, eb.fn.min("due_at").as("due_at")])
        .where("run_id", "=", runId)
        .where("state", "=", sql.lit("later"))
        .where("kind", "=", sql.lit("step"))
        .groupBy("step_id")
        .execute();
      return new Map(rows.flatMap(({ step_id: id, due_at: at }) => (at === null ? [] : [[id, at] as const])));
    },
  };
}
