/** Reads a few columns and values of many runs: a page takes one query for its order, one for the runs, and two for each value. */
import type { Kysely } from "kysely";
import type { ListPosition, ValueText } from "../core/model.ts";
import type { RunReader, ScannedRun, ScannedText, ScannedValue } from "../core/run-ports.ts";
import { isOneOf } from "./dialect.ts";
import { encodeItem } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { newestRuns } from "./run-lists.ts";
import { valueTexts } from "./run-values.ts";
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

/** See `RunReader.scan`. */
export async function scanRuns(
  db: Kysely<Schema>,
  { filter, after, limit, values, maxChars }: Parameters<RunReader["scan"]>[0],
): ReturnType<RunReader["scan"]> {
  // One more than the page shows whether there is a next page.
  const keys = await newestRuns(db, { filter, after, limit: limit + 1 });
  const listed = keys.slice(0, limit);
  const ids = JSON.stringify(listed.map(({ id }) => id));
  const rows = await findScanned(db, ids);
  const texts: ReadonlyMap<string, ScannedText>[] = [];
  for (const value of values) texts.push(await textsOf(db, ids, value, maxChars));
  const last = listed.at(-1);
  const next: ListPosition | null = keys.length > limit ? [last!.created_at, last!.id] : null;
  const items = rows.map((row): ScannedRun => ({
    id: row.id,
    workflowId: row.workflow_id,
    version: row.version,
    status: row.status,
    trigger: row.trigger,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: parseJson(row.error),
    values: texts.map((byRun) => byRun.get(row.id)),
  }));
  return { items, next };
}

/** The texts of a value of these runs, by their ids. */
async function textsOf(
  db: Kysely<Schema>,
  ids: string,
  value: ScannedValue,
  maxChars: number,
): Promise<ReadonlyMap<string, ScannedText>> {
  if (value.what === "step_output") {
    const rows = await findStepOutputs(db, ids, value.stepId, encodeItem(value.item));
    const outputs = await valueTexts(db, rows, maxChars);
    return new Map(
      rows.map((row): [string, ScannedText] => [
        row.run_id,
        { ...(outputs.get(row.run_id) ?? NO_OUTPUT), state: decodeState(row.state) },
      ]),
    );
  }
  const rows = await db
    .selectFrom("runs")
    .select(["id as run_id", `${value.what} as column`])
    .where((eb) => isOneOf(eb.ref("id"), ids))
    .execute();
  return valueTexts(db, rows, maxChars);
}

const NO_OUTPUT: ValueText = { text: "", chars: 0 };
