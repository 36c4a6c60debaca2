/** Reads and writes the state of workflows. */
import type { Kysely } from "kysely";
import {
  FIRST_STATE_REVISION,
  type WorkflowStateReader,
  type WorkflowStateWriter,
} from "../core/workflow-state-ports.ts";
import type { Schema } from "./schema.ts";
import { addStoredBytes } from "./stored-bytes.ts";

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

    async replace(workflowId, expected, { values, updatedAt, updatedBy }, subject) {
      const body = JSON.stringify(values);
      const columns = {
        subject,
        stored_bytes: Buffer.byteLength(body),
        revision: expected + 1,
        body,
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
        if (inserted !== undefined) await addStoredBytes(trx, subject, columns.stored_bytes);
        return inserted !== undefined;
      }
      const previous = await trx
        .selectFrom("workflow_states")
        .select(["subject", "stored_bytes"])
        .where("workflow_id", "=", workflowId)
        .where("revision", "=", expected)
        .executeTakeFirst();
      if (previous === undefined) return false;
      const { numUpdatedRows } = await trx
        .updateTable("workflow_states")
        .set(columns)
        .where("workflow_id", "=", workflowId)
        .where("revision", "=", expected)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return false;
      const changes = [
        { ...previous, bytes: -previous.stored_bytes },
        { subject, bytes: columns.stored_bytes },
      ];
      // In the order in which the counts of runs are written, so that transactions never wait for each other in a circle.
      for (const { subject: owner, bytes } of changes.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)))
        await addStoredBytes(trx, owner, bytes);
      return true;
    },
  };
}
