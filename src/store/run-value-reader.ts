/** Reads the values of runs: inputs, outputs, the items of fan-outs and definitions. */
import type { Kysely } from "kysely";
import { EncodedJson } from "../core/encoded-json.ts";
import type { Trial } from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { encodeItem } from "./item-column.ts";
import { parseJson } from "./json-column.ts";
import { prepared } from "./prepared.ts";
import { decodeDefinition, storedJson, decodeValue, decodeValues, valueText } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import { decodeState } from "./step-state-columns.ts";

const findFacts = prepared((db, id: string) => db.selectFrom("runs").select("facts").where("id", "=", id));
const findInputs = prepared((db, id: string) => db.selectFrom("runs").select("inputs").where("id", "=", id));
const findTrial = prepared((db, id: string) => db.selectFrom("runs").select("trial").where("id", "=", id));
const findState = prepared((db, id: string) => db.selectFrom("runs").select("state").where("id", "=", id));
const stepOutput = prepared((db, runId: string, stepId: string, item: number) =>
  db
    .selectFrom("run_steps")
    .select("output")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("item", "=", item),
);
const findChunk = prepared((db, runId: string, stepId: string, chunk: number) =>
  db
    .selectFrom("fan_outs")
    .select("items")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("chunk", "=", chunk),
);
const findVersion = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select("definition")
    .where("workflow_id", "=", id)
    .where("version", "=", version),
);

/** Number of items of a fan-out that one query reads. */
const ITEMS_PER_QUERY = 1_000;

type RunValueReader = Pick<
  RunReader,
  | "valueText"
  | "output"
  | "outputJson"
  | "itemOutputs"
  | "runOutput"
  | "inputs"
  | "state"
  | "trial"
  | "facts"
  | "itemChunk"
  | "versionDefinition"
  | "cachedOutput"
>;

export function runValueReader(db: Kysely<Schema>): RunValueReader {
  return {
    async valueText(at, range) {
      const column = await valueColumn(db, at);
      return column === undefined || column === null ? undefined : valueText(db, column, range);
    },

    async output({ runId, stepId, item }) {
      const [row] = await stepOutput(db, runId, stepId, encodeItem(item));
      if (row === undefined || row.output === null) return null;
      return (await decodeValue(db, row.output)) as Record<string, unknown>;
    },

    async outputJson({ runId, stepId, item }) {
      const [row] = await stepOutput(db, runId, stepId, encodeItem(item));
      return row === undefined || row.output === null
        ? null
        : new EncodedJson(await storedJson(db, row.output));
    },

    async itemOutputs({ runId, stepId }) {
      const results: Awaited<ReturnType<RunReader["itemOutputs"]>> = [];
      for (;;) {
        const rows = await db
          .selectFrom("run_steps")
          .select(["state", "error", "output"])
          .where("run_id", "=", runId)
          .where("step_id", "=", stepId)
          .where("item", ">=", results.length)
          .orderBy("item")
          .limit(ITEMS_PER_QUERY)
          .execute();
        const outputs = await decodeValues(
          db,
          rows.map(({ output }) => output),
        );
        for (const [i, row] of rows.entries()) {
          results.push({
            state: decodeState(row.state),
            error: parseJson(row.error),
            output: outputs[i] as Record<string, unknown> | null,
          });
        }
        if (rows.length < ITEMS_PER_QUERY) return results;
      }
    },

    async runOutput(runId) {
      const row = await db.selectFrom("runs").select("output").where("id", "=", runId).executeTakeFirst();
      return row === undefined || row.output === null ? null : decodeValue(db, row.output);
    },

    async trial(runId) {
      const [row] = await findTrial(db, runId);
      if (row === undefined || row.trial === null) return null;
      return (await decodeValue(db, row.trial)) as Trial;
    },

    async facts(runId) {
      const [row] = await findFacts(db, runId);
      return parseJson(row?.facts ?? null);
    },

    async inputs(runId) {
      const [row] = await findInputs(db, runId);
      return row === undefined ? {} : ((await decodeValue(db, row.inputs)) as Record<string, unknown>);
    },

    async state(runId) {
      const [row] = await findState(db, runId);
      if (row === undefined || row.state === null) return null;
      return (await decodeValue(db, row.state)) as Record<string, unknown>;
    },

    async itemChunk({ runId, stepId }, chunk) {
      const [row] = await findChunk(db, runId, stepId, chunk);
      return row === undefined ? [] : (JSON.parse(row.items) as unknown[]);
    },

    async versionDefinition(workflowId, version) {
      const [row] = await findVersion(db, workflowId, version);
      return decodeDefinition(db, row?.definition ?? null);
    },

    async cachedOutput(key, now) {
      const row = await db
        .selectFrom("step_cache")
        .select("output")
        .where("key", "=", key)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return row === undefined ? undefined : new EncodedJson(row.output);
    },
  };
}

async function valueColumn(
  db: Kysely<Schema>,
  at: Parameters<RunReader["valueText"]>[0],
): Promise<string | null | undefined> {
  switch (at.what) {
    case "inputs":
    case "output":
    case "state":
    case "committed": {
      const row = await db.selectFrom("runs").select(at.what).where("id", "=", at.runId).executeTakeFirst();
      return row?.[at.what as "output"];
    }
    case "step_output": {
      const [row] = await stepOutput(db, at.runId, at.stepId, encodeItem(at.item));
      return row?.output;
    }
    case "attempt_input": {
      const row = await db
        .selectFrom("run_attempts")
        .select("input")
        .where("run_id", "=", at.runId)
        .where("step_id", "=", at.stepId)
        .where("item", "=", encodeItem(at.item))
        .where("attempt", "=", at.attempt)
        .executeTakeFirst();
      return row?.input;
    }
  }
}
