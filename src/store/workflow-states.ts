/** Reads and writes the state of workflows. */
import type { Kysely } from "kysely";
import {
  FIRST_STATE_REVISION,
  type WorkflowStateReader,
  type WorkflowStateWriter,
} from "../core/workflow-state-ports.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { addStateChange, stateChanges } from "./state-changes.ts";
import { addStoredBytes } from "./stored-bytes.ts";

const findProject = prepared((db, id: string) =>
  db.selectFrom("workflows").select("project").where("id", "=", id),
);
export const projectOf = async (db: Kysely<Schema>, workflowId: string): Promise<string> =>
  (await findProject(db, workflowId))[0]!.project;

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

    history: (query) => stateChanges(db, query),

    async countHistory(workflowId) {
      const { count } = await db
        .selectFrom("state_changes")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("workflow_id", "=", workflowId)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

export function workflowStateWriter(trx: Kysely<Schema>): WorkflowStateWriter {
  return {
    ...workflowStateReader(trx),
    projectOf: (workflowId) => projectOf(trx, workflowId),

    async replace(workflowId, expected, { values, updatedAt, updatedBy, change }, subject) {
      const body = JSON.stringify(values);
      const addChange = (project: string, before: string): Promise<void> =>
        addStateChange(trx, {
          ...change,
          workflowId,
          project,
          subject,
          revision: expected + 1,
          at: updatedAt,
          by: updatedBy,
          before: JSON.parse(before) as Record<string, unknown>,
          after: values,
        });
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
        if (inserted === undefined) return false;
        const project = await projectOf(trx, workflowId);
        await addStoredBytes(trx, [{ subject, project, bytes: columns.stored_bytes }]);
        await addChange(project, "{}");
        return true;
      }
      const previous = await trx
        .selectFrom("workflow_states")
        .select(["subject", "stored_bytes", "body"])
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
      const project = await projectOf(trx, workflowId);
      await addStoredBytes(trx, [
        { subject: previous.subject, project, bytes: -previous.stored_bytes },
        { subject, project, bytes: columns.stored_bytes },
      ]);
      await addChange(project, previous.body);
      return true;
    },
  };
}
