/** Reads and writes backtests. */
import { type ExpressionBuilder, type Kysely, type Selectable } from "kysely";
import type {
  BacktestDetails,
  BacktestFilter,
  BacktestReader,
  BacktestRecord,
  BacktestRunRecord,
  BacktestWriter,
  RunningBacktest,
} from "../core/backtest-ports.ts";
import type { BacktestResult } from "../../schemas/backtest.ts";
import { encodeJson } from "../core/encoded-json.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { cappedCount } from "./capped-count.ts";
import { forUpdate, lockName } from "./dialect.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { decodeDefinition, decodeValue, encodeDefinition, releaseValues, storeJson } from "./run-values.ts";
import type { BacktestRow, BacktestRunRow, Schema } from "./schema.ts";
import { addStoredBytes, type StoredPart } from "./stored-bytes.ts";
import { visibleRows } from "./visibility.ts";

/** Maximum number of backtests purged per transaction, which limits how long others wait for the lock. */
const MAX_PURGED_BACKTESTS = 10;
/** Maximum number of values that a backtest refers to: its definition, and the outputs that it is given. */
const VALUES_PER_BACKTEST = 2;

async function toRecord(db: Kysely<Schema>, row: BacktestRow): Promise<BacktestRecord> {
  return {
    ...toRunning(row),
    definition: await decodeDefinition(db, row.definition),
    given: (await decodeValue(db, row.given)) as BacktestRecord["given"],
  };
}

function toRunning(row: BacktestRow): RunningBacktest {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    project: row.project,
    version: row.version,
    sourceWorkflowId: row.source_workflow_id,
    reads: row.reads,
    digest: row.digest,
    status: row.status,
    total: row.total,
    message: row.message,
    summary: parseJson(row.summary),
    actor: {
      owner: row.owner,
      keyName: row.key_name,
      lineage: row.lineage,
      surface: row.surface,
      client: row.client,
    },
    keyLimits: parseJson(row.key_limits),
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    cancelledBy: row.cancelled_by,
  };
}

const toRunRecord = (row: Selectable<BacktestRunRow>): BacktestRunRecord => ({
  position: row.position,
  sourceRun: row.source_run,
  run: row.run,
  result: row.result,
  details: parseJson<BacktestDetails>(row.details),
});

const matching = (
  eb: ExpressionBuilder<Schema, "backtests">,
  { workflowId, version, visibility }: BacktestFilter,
) =>
  eb.and([
    eb("workflow_id", "=", workflowId),
    ...(version === undefined ? [] : [eb("version", "=", version), eb("definition", "is", null)]),
    ...visibleRows(visibility, { project: "backtests.project", workflow: "backtests.workflow_id" }),
    ...visibleRows(visibility && { projects: null, workflows: visibility.workflows }, {
      project: "backtests.project",
      workflow: "backtests.source_workflow_id",
    }),
  ]);

export function backtestReader(db: Kysely<Schema>): BacktestReader {
  const toRecords = (rows: readonly BacktestRow[]): Promise<BacktestRecord[]> =>
    Promise.all(rows.map((row) => toRecord(db, row)));
  const runsOf = (id: string) =>
    db.selectFrom("backtest_runs").selectAll().where("backtest_id", "=", id).orderBy("position");
  return {
    async find(id) {
      const row = await db.selectFrom("backtests").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toRecord(db, row);
    },

    async status(id) {
      const row = await db.selectFrom("backtests").select("status").where("id", "=", id).executeTakeFirst();
      return row?.status;
    },

    async running(limit) {
      const running = db
        .selectFrom("backtests")
        .selectAll()
        .select((eb) =>
          eb.fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("subject").orderBy("created_at").orderBy("id"))
            .as("turn"),
        )
        .where("status", "=", "running");
      const rows = await db
        .selectFrom(running.as("running"))
        .selectAll()
        .orderBy("turn")
        .orderBy("created_at")
        .limit(limit)
        .execute();
      return rows.map(toRunning);
    },

    async page({ filter, after, limit }) {
      let query = db
        .selectFrom("backtests")
        .selectAll()
        .where((eb) => matching(eb, filter));
      if (after !== null)
        query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after[0], after[1])));
      const rows = await query
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        items: await toRecords(page),
        next: rows.length > limit ? [last!.created_at, last!.id] : null,
      };
    },

    count: async (filter) =>
      cappedCount(
        db,
        db.selectFrom("backtests").where((eb) => matching(eb, filter)),
      ),

    async resultCounts(id) {
      const rows = await db
        .selectFrom("backtest_runs")
        .select(["result", (eb) => eb.fn.countAll<number>().as("count")])
        .where("backtest_id", "=", id)
        .where("result", "is not", null)
        .groupBy("result")
        .$narrowType<{ result: BacktestResult }>()
        .execute();
      return Object.fromEntries(rows.map(({ result, count }) => [result, count]));
    },

    async runs(id, { results, after, limit }) {
      if (results?.length === 0) return [];
      const rows = await runsOf(id)
        .$if(results !== undefined, (query) => query.where("result", "in", [...results!]))
        .$if(after !== null, (query) => query.where("position", ">", after!))
        .limit(limit)
        .execute();
      return rows.map(toRunRecord);
    },

    async open(id) {
      const rows = await runsOf(id).where("result", "is", null).where("run", "is not", null).execute();
      return rows.map(toRunRecord);
    },

    async next(id) {
      const row = await runsOf(id)
        .where("result", "is", null)
        .where("run", "is", null)
        .limit(1)
        .executeTakeFirst();
      return row && toRunRecord(row);
    },
  };
}

export function backtestWriter(trx: Kysely<Schema>): BacktestWriter {
  return {
    ...backtestReader(trx),

    async insert(backtest, sourceRuns) {
      const { id, actor, project } = backtest;
      const subject = usageSubjectOf(actor);
      const definition = jsonText(backtest.definition);
      const given = encodeJson(backtest.given).text;
      const bytes = Buffer.byteLength(definition ?? "") + Buffer.byteLength(given);
      // Its replays are trials, which an executor of an older release would execute.
      await assertNoOlderCopies(trx);
      await trx
        .insertInto("backtests")
        .values({
          id,
          workflow_id: backtest.workflowId,
          project,
          version: backtest.version,
          definition: await encodeDefinition(trx, id, definition),
          source_workflow_id: backtest.sourceWorkflowId,
          reads: backtest.reads,
          given: await storeJson(trx, id, given),
          digest: backtest.digest,
          status: backtest.status,
          total: backtest.total,
          message: backtest.message,
          summary: jsonText(backtest.summary),
          owner: actor.owner,
          key_name: actor.keyName,
          lineage: actor.lineage,
          key_limits: jsonText(backtest.keyLimits),
          surface: actor.surface,
          client: actor.client,
          subject,
          stored_bytes: bytes,
          created_at: backtest.createdAt,
          finished_at: backtest.finishedAt,
          cancelled_by: backtest.cancelledBy,
        })
        .execute();
      if (sourceRuns.length > 0)
        await trx
          .insertInto("backtest_runs")
          .values(
            sourceRuns.map((sourceRun, position) => ({ backtest_id: id, position, source_run: sourceRun })),
          )
          .execute();
      await addStoredBytes(trx, [{ subject, project, bytes }]);
    },

    async countRunning(subject) {
      await lockName(trx, "starts", subject);
      const { count } = await trx
        .selectFrom("backtests")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("subject", "=", subject)
        .where("status", "=", "running")
        .executeTakeFirstOrThrow();
      return count;
    },

    async lock(id) {
      const row = await forUpdate(
        trx,
        trx.selectFrom("backtests").selectAll().where("id", "=", id),
      ).executeTakeFirst();
      return row && toRecord(trx, row);
    },

    async setRun(id, position, run) {
      const { numUpdatedRows } = await trx
        .updateTable("backtest_runs")
        .set({ run })
        .where("backtest_id", "=", id)
        .where("position", "=", position)
        .where("run", "is", null)
        .where("result", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setResult(id, position, { result, details }) {
      const { numUpdatedRows } = await trx
        .updateTable("backtest_runs")
        .set({ result, details: jsonText(details) })
        .where("backtest_id", "=", id)
        .where("position", "=", position)
        .where("result", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setMessage(id, message) {
      await trx
        .updateTable("backtests")
        .set({ message })
        .where("id", "=", id)
        .where("status", "=", "running")
        .execute();
    },

    async endRunning(id, { status, message, finishedAt, cancelledBy, summary }) {
      const { numUpdatedRows } = await trx
        .updateTable("backtests")
        .set({
          status,
          message,
          finished_at: finishedAt,
          cancelled_by: cancelledBy,
          summary: jsonText(summary),
        })
        .where("id", "=", id)
        .where("status", "=", "running")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/**
 * Deletes backtests that ended before a time, with the runs of that time.
 * @param range.limit the number of rows of one backtest that one call deletes: others can't write meanwhile
 * @returns whether there may be more
 */
export async function purgeBacktests(
  trx: Kysely<Schema>,
  { before, limit }: { before: string; limit: number },
): Promise<boolean> {
  const ended = await trx
    .selectFrom("backtests")
    .select(["id", "subject", "project", "stored_bytes"])
    .where("finished_at", "<", before)
    .orderBy("finished_at")
    .limit(MAX_PURGED_BACKTESTS)
    .execute();
  const parts: StoredPart[] = [];
  let isMore = ended.length === MAX_PURGED_BACKTESTS;
  for (const { id, subject, project, stored_bytes: bytes } of ended) {
    if (await purgeRows(trx, id, limit)) {
      isMore = true;
      break;
    }
    await releaseValues(trx, id, VALUES_PER_BACKTEST);
    await trx.deleteFrom("backtests").where("id", "=", id).execute();
    parts.push({ subject, project, bytes: -bytes });
  }
  // All at once, because counts are locked in one order.
  await addStoredBytes(trx, parts);
  return isMore;
}

/** Deletes up to `limit` rows of a backtest's runs. @returns whether there may be more */
async function purgeRows(trx: Kysely<Schema>, id: string, limit: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("backtest_runs")
    .where("backtest_id", "=", id)
    .where("position", "in", (eb) =>
      eb
        .selectFrom("backtest_runs")
        .select("position")
        .where("backtest_id", "=", id)
        .orderBy("position")
        .limit(limit),
    )
    .executeTakeFirst();
  return numDeletedRows >= BigInt(limit);
}
