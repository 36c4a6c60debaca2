/** Reads and writes the triggers of published workflows. */
import type { Kysely } from "kysely";
import type { WorkflowStatus } from "../../schemas/workflow.ts";
import { newTriggerId } from "../core/ids.ts";
import type { TriggerReader, TriggerRecord, TriggerWriter } from "../core/trigger-ports.ts";
import type { Schema } from "./schema.ts";
import type { TriggerRow } from "./trigger-schema.ts";

const toRecord = (row: TriggerRow & { project: string; status: WorkflowStatus }): TriggerRecord => ({
  id: row.id,
  workflowId: row.workflow_id,
  project: row.project,
  name: row.name,
  version: row.version,
  removed: row.removed === 1,
  archived: row.status === "archived",
  rotation: row.rotation,
  createdAt: row.created_at,
  rotatedAt: row.rotated_at,
  actor: { owner: row.owner, keyName: row.key_name, lineage: row.lineage },
});

const withProject = (db: Kysely<Schema>) =>
  db
    .selectFrom("triggers")
    .innerJoin("workflows", "workflows.id", "triggers.workflow_id")
    .selectAll("triggers")
    .select(["workflows.project", "workflows.status"]);

export function triggerReader(db: Kysely<Schema>): TriggerReader {
  return {
    async find(id) {
      const row = await withProject(db).where("triggers.id", "=", id).executeTakeFirst();
      return row && toRecord(row);
    },

    async ofWorkflow(workflowId) {
      const rows = await withProject(db)
        .where("triggers.workflow_id", "=", workflowId)
        .where("triggers.removed", "=", 0)
        .orderBy("triggers.name")
        .execute();
      return rows.map(toRecord);
    },
  };
}

export function triggerWriter(trx: Kysely<Schema>): TriggerWriter {
  const removeAll: TriggerWriter["removeAll"] = async (workflowId) => {
    await trx.updateTable("triggers").set({ removed: 1 }).where("workflow_id", "=", workflowId).execute();
  };
  return {
    ...triggerReader(trx),
    removeAll,

    async save({ workflowId, version, actor }, names, createdAt) {
      await removeAll(workflowId);
      const columns = {
        version,
        removed: 0,
        owner: actor.owner,
        key_name: actor.keyName,
        lineage: actor.lineage,
      };
      for (const name of names)
        await trx
          .insertInto("triggers")
          .values({
            ...columns,
            id: newTriggerId(),
            workflow_id: workflowId,
            name,
            rotation: 0,
            created_at: createdAt,
            rotated_at: null,
          })
          .onConflict((conflict) => conflict.columns(["workflow_id", "name"]).doUpdateSet(columns))
          .execute();
    },

    async rotate({ id, rotation }, rotatedAt) {
      const { numUpdatedRows } = await trx
        .updateTable("triggers")
        .set({ rotation: rotation + 1, rotated_at: rotatedAt })
        .where("id", "=", id)
        .where("rotation", "=", rotation)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}
