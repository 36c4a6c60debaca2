/** Reads a few columns and values of many runs: a page takes one query for its order, one for the runs, and two for each value. */
import type { Kysely } from "kysely";
import type { ValueText } from "../core/model.ts";
import type { RunReader, ScannedRun, ScannedText, ScannedValue } from "../core/run-ports.ts";
import type { StepState } from "../core/step-states.ts";
import { isOneOf } from "./dialect.ts";
import { encodeItem } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { newestRuns } from "./run-lists.ts";
import { columnChars, valueTexts } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import { decodeState } from "./step-state-columns.ts";

/** @param ids a JSON list */
const findScanned = prepared((db, ids: string) =>
  db
    .selectFrom("runs")
    .select([
      "id",
      "workflow_id",
      "version",
      "status",
      "trigger",
      "created_at",
      "started_at",
      "finished_at",
      "error",
    ])
    .where((eb) => isOneOf(eb.ref("id"), ids))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc"),
);
const findStepOutputs = prepared((db, ids: string, stepId: string, item: number) =>
  db
    .selectFrom("run_steps")
    .select(["run_id", "output as column", "state"])
    .where((eb) => isOneOf(eb.ref("run_id"), ids))
    .where("step_id", "=", stepId)
    .where("item", "=", item),
);

/** Maximum length of the texts that a page reads, in characters; one run is read whatever its texts are. */
const MAX_PAGE_CHARS = 4_194_304;

/** A value of a run: its column, and the state of its step. */
interface ValueColumn {
  column: string | null;
  state?: StepState;
}

/** See `RunReader.scan`. */
export async function scanRuns(
  db: Kysely<Schema>,
  { filter, after, limit, values, maxChars }: Parameters<RunReader["scan"]>[0],
): ReturnType<RunReader["scan"]> {
  // One more than the page shows whether there is a next page.
  const keys = await newestRuns(db, { filter, after, limit: limit + 1 });
  const ids = JSON.stringify(keys.slice(0, limit).map(({ id }) => id));
  const rows = await findScanned(db, ids);
  const columns: ReadonlyMap<string, ValueColumn>[] = [];
  for (const value of values) columns.push(await columnsOf(db, ids, value));
  const read = rows.slice(0, countWithin(rows, columns, maxChars));
  const texts: (ScannedText | undefined)[][] = [];
  for (const byRun of columns) texts.push(await textsOf(db, read, byRun, maxChars));
  const last = read.length < rows.length ? read.at(-1) : keys.length > limit ? keys[limit - 1] : undefined;
  const items = read.map((row, index): ScannedRun => ({
    id: row.id,
    workflowId: row.workflow_id,
    version: row.version,
    status: row.status,
    trigger: row.trigger,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: parseJson(row.error),
    values: texts.map((ofValue) => ofValue[index]),
  }));
  return { items, next: last === undefined ? null : [last.created_at, last.id] };
}

/** The columns of a value, by the ids of their runs. @param ids a JSON list */
async function columnsOf(
  db: Kysely<Schema>,
  ids: string,
  value: ScannedValue,
): Promise<ReadonlyMap<string, ValueColumn>> {
  if (value.what === "step_output") {
    const rows = await findStepOutputs(db, ids, value.stepId, encodeItem(value.item));
    return new Map(rows.map(({ run_id: id, column, state }) => [id, { column, state: decodeState(state) }]));
  }
  const rows = await db
    .selectFrom("runs")
    .select(["id", `${value.what} as column`])
    .where((eb) => isOneOf(eb.ref("id"), ids))
    .execute();
  return new Map(rows.map(({ id, column }) => [id, { column }]));
}

/** Number of the first runs whose texts together are short enough for a page. */
function countWithin(
  rows: readonly { id: string }[],
  columns: readonly ReadonlyMap<string, ValueColumn>[],
  maxChars: number,
): number {
  let chars = 0;
  for (const [index, { id }] of rows.entries()) {
    for (const byRun of columns) {
      const length = columnChars(byRun.get(id)?.column ?? null);
      if (length <= maxChars) chars += length;
    }
    if (chars > MAX_PAGE_CHARS && index > 0) return index;
  }
  return rows.length;
}

async function textsOf(
  db: Kysely<Schema>,
  rows: readonly { id: string }[],
  byRun: ReadonlyMap<string, ValueColumn>,
  maxChars: number,
): Promise<(ScannedText | undefined)[]> {
  const columns = rows.map(({ id }) => byRun.get(id));
  const texts = await valueTexts(
    db,
    columns.map((found) => found?.column ?? null),
    maxChars,
  );
  return texts.map((text, index) => {
    const state = columns[index]?.state;
    if (state === undefined) return text;
    const { text: output, chars } = text ?? NO_OUTPUT;
    return { text: output, chars, state };
  });
}

const NO_OUTPUT: ValueText = { text: "", chars: 0 };
