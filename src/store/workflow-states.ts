/** Reads and writes the state of workflows. */
import type { Kysely } from "kysely";
import {
  FIRST_STATE_REVISION,
  type WorkflowStateReader,
  type WorkflowStateWriter,
} from "../core/workflow-state-ports.ts";
import type { Schema } from "./schema.ts";

export function workflowStateReader(db: Kysely<Schema>): WorkflowStateReader {
  return {
    async find(workflowId) {
      const row = await db
        .selectFrom("workflow_states")
        .selectAll()
        .where("workflow_id", "=", workflowId)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        revision: row.revision,
        values: JSON.parse(row.body) as Record<string, unknown>,
        updatedAt: row.updated_at,
        updatedBy: row.updated_by,
      };
    },
  };
}

export function workflowStateWriter(trx: Kysely<Schema>): WorkflowStateWriter {
  return {
    ...workflowStateReader(trx),

    async replace(workflowId, expected, { values, updatedAt, updatedBy }) {
      const columns = {
        revision: expected + 1,
        body: JSON.stringify(values),
        updated_at: updatedAt,
        updated_by: updatedBy,
      };
      if (expected === FIRST_STATE_REVISION) {
        const inserted = await trx
          .insertInto("workflow_states")
          .values({ workflow_id: workflowId, ...columns })
          .onConflict((conflict) => conflict.column("workflow_id").doNothing())
          .returning("workflow_id")
          .executeTakeFirst();
        return inserted !== undefined;
      }
      const { numUpdatedRows } = await trx
        .updateTable("workflow_states")
        .set(columns)
        .where("workflow_id", "=", workflowId)
        .where("revision", "=", expected)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  };
}
