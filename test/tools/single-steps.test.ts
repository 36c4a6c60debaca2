/** Runs of single steps: recorded like any run, of no workflow, and within the limits of who starts them. */
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { getApproval } from "../../tools/approvals/get-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { queryDatabase } from "../../tools/environment/query-database.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { getRunDefinition } from "../../tools/runs/get-run-definition.ts";
import { getRunValue } from "../../tools/runs/get-run-value.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runStep } from "../../tools/runs/run-step.ts";
import { createSqliteFile } from "../support/databases.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const HELLO = { id: "hello", type: "set", values: { greeting: "Good morning, ${{ inputs.name }}" } };

/** An instance with forty orders in a database, and a second database. */
async function open(more: object = {}) {
  const rows = Array.from({ length: 40 }, (_, at) => `(${at + 1}, 'region ${at % 4}', ${at * 10})`);
  const dataset = createSqliteFile(
    temporaryDirectory(),
    `CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, amount REAL); INSERT INTO orders VALUES ${rows.join(", ")}`,
  );
  const config = {
    databases: [
      { name: "shop", type: "sqlite", dataset },
      { name: "ledger", type: "sqlite", dataset, access: "read-write" },
    ],
    ...more,
  };
  const instance = await testInstance({ clock: fakeClock(), config });
  await instance.executor({ config });
  const as = (scopes: readonly Scope[], keyLimits: KeyLimits | null = null) => {
    const principal = keyPrincipal(scopes);
    return callAs(instance, { ...principal, access: { ...principal.access, keyLimits } });
  };
  return { instance, as, call: callAs(instance, keyPrincipal()) };
}

describe("A single step", () => {
  it("is run and recorded as a run of its own", async () => {
    const { call } = await open();
    const run = await call(runStep, { step: HELLO, inputs: { name: "Ann" }, wait: 20 });
    expect(run).toMatchObject({
      kind: "step",
      workflow_id: null,
      version: null,
      step: { id: "hello", type: "set" },
      status: "succeeded",
      inputs: { name: "Ann" },
      output: { greeting: "Good morning, Ann" },
    });
    expect(run).not.toHaveProperty("patched");
    const { items } = await call(listRuns, {});
    expect(items).toMatchObject([{ id: run.id, kind: "step", workflow_id: null, step: { id: "hello" } }]);
    expect(await call(getRun, { run_id: run.id, detail: "full" })).toMatchObject({
      steps: [{ id: "hello", status: "succeeded", output: { greeting: "Good morning, Ann" } }],
    });
    expect(await call(getRunDefinition, { run_id: run.id })).toMatchObject({
      workflow_id: null,
      version: null,
      patched: false,
      definition: { steps: [HELLO] },
    });
  });

  it("has its type as its id unless it names one", async () => {
    const { call } = await open();
    const run = await call(runStep, { step: { type: "set", values: { x: 1 } }, wait: 20 });
    expect(run.step).toEqual({ id: "set", type: "set" });
  });

  it("takes values from the outputs of earlier runs", async () => {
    const { call } = await open();
    const query = "SELECT id, region FROM orders ORDER BY id LIMIT 3";
    const first = await call(runStep, { step: { type: "sql", database: "shop", query }, wait: 20 });
    const run = await call(runStep, {
      step: { type: "set", values: { ids: "${{ inputs.rows.map(r, r.id) }}", one: "${{ inputs.one }}" } },
      from: { rows: `${first.id}.rows`, one: `${first.id}.rows[1].region` },
      wait: 20,
    });
    expect(run.output).toEqual({ ids: [1, 2, 3], one: "region 1" });
    const named = await call(runStep, {
      step: { type: "set", values: { row: { größe: { "2024": [7] } } } },
      wait: 20,
    });
    const taken = await call(runStep, {
      step: { type: "set", values: { n: "${{ inputs.n }}" } },
      from: { n: `${named.id}.row.größe.2024[0]` },
      wait: 20,
    });
    expect(taken.output).toEqual({ n: 7 });
  });

  it("says what is wrong with a source of values", async () => {
    const { call } = await open();
    const step = { type: "set", values: { x: 1 } };
    const { id } = await call(runStep, { step: HELLO, inputs: { name: "Ann" }, wait: 20 });
    const failed = await call(runStep, { step: { type: "assert", that: "1 > 2" }, wait: 20 });
    expect(failed.status).toBe("failed");
    await expect(
      call(runStep, { step, from: { a: `${id}.greting`, b: `${id}.greeting[0]`, c: failed.id } }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "from.a", code: "not_found", allowed: ["greeting"] },
          { path: "from.b", code: "not_found", message: expect.stringContaining("is a string") as string },
          { path: "from.c", code: "no_output", message: expect.stringContaining("it is failed") as string },
        ],
      },
    });
    await expect(call(runStep, { step, from: { a: "run_none.rows" } })).rejects.toMatchObject({
      code: "run_not_found",
    });
    await expect(
      call(runStep, { step, inputs: { a: 1 }, from: { a: `${id}.greeting` } }),
    ).rejects.toMatchObject({ details: { errors: [{ path: "from.a", code: "duplicate" }] } });
    await expect(call(runStep, { step, from: { a: "rows" } })).rejects.toMatchObject({
      details: { errors: [{ path: "from.a" }] },
    });
  });

  it("is checked before anything runs, and says where the issue is", async () => {
    const { call } = await open();
    await expect(
      call(runStep, { step: { type: "sql", database: "shop", query: "SELECT nothing FROM orders" } }),
    ).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "step.query", message: expect.stringContaining("nothing") as string }] },
    });
    await expect(call(runStep, { step: { type: "sett", values: {} }, inputs: {} })).rejects.toMatchObject({
      details: { errors: [{ path: "step.type", did_you_mean: "set" }] },
    });
    await expect(
      call(runStep, { step: { ...HELLO, needs: ["other"] }, inputs: { name: "Ann" } }),
    ).rejects.toMatchObject({ code: "invalid_input" });
    await expect(
      call(runStep, { step: { type: "set", values: { x: "${{ inputs.nme }}" } }, inputs: { name: "Ann" } }),
    ).rejects.toMatchObject({
      details: { errors: [{ did_you_mean: expect.stringContaining("name") as string }] },
    });
    expect((await call(listRuns, {})).items).toEqual([]);
  });

  it("needs the scopes run and write, and no limit to workflows", async () => {
    const { as } = await open();
    const input = { step: HELLO, inputs: { name: "Ann" } };
    await expect(as(["run"])(runStep, input)).rejects.toMatchObject({ code: "missing_scope" });
    await expect(as(["write"])(runStep, input)).rejects.toMatchObject({ code: "missing_scope" });
    expect((await as(["run", "write"])(runStep, input)).kind).toBe("step");
  });

  it("uses only the databases and models that the key is limited to", async () => {
    const { as } = await open();
    const limited = as(["run", "write"], { databases: ["shop"] });
    const step = { type: "sql", query: "SELECT 1 AS n" };
    await limited(runStep, { step: { ...step, database: "shop" } });
    await expect(limited(runStep, { step: { ...step, database: "ledger" } })).rejects.toMatchObject({
      code: "not_permitted",
      details: { errors: [{ code: "beyond_key_limits" }] },
    });
    await expect(limited(queryDatabase, { database: "ledger", sql: "SELECT 1 AS n" })).rejects.toMatchObject({
      code: "database_not_found",
    });
  });

  it("is found by nobody who is limited to workflows", async () => {
    const { call, as } = await open();
    const { id } = await call(runStep, { step: HELLO, inputs: { name: "Ann" }, wait: 20 });
    const limited = as(["read", "run"], { workflows: ["some-workflow"] });
    await expect(limited(getRun, { run_id: id })).rejects.toMatchObject({ code: "run_not_found" });
    expect((await limited(listRuns, {})).items).toEqual([]);
  });

  it("is retried as it was, not changed", async () => {
    const { call } = await open();
    const { id } = await call(runStep, { step: HELLO, inputs: { name: "Ann" }, wait: 20 });
    const again = await call(retryRun, { run_id: id, inputs: { name: "Ben" }, wait: 20 });
    expect(again).toMatchObject({
      kind: "step",
      retry_of: id,
      output: { greeting: "Good morning, Ben" },
    });
    await expect(call(retryRun, { run_id: id, definition: { steps: [HELLO] } })).rejects.toMatchObject({
      details: { errors: [{ path: "definition", code: "not_allowed" }] },
    });
    await expect(call(retryRun, { run_id: id, version: 1 })).rejects.toMatchObject({
      details: { errors: [{ path: "version", fix: expect.stringContaining("run_step") as string }] },
    });
  });

  it("can ask a person, who is not the one who wrote it", async () => {
    const { instance } = await open({ approvals: { by_starter: true, by_author: false } });
    const people = await Promise.all(
      ["ann@example.com", "ben@example.com"].map(async (email) =>
        callAs(instance, (await signedInUser(instance, { email, role: "admin" })).principal),
      ),
    );
    const [ann, ben] = [people[0]!, people[1]!];
    const run = await ann(runStep, { step: { id: "ask", type: "approval", message: "Go on?" }, wait: 20 });
    expect(run).toMatchObject({ status: "waiting", approvals: [{ step_id: "ask" }] });
    const { items } = await ann(listApprovals, { run_id: run.id });
    expect(items).toMatchObject([
      {
        workflow_id: null,
        plan: { workflows: [{ workflow_id: null, version: null, role: "run", steps: [] }] },
      },
    ]);
    const { id } = items[0]!;
    expect(await ben(getApproval, { approval_id: id })).toMatchObject({ workflow_id: null });
    await expect(ann(decideApproval, { approval_id: id, decision: "approve" })).rejects.toMatchObject({
      code: "approval_not_yours",
      message: expect.stringContaining(`You wrote the step that the run ${run.id} executes`) as string,
    });
    expect(await ben(decideApproval, { approval_id: id, decision: "approve" })).toMatchObject({
      status: "approved",
    });
  });

  it("counts against the limits of its owner", async () => {
    const { call } = await open({ limits: { per_key: { runs_per_hour: 2 } } });
    await call(runStep, { step: { type: "set", values: { x: 1 } } });
    await call(queryDatabase, { database: "shop", sql: "SELECT 1 AS n" });
    await expect(call(runStep, { step: { type: "set", values: { x: 1 } } })).rejects.toMatchObject({
      code: "too_many_runs",
    });
    await expect(call(queryDatabase, { database: "shop", sql: "SELECT 1 AS n" })).rejects.toMatchObject({
      code: "too_many_runs",
    });
  });

  it("is started once with one idempotency key", async () => {
    const { call } = await open();
    const input = { step: { type: "set", values: { x: 1 } }, idempotency_key: "once" };
    const [one, two] = [await call(runStep, input), await call(runStep, input)];
    expect(two.id).toBe(one.id);
  });
});

describe("query_database", () => {
  it("returns the first rows, and where the others are", async () => {
    const { call } = await open();
    const sql = "SELECT id, region FROM orders WHERE amount >= :least ORDER BY id";
    const answer = await call(queryDatabase, { database: "shop", sql, params: { least: 50 } });
    expect(answer).toMatchObject({
      status: "succeeded",
      columns: [{ name: "id" }, { name: "region" }],
      row_count: 35,
      ref: "output",
    });
    expect(answer.rows).toHaveLength(20);
    expect(answer.rows![0]).toEqual({ id: 6, region: "region 1" });
    expect(answer.next).toBe(
      "20 of 35 rows are shown, as max_rows says. Raise it (1000 at most), or read all with get_run_value, " +
        `run_id and ref "output" (GET /runs/${answer.run_id}/values/output).`,
    );
    const whole = await call(getRunValue, { run_id: answer.run_id, ref: "output", max_chars: 20_000 });
    expect((JSON.parse(whole.text) as { rows: unknown[] }).rows).toHaveLength(35);
    const all = await call(queryDatabase, { database: "shop", sql, params: { least: 50 }, max_rows: 1_000 });
    expect(all.rows).toHaveLength(35);
    expect(all).not.toHaveProperty("ref");
    expect(await call(getRun, { run_id: all.run_id })).toMatchObject({
      kind: "step",
      step: { id: "query", type: "sql" },
    });
  });

  it("keeps its rows within the number of characters, and cuts texts only where not one row fits", async () => {
    const { call } = await open();
    const sql = "SELECT id, hex(zeroblob(500)) AS body FROM orders ORDER BY id";
    const answer = await call(queryDatabase, { database: "shop", sql });
    expect(JSON.stringify(answer.rows).length).toBeLessThanOrEqual(8_000);
    expect(answer.rows).toHaveLength(7);
    expect(answer).toMatchObject({ row_count: 40, ref: "output" });
    expect(answer).not.toHaveProperty("shortened");
    expect(answer.next).toBe(
      "7 of 40 rows are shown: an answer holds 8000 characters of rows. Select fewer columns, or read all with get_run_value, " +
        `run_id and ref "output" (GET /runs/${answer.run_id}/values/output).`,
    );
    const wide = "SELECT id, replace(hex(zeroblob(5000)), '00', 'ab') AS body FROM orders";
    const cut = await call(queryDatabase, { database: "shop", sql: wide });
    expect(cut).toMatchObject({ shortened: true, ref: "output", row_count: 40 });
    expect(cut.rows).toHaveLength(1);
    expect(cut.rows![0]!["body"]).toMatch(/^(ab)+… \(10000 characters\)$/);
    const only = await call(queryDatabase, { database: "shop", sql: `${wide} LIMIT 1` });
    expect(only).toMatchObject({ shortened: true, ref: "output", row_count: 1 });
    expect(only.next).toContain('ref "output"');
  });

  it("says what to do where the query has more rows than are recorded, also if all recorded ones are shown", async () => {
    const { call } = await open();
    const sql = "SELECT 1 AS n FROM orders a, orders b";
    const hint =
      "The query has more rows than the 1000 that were recorded: filter or aggregate them, or add ORDER BY, LIMIT and OFFSET.";
    const all = await call(queryDatabase, { database: "shop", sql, max_rows: 1_000 });
    expect(all).toMatchObject({
      row_count: 1_000,
      truncated: true,
      next: expect.stringContaining(hint) as string,
    });
    const part = await call(queryDatabase, { database: "shop", sql });
    expect(part.next).toMatch(/^20 of 1000 rows are shown, as max_rows says/);
    expect(part.next).toContain(hint);
  });

  it("writes nothing, also where the database allows it", async () => {
    const { call } = await open();
    for (const sql of ["DELETE FROM orders", "UPDATE orders SET amount = 0", "DROP TABLE orders"])
      await expect(call(queryDatabase, { database: "ledger", sql })).rejects.toMatchObject({
        code: "invalid_input",
        details: { errors: [{ path: "sql" }] },
      });
    const { rows } = await call(queryDatabase, {
      database: "ledger",
      sql: "SELECT count(*) AS n FROM orders",
    });
    expect(rows).toEqual([{ n: 40 }]);
  });

  it("takes parameters as they are, also those that look like expressions", async () => {
    const { call } = await open();
    const text = "${{ run.id }} and $${{ inputs.x }}";
    const answer = await call(queryDatabase, {
      database: "shop",
      sql: "SELECT :text AS text, :number AS number",
      params: { text, number: 7 },
    });
    expect(answer.rows).toEqual([{ text, number: 7 }]);
  });

  it("says what is wrong with the query, before it runs", async () => {
    const { call } = await open();
    await expect(
      call(queryDatabase, { database: "shop", sql: "SELECT regoin FROM orders" }),
    ).rejects.toMatchObject({ code: "invalid_input", details: { errors: [{ path: "sql" }] } });
    await expect(call(queryDatabase, { database: "shop", sql: "SELECT :least AS n" })).rejects.toMatchObject({
      details: { errors: [{ path: "params.least" }] },
    });
    await expect(call(queryDatabase, { database: "shp", sql: "SELECT 1" })).rejects.toMatchObject({
      code: "database_not_found",
      message: expect.stringContaining("shop") as string,
    });
    expect((await call(listRuns, {})).items).toEqual([]);
  });

  it("needs the scope write and no other one", async () => {
    const { as } = await open();
    const input = { database: "shop", sql: "SELECT 1 AS n" };
    expect((await as(["write"])(queryDatabase, input)).rows).toEqual([{ n: 1 }]);
    await expect(as(["read", "run"])(queryDatabase, input)).rejects.toMatchObject({ code: "missing_scope" });
  });
});
