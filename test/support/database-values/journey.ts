/**
 * The way of values through a run: a `sql` step reads them, an `http` step sends them, `scratch` loads them, another `sql` step
 * writes them back, the state keeps them, and an MCP client reads them.
 */
import { onTestFinished } from "vitest";
import { getWorkflowState } from "../../../tools/workflow-state/get-workflow-state.ts";
import { createWorkflow } from "../../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../../tools/workflows/publish-workflow.ts";
import { testInstance } from "../instance.ts";
import { connect, outputOf } from "../mcp.ts";
import { mockHttpServer, sendJson } from "../mock-http-server.ts";
import { callAs, keyPrincipal } from "../users.ts";
import { parseWritten } from "./compare.ts";
import type { ColumnType } from "./types.ts";

/** A row, whose numbers are as they were written. */
interface Row {
  i: unknown;
  v: unknown;
}

export interface StepFailure {
  code: string;
  message: string;
}

/** The rows as each place got them, and the errors of the steps that failed. */
export interface Arrived {
  /** The error of the whole run. */
  run?: StepFailure;
  http: Row[];
  mcp: Row[];
  scratch: Row[];
  state: Row[];
  failures: { send?: StepFailure; load?: StepFailure; back?: StepFailure };
}

export interface Journey {
  /** Sends the values from `first` on through a run. @param table the number of its table */
  travel(table: number, type: ColumnType, first: number, count: number): Promise<Arrived>;
}

/** @param database the entry of the configuration, named `source` */
export async function openJourney(database: object, env: Record<string, string> = {}): Promise<Journey> {
  const peer = await mockHttpServer((_request, response) => sendJson(response, {}));
  const config = {
    databases: [{ name: "source", access: "read-write", ...database }],
    http: { allowed_hosts: [peer.host] },
  };
  const instance = await testInstance({ config, env });
  await instance.executor({ config, env });
  const call = callAs(instance, keyPrincipal());
  const { value: key } = await instance.key();
  const client = await connect("v2 that negotiates", (await instance.mcp({ config, env })).url, key);
  onTestFinished(() => client.close().catch(() => {}));
  const workflows = new Map<string, string>();

  async function workflowOf(table: number, type: ColumnType, count: number): Promise<string> {
    const name = `t${table}-${count}`;
    const known = workflows.get(name);
    if (known !== undefined) return known;
    const { id } = await call(createWorkflow, {
      name,
      definition: definitionOf(table, type, count, peer.url),
    });
    await call(publishWorkflow, { workflow_id: id });
    workflows.set(name, id);
    return id;
  }

  return {
    async travel(table, type, first, count) {
      const workflowId = await workflowOf(table, type, count);
      peer.received.length = 0;
      const answer = outputOf(
        await client.call("run_workflow", { workflow_id: workflowId, inputs: { first }, wait: 50 }),
      );
      const { id, status, error } = answer as { id: string; status: string; error: StepFailure | null };
      const none = { http: [], mcp: [], scratch: [], state: [], failures: {} };
      if (status !== "succeeded") return { ...none, run: error ?? { code: status, message: "" } };
      const output = parseWritten(await readValue(id)) as Record<string, never>;
      const state = JSON.stringify(await call(getWorkflowState, { workflow_id: workflowId }));
      const body = peer.received[0]?.body;
      return {
        http: body === undefined ? [] : (parseWritten(body) as { rows: Row[] }).rows,
        mcp: output["rows"]!,
        scratch: output["loaded"] ?? [],
        state: (parseWritten(state) as { values: { kept: Row[] } }).values.kept,
        failures: failuresOf(output),
      };
    },
  };

  /** The output of a run, as the client gets it. */
  async function readValue(runId: string): Promise<string> {
    let text = "";
    for (let offset: number | null = 0; offset !== null;) {
      const page = outputOf(
        await client.call("get_run_value", { run_id: runId, ref: "output", offset, max_chars: 20_000 }),
      ) as { text: string; next_offset: number | null };
      text += page.text;
      offset = page.next_offset;
    }
    return text;
  }
}

function failuresOf(output: Record<string, StepFailure | null>): Arrived["failures"] {
  const { send, load, back } = output;
  return { ...(send && { send }), ...(load && { load }), ...(back && { back }) };
}

const cell = (index: number, field: string): string => `steps.read.rows[${index}].${field}`;

function definitionOf(table: number, { read, back, encode = false }: ColumnType, count: number, url: string) {
  const rows = Array.from(
    { length: count },
    (_, index) => `(:i${index}, ${back?.(`:v${index}`) ?? `:v${index}`})`,
  );
  const params = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      [`i${index}`, `\${{ ${cell(index, "i")} }}`],
      [`v${index}`, `\${{ ${encode ? `to_json(${cell(index, "v")})` : cell(index, "v")} }}`],
    ]).flat(),
  ) as Record<string, string>;
  const kept = { on_error: "continue" };
  return {
    inputs: { type: "object", properties: { first: { type: "integer" } }, required: ["first"] },
    state: { kept: { default: null } },
    steps: [
      {
        id: "read",
        type: "sql",
        database: "source",
        query: `SELECT i, ${read?.("v") ?? "v"} AS v FROM src_${table} WHERE i >= :first ORDER BY i LIMIT ${count}`,
        params: { first: "${{ inputs.first }}" },
      },
      { id: "send", type: "http", method: "POST", url, body: { rows: "${{ steps.read.rows }}" }, ...kept },
      {
        id: "load",
        type: "sql",
        database: "scratch",
        tables: { t: "${{ steps.read.rows }}" },
        query: "SELECT i, v FROM t ORDER BY i",
        ...kept,
      },
      {
        id: "back",
        type: "sql",
        database: "source",
        write: true,
        query: `INSERT INTO dst_${table} (i, v) VALUES ${rows.join(", ")}`,
        params,
        ...(back === null && { if: "false" }),
        ...kept,
      },
    ],
    output: {
      rows: "${{ steps.read.rows }}",
      loaded: "${{ steps.load.rows }}",
      send: "${{ steps.send.error }}",
      load: "${{ steps.load.error }}",
      back: "${{ steps.back.error }}",
    },
    commit: { kept: "${{ steps.read.rows }}" },
  };
}
