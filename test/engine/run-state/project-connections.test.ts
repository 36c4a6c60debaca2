import { describe, expect, it } from "vitest";
import type { GrantKind } from "../../../schemas/project.ts";
import type { ConnectionLimits } from "../../../src/core/connection-views.ts";
import type { Grant } from "../../../src/core/project-ports.ts";
import { createSqliteFile } from "../../support/databases.ts";
import { testEngine } from "../../support/engine.ts";
import { mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import { temporaryDirectory } from "../../support/directories.ts";
import { insertWorkflow } from "../../support/store.ts";

const SHOP =
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT); INSERT INTO orders VALUES (1, 'north')";
const AT = { at: "2026-11-22T08:00:00.000Z", by: "operator" };

/** An engine with two databases, and the project finance, which has no grants. */
async function harness() {
  const directory = temporaryDirectory();
  const dataset = createSqliteFile(directory, SHOP);
  const engine = await testEngine({
    config: {
      databases: [
        { name: "shop", type: "sqlite", dataset, access: "read-write" },
        { name: "ledger", type: "sqlite", dataset },
      ],
      models: [{ name: "writer", vendor: "openai", model_ref: "m", key_var: "MODEL_KEY" }],
      defaults: { database: "shop" },
      http: { allowed_hosts: ["127.0.0.1"] },
    },
    env: { MODEL_KEY: "a key of a model" },
  });
  const { write } = engine;
  const addProject = (id: string, connections: "all" | "granted" = "granted") =>
    write(
      async ({ projects }) =>
        void (await projects.insertUnlessTaken({
          id,
          name: id,
          description: "",
          connections,
          httpPublic: null,
          review: false,
          backtest: null,
          limits: null,
          createdAt: AT.at,
          createdBy: AT.by,
        })),
    );
  await addProject("finance");
  const grant = (
    name: string,
    options: Grant["options"] = null,
    project = "finance",
    kind: GrantKind = "database",
  ) =>
    write(({ projects }) =>
      projects.saveGrant({ project, kind, name, options, grantedAt: AT.at, grantedBy: AT.by }),
    );
  const revoke = (name: string, kind: GrantKind = "database") =>
    write(async ({ projects }) => void (await projects.removeGrant({ project: "finance", kind, name })));
  const define = async (steps: object[], project = "finance", more: object = {}): Promise<string> =>
    (await write((tx) => insertWorkflow(tx, { name: "Test", definition: { steps, ...more } }, project))).id;
  const run = async (workflow: string) => {
    const queue = await engine.executor();
    const id = await engine.start(workflow);
    queue.wake();
    await queue.waitUntilIdle();
    return { id, queue, ...(await engine.outcome(id)) };
  };
  return { ...engine, addProject, grant, revoke, define, run };
}

const query = (text = "SELECT region FROM orders", more: object = {}) => ({
  id: "q",
  type: "sql",
  query: text,
  ...more,
});
const call = (workflow: string, more: object = {}) => ({ id: "c", type: "workflow", workflow, ...more });

describe("a run", () => {
  it("starts only with what its project is granted", async () => {
    const { define, start, grant, run } = await harness();
    const workflow = await define([query(undefined, { database: "shop" })]);
    await expect(start(workflow)).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: {
        errors: [
          {
            code: "unknown_database",
            allowed: ["scratch"],
            fix: expect.stringMatching(
              /^Write one of scratch\. Only what is granted to the project/,
            ) as string,
          },
        ],
      },
    });
    await grant("shop");
    expect(await run(workflow)).toMatchObject({ status: "succeeded" });
  });

  it("has no default database where that one is not granted", async () => {
    const { define, start, grant, run } = await harness();
    const workflow = await define([query()]);
    await grant("ledger");
    await expect(start(workflow)).rejects.toThrow("names no database");
    await grant("shop");
    expect(await run(workflow)).toMatchObject({ status: "succeeded" });
  });

  it("uses everything in the default project, whatever others are granted", async () => {
    const { define, run, grant } = await harness();
    await grant("ledger", null, "default");
    expect(await run(await define([query()], "default"))).toMatchObject({ status: "succeeded" });
  });

  it("fails at its next attempt when a grant was revoked, with an error that says what to do", async () => {
    const { define, grant, revoke, run, clock, outcome, read } = await harness();
    await grant("shop");
    const workflow = await define([
      query(undefined, { id: "first" }),
      { id: "pause", type: "wait", for: "1m", needs: ["first"] },
      query(undefined, { database: "shop", needs: ["pause"], retry: { attempts: 5 } }),
    ]);
    const { id, queue } = await run(workflow);
    await revoke("shop");
    clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    const { status, error } = await outcome(id);
    // Not retried, because a retry would fail again.
    expect((await read.runs.step({ runId: id, stepId: "q", item: null }))!.attempts).toBe(1);
    expect({ status, error }).toMatchObject({
      status: "failed",
      error: {
        code: "environment",
        message: expect.stringContaining("There is no database shop in the configuration.") as string,
        fix: expect.stringContaining("(describe_environment shows it). Ask an admin") as string,
      },
    });
  });

  it("may not write any more once its grant is read-only", async () => {
    const { define, grant, run, clock, outcome, start } = await harness();
    await grant("shop");
    const insert = query("INSERT INTO orders (region) VALUES ('south')", { write: true, needs: ["pause"] });
    const workflow = await define([{ id: "pause", type: "wait", for: "1m" }, insert]);
    const { id, queue } = await run(workflow);
    await grant("shop", { access: "read-only" });
    clock.advance(60_000);
    queue.wake();
    await queue.waitUntilIdle();
    expect((await outcome(id)).error).toMatchObject({ code: "database_read_only" });
    await expect(start(workflow)).rejects.toMatchObject({
      details: { errors: [{ code: "database_read_only", path: "steps[1].write" }] },
    });
  });

  it("reuses no cached output of something that its project may no longer use", async () => {
    const { define, grant, revoke, run, outcome, start } = await harness();
    let requests = 0;
    const peer = await mockHttpServer((_request, response) => {
      requests += 1;
      sendJson(response, { a: "secret" });
    });
    await grant("127.0.0.1", null, "finance", "host");
    const url = `\${{ '${peer.url}' }}`;
    const workflow = await define([{ id: "h", type: "http", url, cache: "1d" }]);
    const { queue, status } = await run(workflow);
    expect(status).toBe("succeeded");
    const runAgain = async () => {
      const id = await start(workflow);
      queue.wake();
      await queue.waitUntilIdle();
      return outcome(id);
    };
    expect(await runAgain()).toMatchObject({ status: "succeeded" });
    expect(requests).toBe(1);
    await revoke("127.0.0.1", "host");
    expect(await runAgain()).toMatchObject({ status: "failed", error: { code: "http_blocked" } });
  });

  it("calls a workflow that another project offers with what that project is granted", async () => {
    const { define, grant, run, write, addProject, read } = await harness();
    await addProject("library");
    await grant("shop", null, "library");
    const offered = await define([query(undefined, { database: "shop" })], "library", {
      output: "${{ steps.q.rows }}",
    });
    await write(async (tx) => {
      const current = (await tx.workflows.find(offered))!;
      await tx.workflows.publish(current, { version: 1, status: "published" });
      await tx.projects.saveOffers(offered, ["finance"], AT.by, AT.at);
    });
    const { status, id } = await run(
      await define([call(offered)], "finance", { output: "${{ steps.c.output }}" }),
    );
    expect(status).toBe("succeeded");
    expect(await read.runs.runOutput(id)).toEqual([{ region: "north" }]);
  });
});

const startBy = async (
  { start }: Awaited<ReturnType<typeof harness>>,
  workflow: string,
  limits: ConnectionLimits,
) => start(workflow, { keyLimits: limits });

describe("a run that a key with limits starts", () => {
  it("uses no database or model that the key is not limited to", async () => {
    const made = await harness();
    const ledger = await made.define([query(undefined, { database: "ledger" })], "default");
    await expect(startBy(made, ledger, { databases: ["shop"] })).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: { errors: [{ code: "beyond_key_limits", allowed: ["shop"] }] },
    });
    expect(await startBy(made, ledger, { databases: ["ledger"], models: [] })).toMatch(/^run_/);
    const byDefault = await made.define([query()], "default");
    await expect(startBy(made, byDefault, { databases: ["ledger"] })).rejects.toThrow(
      "uses the database shop",
    );
    const model = await made.define([{ id: "m", type: "model", model: "writer", prompt: "Hi" }], "default");
    await expect(startBy(made, model, { models: [] })).rejects.toThrow("uses the model writer");
    expect(await startBy(made, model, { databases: [] })).toMatch(/^run_/);
    const scratch = await made.define([query("SELECT 1 AS one", { database: "scratch" })], "default");
    expect(await startBy(made, scratch, { databases: [] })).toMatch(/^run_/);
  });

  it("does not reach them through a called workflow, on_failure or an undo either", async () => {
    const made = await harness();
    const ledger = await made.define([query(undefined, { database: "ledger" })], "default");
    const middle = await made.define([call(ledger)], "default");
    const nothing = { id: "s", type: "set", values: { x: 1 } };
    const ways = [
      await made.define([call(middle)], "default"),
      await made.define([nothing], "default", { on_failure: ledger }),
      await made.define([call(await made.define([nothing], "default", { on_failure: ledger }))], "default"),
    ];
    for (const way of ways) {
      await expect(startBy(made, way, { databases: ["shop"] })).rejects.toMatchObject({
        code: "workflow_not_runnable",
        details: { errors: [{ code: "beyond_key_limits" }] },
      });
      expect(await startBy(made, way, { databases: ["shop", "ledger"] })).toMatch(/^run_/);
    }
    const undo = { type: "sql", database: "ledger", query: "SELECT 1" };
    const undone = await made.define(
      [query("INSERT INTO orders (region) VALUES ('x')", { write: true, undo })],
      "default",
    );
    await expect(startBy(made, undone, { databases: ["shop"] })).rejects.toThrow("uses the database ledger");
  });

  it("does not tell which database a called workflow uses", async () => {
    const made = await harness();
    const ledger = await made.define([query(undefined, { database: "ledger" })], "default");
    const way = await made.define([call(ledger)], "default");
    const error: unknown = await startBy(made, way, { databases: ["shop"] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(JSON.stringify([error, (error as Error).message])).not.toContain("ledger");
  });

  it("is checked with the versions that it pins, also right after another version was allowed", async () => {
    const made = await harness();
    const child = await made.define([query()], "default");
    const way = await made.define([call(child)], "default");
    expect(await startBy(made, way, { databases: ["shop"] })).toMatch(/^run_/);
    await made.redefine(child, { steps: [query(undefined, { database: "ledger" })] });
    await expect(startBy(made, way, { databases: ["shop"] })).rejects.toThrow("may not use");
  });
});

const check = async (
  { engine }: Awaited<ReturnType<typeof harness>>,
  steps: object[],
  keyLimits: ConnectionLimits,
) => {
  const { errors } = await engine.check({ steps }, { checkConnections: true, project: "default", keyLimits });
  return errors.map(({ path, code }) => `${path} ${code}`);
};

describe("a check for a key with limits", () => {
  it("finds no more than the key may use, nor what called workflows use beyond it", async () => {
    const made = await harness();
    const ledger = query(undefined, { database: "ledger" });
    expect(await check(made, [ledger], { databases: ["shop"] })).toEqual([
      "steps[0].database unknown_database",
    ]);
    expect(await check(made, [ledger], { databases: ["ledger"] })).toEqual([]);
    const child = await made.define([ledger], "default");
    expect(await check(made, [call(child)], { databases: ["shop"] })).toEqual([" beyond_key_limits"]);
    expect(await check(made, [call(child)], { models: [] })).toEqual([]);
  });
});
