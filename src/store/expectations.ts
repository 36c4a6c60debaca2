/** Within which time published workflows must succeed. */
import { type Kysely, type Selectable, sql } from "kysely";
import { iso } from "../core/clock.ts";
import { durationMs } from "../core/duration.ts";
import type { ExpectationReader, ExpectationRecord, ExpectationWriter } from "../core/subscription-ports.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

const toRecord = (row: Selectable<Schema["expectations"]>): ExpectationRecord => ({
  workflowId: row.workflow_id,
  version: row.version,
  every: row.every,
  mail: JSON.parse(row.mail) as string[],
  publishedBy: row.published_by,
  since: row.since,
  dueAt: row.due_at,
  succeededAt: row.succeeded_at,
  overdueSince: row.overdue_since,
});

/** Every end of a run asks this. */
const byWorkflow = prepared((db, id: string) =>
  db.selectFrom("expectations").selectAll().where("workflow_id", "=", id),
);

export function expectationReader(db: Kysely<Schema>): ExpectationReader {
  return {
    async find(workflowId) {
      const [row] = await byWorkflow(db, workflowId);
      return row && toRecord(row);
    },

    async due(now, limit) {
      const rows = await db
        .selectFrom("expectations")
        .selectAll()
        .where("overdue_since", "is", null)
        .where("due_at", "<=", now)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("schedules")
                .select(sql.lit(1).as("one"))
                .whereRef("schedules.workflow_id", "=", "expectations.workflow_id")
                .where("schedules.paused", "=", 1)
                .where("schedules.removed", "=", 0),
            ),
          ),
        )
        .orderBy("due_at")
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },

    async overdue({ project, visibility, workflowId }, limit) {
      const columns = { project: "workflows.project", workflow: "workflows.id" };
      const rows = await db
        .selectFrom("expectations")
        .innerJoin("workflows", "workflows.id", "expectations.workflow_id")
        .selectAll("expectations")
        .select(["workflows.project", "workflows.name"])
        .where("overdue_since", "is not", null)
        .where((eb) =>
          eb.and([
            ...(workflowId === undefined ? [] : [eb("workflows.id", "=", workflowId)]),
            ...visibleRows(visibility, columns),
            ...visibleRows(project === undefined ? null : { projects: [project], workflows: null }, columns),
          ]),
        )
        .orderBy("overdue_since")
        .orderBy("workflows.id")
        .limit(limit)
        .execute();
      return rows.map((row) => Object.assign(toRecord(row), { project: row.project, name: row.name }));
    },
  };
}

export function expectationWriter(trx: Kysely<Schema>): ExpectationWriter {
  const { find, ...reader } = expectationReader(trx);
  return {
    find,
    ...reader,

    async save({ workflowId, mail, ...expectation }) {
      const columns = {
        version: expectation.version,
        every: expectation.every,
        mail: JSON.stringify(mail),
        published_by: expectation.publishedBy,
        since: expectation.since,
        due_at: expectation.dueAt,
        succeeded_at: expectation.succeededAt,
        overdue_since: expectation.overdueSince,
      };
      await trx
        .insertInto("expectations")
        .values({ workflow_id: workflowId, ...columns })
        .onConflict((conflict) => conflict.column("workflow_id").doUpdateSet(columns))
        .execute();
    },

    async remove(workflowId) {
      await trx.deleteFrom("expectations").where("workflow_id", "=", workflowId).execute();
    },

    async restart(workflowId, at, succeeded) {
      const found = await find(workflowId);
      if (found === undefined) return;
      await trx
        .updateTable("expectations")
        .set({
          since: at,
          due_at: iso(Date.parse(at) + durationMs(found.every)),
          overdue_since: null,
          ...(succeeded && { succeeded_at: at }),
        })
        .where("workflow_id", "=", workflowId)
        .where("version", "=", found.version)
        .execute();
    },

    async raiseAlert({ workflowId, dueAt, version }, at) {
      const { numUpdatedRows } = await trx
        .updateTable("expectations")
        .set({ overdue_since: at })
        .where("workflow_id", "=", workflowId)
        .where("version", "=", version)
        .where("due_at", "=", dueAt)
        .where("overdue_since", "is", null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  };
}
