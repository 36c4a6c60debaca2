/** Reads and writes the events that runs wait for. */
import type { Kysely } from "kysely";
import type { EventReader, EventWriter } from "../core/event-ports.ts";
import { decodeValue } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import { type ByteCounter, valueEncoder } from "./stored-bytes.ts";

export function eventReader(db: Kysely<Schema>): EventReader {
  return {
    async find({ runId, stepId }) {
      const row = await db
        .selectFrom("events")
        .select(["received_at", "body"])
        .where("run_id", "=", runId)
        .where("step_id", "=", stepId)
        .executeTakeFirst();
      return row === undefined
        ? undefined
        : { receivedAt: row.received_at, body: await decodeValue(db, row.body) };
    },
  };
}

export function eventWriter(trx: Kysely<Schema>, bytes: ByteCounter): EventWriter {
  const encode = valueEncoder(trx, bytes);
  return {
    ...eventReader(trx),

    async discard({ runId, stepId }) {
      await trx.deleteFrom("events").where("run_id", "=", runId).where("step_id", "=", stepId).execute();
    },

    async receive({ runId, stepId }, { receivedAt, body }) {
      const inserted = await trx
        .insertInto("events")
        .values({
          run_id: runId,
          step_id: stepId,
          received_at: receivedAt,
          body: await encode(runId, body),
        })
        .onConflict((conflict) => conflict.columns(["run_id", "step_id"]).doNothing())
        .returning("run_id")
        .executeTakeFirst();
      return inserted !== undefined;
    },
  };
}
