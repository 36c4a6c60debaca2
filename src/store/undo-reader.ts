/** Reads which steps of a run are to be undone, and which undos failed. */
import { type Kysely, sql } from "kysely";
import type { RunWriter } from "../core/run-ports.ts";
import { AFTER_UNDO_IDS, undoStepId } from "../core/undo-step-id.ts";
import { NO_ITEM, stepRefOf } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import type { Schema } from "./schema.ts";
import { encodeState } from "./step-state-columns.ts";

/** Maximum number of failed undos that a run lists. */
const MAX_FAILED = 20;

type UndoReader = Pick<RunWriter, "nextToUndo" | "countToUndo" | "failedUndos" | "hasUnfinishedChildren">;

export function undoReader(db: Kysely<Schema>): UndoReader {
  /** Steps, and items of fan-outs, that succeeded in this run itself, or took over an effect of an earlier run whose step did not succeed. */
  const succeeded = (runId: string) =>
    db
      .selectFrom("run_steps as done")
      .where("done.run_id", "=", runId)
      .where("done.state", "=", encodeState("succeeded"))
      .where((eb) =>
        eb.or([
          eb("done.reused_from", "is", null),
          eb.exists(
            eb
              .selectFrom("interruptions as i")
              .select("i.id")
              .whereRef("i.run_id", "=", "done.reused_from")
              .whereRef("i.step_id", "=", "done.step_id")
              .whereRef("i.item", "=", "done.item")
              .where("i.outcome", "=", sql.lit("happened" as const))
              .where((of) =>
                of.not(
                  of.exists(
                    of
                      .selectFrom("run_steps as earlier")
                      .select("earlier.item")
                      .whereRef("earlier.run_id", "=", "i.run_id")
                      .whereRef("earlier.step_id", "=", "i.step_id")
                      .whereRef("earlier.item", "=", "i.item")
                      .where("earlier.state", "=", encodeState("succeeded")),
                  ),
                ),
              ),
          ),
        ]),
      )
      .where("done.items_total", "is", null);
  return {
    async nextToUndo(runId, stepIds) {
      if (stepIds.length === 0) return undefined;
      const row = await succeeded(runId)
        .select(["done.run_id", "done.step_id", "done.item"])
        .where("done.step_id", "in", [...stepIds])
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("run_steps as undo")
                .select("undo.item")
                .whereRef("undo.run_id", "=", "done.run_id")
                .where(
                  "undo.step_id",
                  "=",
                  eb(eb.cast<string>(eb.val(undoStepId("")), "text"), "||", eb.ref("done.step_id")),
                )
                .whereRef("undo.item", "=", "done.item"),
            ),
          ),
        )
        // Each change of a run has a higher number than those before it.
        .orderBy("done.seq", "desc")
        .orderBy("done.item", "desc")
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : stepRefOf(row);
    },

    async countToUndo(runId, stepId) {
      const { count } = await succeeded(runId)
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("done.step_id", "=", stepId)
        .where("done.item", "!=", NO_ITEM)
        .executeTakeFirstOrThrow();
      return count;
    },

    async failedUndos(runId) {
      const rows = await db
        .selectFrom("run_steps")
        .select(["run_id", "step_id", "item", "error"])
        .where("run_id", "=", runId)
        .where("step_id", ">=", undoStepId(""))
        .where("step_id", "<", AFTER_UNDO_IDS)
        .where("state", "=", encodeState("failed"))
        .where("items_total", "is", null)
        .orderBy("seq")
        .limit(MAX_FAILED)
        .execute();
      return rows.map((row) => ({ ref: stepRefOf(row), error: parseJson(row.error)! }));
    },

    async hasUnfinishedChildren(runId) {
      const row = await db
        .selectFrom("runs")
        .select("id")
        .where("parent_run", "=", runId)
        .where("finished_at", "is", null)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
