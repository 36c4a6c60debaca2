/** Reads and writes the schedules of published workflows. */
import type { ExpressionBuilder, Kysely } from "kysely";
import type { ScheduleRecord, SkippedRuns } from "../core/model.ts";
import type { ScheduleFilter, ScheduleReader, ScheduleWriter } from "../core/schedule-ports.ts";
import { cappedCount } from "./capped-count.ts";
import { prepared } from "./prepared.ts";
import type { Schema, ScheduleRow } from "./schema.ts";
import { visibleRows } from "./visibility.ts";

const scheduleRecord = (row: Omit<ScheduleRow, "subject"> & { project: string }): ScheduleRecord => ({
  workflowId: row.workflow_id,
  project: row.project,
  version: row.version,
  cron: row.cron,
  timezone: row.timezone,
  overlap: row.overlap,
  paused: row.paused === 1,
  nextAt: row.next_at,
  lastAt: row.last_at,
  skipped: row.skipped === null ? null : (JSON.parse(row.skipped) as SkippedRuns),
  actor: { owner: row.owner, keyName: row.key_name, lineage: row.lineage },
});

const firstDue = prepared((db) =>
  db
    .selectFrom("schedules")
    .select("next_at")
    .where("next_at", "is not", null)
    .where((eb) => eb("paused", "=", eb.lit(0)))
    .orderBy("next_at")
    .limit(1),
);

/** Whether a schedule is that of a workflow that a caller can find. */
function ofVisibleWorkflow(
  eb: ExpressionBuilder<Schema, "schedules">,
  { project, visibility }: ScheduleFilter,
) {
  const columns = { project: "workflows.project", workflow: "workflows.id" };
  const conditions = [
    ...visibleRows(visibility, columns),
    ...visibleRows(project === undefined ? null : { projects: [project], workflows: null }, columns),
  ];
  if (conditions.length === 0) return eb.lit(true);
  return eb.exists(
    eb
      .selectFrom("workflows")
      .select("workflows.id")
      .whereRef("workflows.id", "=", "schedules.workflow_id")
      .where((of) => of.and(conditions)),
  );
}

const schedulesWithProject = (db: Kysely<Schema>) =>
  db
    .selectFrom("schedules")
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom("workflows")
        .select("workflows.project")
        .whereRef("workflows.id", "=", "schedules.workflow_id")
        .$asScalar()
        .$notNull()
        .as("project"),
    );

/** The first due one of each owner comes before the second of any. Executors ask twice a second. */
const dueSchedules = prepared((on, now: string, limit: number) =>
  on
    .selectFrom(
      schedulesWithProject(on)
        .select((eb) =>
          eb.fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("subject").orderBy("next_at").orderBy("workflow_id"))
            .as("turn"),
        )
        .where("next_at", "<=", now)
        .where((eb) => eb("paused", "=", eb.lit(0)))
        .as("due"),
    )
    .selectAll()
    .orderBy("turn")
    .orderBy("next_at")
    .limit(limit),
);

/** Sorts after every time in the database. */
const NEVER = "never";

export function scheduleReader(db: Kysely<Schema>): ScheduleReader {
  return {
    async find(workflowId) {
      const row = await schedulesWithProject(db)
        .where("workflow_id", "=", workflowId)
        .where("removed", "=", 0)
        .executeTakeFirst();
      return row === undefined ? undefined : scheduleRecord(row);
    },

    due: async (now, limit) => (await dueSchedules(db, now, limit)).map(scheduleRecord),

    async dueAfter([time, workflowId], limit) {
      const rows = await schedulesWithProject(db)
        .where((eb) => eb(eb.refTuple("next_at", "workflow_id"), ">", eb.tuple(time, workflowId)))
        .where((eb) => eb("paused", "=", eb.lit(0)))
        .orderBy("next_at")
        .orderBy("workflow_id")
        .limit(limit)
        .execute();
      return rows.map(scheduleRecord);
    },

    async page({ filter = {}, after, limit }) {
      const sorted = schedulesWithProject(db)
        .select((eb) =>
          eb
            .case()
            .when(eb.and([eb("paused", "=", eb.lit(0)), eb("next_at", "is not", null)]))
            .then(eb.ref("next_at"))
            .else(NEVER)
            .end()
            .$castTo<string>()
            .as("sort_time"),
        )
        .where("removed", "=", 0)
        .where((eb) => ofVisibleWorkflow(eb, filter));
      let query = db.selectFrom(sorted.as("schedules")).selectAll();
      if (after !== null) {
        query = query.where((eb) =>
          eb(eb.refTuple("sort_time", "workflow_id"), ">", eb.tuple(after[0], after[1])),
        );
      }
      const rows = await query
        .orderBy("sort_time")
        .orderBy("workflow_id")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(scheduleRecord),
        next: rows.length > limit ? [last!.sort_time, last!.workflow_id] : null,
      };
    },

    async count(filter = {}) {
      return cappedCount(
        db,
        db
          .selectFrom("schedules")
          .where("removed", "=", 0)
          .where((eb) => ofVisibleWorkflow(eb, filter)),
      );
    },

    nextAt: async () => (await firstDue(db))[0]?.next_at ?? null,
  };
}

export function scheduleWriter(trx: Kysely<Schema>): ScheduleWriter {
  return {
    ...scheduleReader(trx),

    async save({ workflowId, actor, ...schedule }) {
      const columns = {
        version: schedule.version,
        cron: schedule.cron,
        timezone: schedule.timezone,
        overlap: schedule.overlap,
        paused: Number(schedule.paused),
        removed: 0,
        next_at: schedule.nextAt,
        last_at: schedule.lastAt,
        skipped: schedule.skipped === null ? null : JSON.stringify(schedule.skipped),
        owner: actor.owner,
        key_name: actor.keyName,
        lineage: actor.lineage,
      };
      await trx
        .insertInto("schedules")
        .values({ workflow_id: workflowId, ...columns })
        .onConflict((conflict) => conflict.column("workflow_id").doUpdateSet(columns))
        .execute();
    },

    async remove(workflowId) {
      await trx
        .deleteFrom("schedules")
        .where("workflow_id", "=", workflowId)
        .where("paused", "=", 0)
        .execute();
      await trx
        .updateTable("schedules")
        .set({ removed: 1, skipped: null })
        .where("workflow_id", "=", workflowId)
        .execute();
    },

    async staysPaused(workflowId) {
      const row = await trx
        .selectFrom("schedules")
        .select("workflow_id")
        .where("workflow_id", "=", workflowId)
        .where("removed", "=", 1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async advance(workflowId, from, { version, nextAt, lastAt, skipped }) {
      const result = await trx
        .updateTable("schedules")
        .set({
          next_at: nextAt,
          ...(lastAt !== undefined && { last_at: lastAt }),
          ...(skipped !== undefined && { skipped: skipped && JSON.stringify(skipped) }),
        })
        .where("workflow_id", "=", workflowId)
        .where("next_at", "=", from)
        .where("version", "=", version)
        .where("paused", "=", 0)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
  };
}
