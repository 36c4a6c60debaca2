import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { readLog } from "../../src/store/read-log.ts";
import { verifyAuditLog } from "../../src/store/verify-audit-chain.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { openEventStream } from "../support/raw-http.ts";
import { testStore } from "../support/store.ts";

const READS = { audit: { reads: true } };
const SECRET = "attack at dawn";

/** An instance with a finished run, and the entries that were added since. */
async function open(config: object = READS) {
  const instance = await testInstance({ config });
  await instance.executor({ config });
  const { url } = await instance.rest({ config });
  const key = await instance.key({ name: "ci", scopes: ["read", "write", "publish", "run", "approve"] });
  const call = apiClient(url, key.value);
  const create = async (name: string, steps: object[]) =>
    (await call("POST", "/workflows", { name, definition: { steps } })).body.id as string;
  const workflow = await create("Hello", [{ id: "said", type: "set", values: { text: SECRET } }]);
  const run = (await call("POST", `/workflows/${workflow}/runs`, { wait: 20 })).body;
  const entries = async () =>
    (await instance.read.audit.page({ filter: {}, before: null, limit: 100 })).toReversed();
  let seen = (await entries()).length;
  return {
    instance,
    url,
    key,
    call,
    create,
    workflow,
    run: run.id as string,
    /** The entries since the last call, or since the start. */
    async added() {
      const all = await entries();
      const added = all.slice(seen);
      seen = all.length;
      return added;
    },
  };
}

describe("audit.reads", () => {
  it("records a comparison as a read of both runs", async () => {
    const { call, run, workflow, added } = await open();
    const other = (await call("POST", `/workflows/${workflow}/runs`, { wait: 20 })).body.id as string;
    await added();
    await call("GET", `/runs/${other}/compare`);
    await call("GET", `/runs/${other}/compare?with=${other}`);
    expect(await added()).toMatchObject([
      { operation: "compare_runs.read", target: run },
      { operation: "compare_runs", target: other },
      { operation: "compare_runs", target: other },
    ]);
  });

  it("records each answered read of run values over REST, with who read what", async () => {
    const { call, key, run, workflow, added } = await open();
    const { headers } = await call("GET", `/runs/${run}?detail=full`);
    await call("GET", `/runs/${run}/values/steps.said.output?offset=1`);
    await call("GET", `/runs?status=succeeded&status=failed`);
    await call("GET", `/workflows/${workflow}/runs?limit=5`);
    expect(await added()).toMatchObject([
      {
        operation: "get_run",
        target: run,
        project: "default",
        owner: "operator",
        keyName: "ci",
        lineage: key.record.lineage,
        surface: "rest",
        requestId: headers.get("x-request-id"),
        details: { detail: "full" },
      },
      { operation: "get_run_value", target: run, details: { ref: "steps.said.output", offset: 1 } },
      { operation: "list_runs", target: null, details: { status: ["succeeded", "failed"], items: 1 } },
      { operation: "list_workflow_runs", target: workflow, details: { limit: 5, items: 1 } },
    ]);
  });

  it("records the output in the answer of an operation that is no read, beside the change", async () => {
    const { call, workflow, added } = await open();
    const { body } = await call("POST", `/workflows/${workflow}/runs`, { wait: 20 });
    expect(body.output).toEqual({ text: SECRET });
    expect(await added()).toMatchObject([
      { operation: "run_workflow", target: body.id },
      { operation: "run_workflow.read", target: body.id, details: null },
    ]);
  });

  it("records approvals, whose questions show values", async () => {
    const { call, create, added } = await open();
    const asking = await create("Asking", [{ id: "ask", type: "approval", message: "Send this?" }]);
    const { body: started } = await call("POST", `/workflows/${asking}/runs`, { wait: 20 });
    const [approval] = (await call("GET", `/approvals?run_id=${started.id}`)).body;
    await call("GET", `/approvals/${approval.id}`);
    const operations = (await added()).map(({ operation, target }) => [operation, target]);
    expect(operations.slice(-2)).toEqual([
      ["list_approvals", null],
      ["get_approval", approval.id],
    ]);
  });

  it("records reads over MCP, from the command line and of event streams", async () => {
    const { instance, url, key, run, added } = await open();
    const mcp = await connect(
      "v2 pinned to 2026-07-28",
      (await instance.mcp({ config: READS })).url,
      key.value,
    );
    outputOf(await mcp.call("get_run", { run_id: run }));
    await invoke(
      instance.services,
      getRun,
      { run_id: run },
      {
        actor: OPERATOR_ACTOR,
        requestId: "req_1",
        signal: new AbortController().signal,
      },
    );
    const stream = await openEventStream("GET", `${url}/runs/${run}/events`, {
      headers: { "X-API-Key": key.value },
    });
    stream.close();
    expect(await added()).toMatchObject([
      { operation: "get_run", target: run, surface: "mcp", keyName: "ci" },
      { operation: "get_run", target: run, surface: "cli", owner: "operator" },
      { operation: "run_events", target: run, surface: "rest" },
    ]);
  });

  it("records no refused read, and no read without values", async () => {
    const { instance, url, call, run, workflow, added } = await open();
    expect((await call("GET", "/runs/run_unknown")).status).toBe(404);
    expect((await call("GET", `/runs/${run}/values/nothing`)).status).toBe(404);
    expect((await call("GET", `/runs/${run}?detail=all`)).status).toBe(400);
    expect((await apiClient(url, "wrong")("GET", `/runs/${run}`)).status).toBe(401);
    await call("GET", `/workflows/${workflow}`);
    await call("GET", `/runs/${run}/definition`);
    expect(await added()).toEqual([]);
    expect(await verifyAuditLog(instance.store.read)).toMatchObject({ broken: undefined });
  });

  it("records the failed examples of a version, which the error of its publication quotes", async () => {
    const { call, added } = await open();
    const definition = {
      steps: [{ id: "said", type: "set", values: { text: SECRET } }],
      examples: [{ expect: { text: "other" } }],
    };
    const { body: wrong } = await call("POST", "/workflows", { name: "Wrong", definition });
    const refused = await call("POST", `/workflows/${wrong.id}/publish`, {});
    expect(refused.body.code).toBe("examples_failed");
    expect(JSON.stringify(refused.body)).toContain(SECRET);
    expect((await added()).at(-1)).toMatchObject({
      operation: "publish_workflow.read",
      target: expect.stringMatching(/^run_/) as string,
    });
  });

  it("is off unless the configuration asks for it", async () => {
    const { call, run, added } = await open({});
    await call("GET", `/runs/${run}`);
    expect(await added()).toEqual([]);
  });

  it("refuses a read that can't be recorded, with 503 and without the values", async () => {
    const { instance, run } = await open();
    const unavailable = new AppError("storage_unavailable", "The disk is full.");
    const services = { ...instance.services, recordRead: () => Promise.reject(unavailable) };
    const call = { actor: OPERATOR_ACTOR, requestId: "req_1", signal: new AbortController().signal };
    await expect(invoke(services, getRun, { run_id: run }, call)).rejects.toBe(unavailable);
    expect(unavailable.status).toBe(503);
  });

  it("answers a read only after its record is committed", async () => {
    const { instance, run, url, key } = await open();
    const answered: string[] = [];
    let reading: Promise<unknown> = Promise.resolve();
    // Holds the write lock, as another process does.
    await instance.store.transaction(async () => {
      reading = apiClient(url, key.value)("GET", `/runs/${run}`).then(() => answered.push("read"));
      // A read without values needs no record.
      await apiClient(url, key.value)("GET", "/workflows").then(() => answered.push("list"));
      answered.push("released");
    });
    await reading;
    expect(answered).toEqual(["list", "released", "read"]);
  });
});

const entry = (target: string) => ({
  operation: "get_run",
  target,
  actor: OPERATOR_ACTOR,
  requestId: "req_1",
});

describe("the log of reads", () => {
  it("commits reads that arrive at the same time together", async () => {
    const { store, clock, rows } = await testStore();
    let transactions = 0;
    const record = readLog({ transaction: (work) => ((transactions += 1), store.transaction(work)) }, clock);
    await Promise.all(Array.from({ length: 250 }, (_, n) => record(entry(`run_${n}`))));
    expect(transactions).toBe(2);
    expect(await rows("audit_log")).toBe(250);
    await record(entry("run_last"));
    expect(await verifyAuditLog(store.read)).toMatchObject({ verified: 251, broken: undefined });
  });

  it("refuses everything that waits when a commit fails, and records again after that", async () => {
    const { store, clock, rows } = await testStore();
    const busy = new AppError("busy", "The database is locked.");
    let failing = true;
    const record = readLog(
      { transaction: (work) => (failing ? Promise.reject(busy) : store.transaction(work)) },
      clock,
    );
    const results = await Promise.allSettled(
      Array.from({ length: 250 }, (_, n) => record(entry(`run_${n}`))),
    );
    expect(results.every((result) => result.status === "rejected" && result.reason === busy)).toBe(true);
    failing = false;
    await record(entry("run_1"));
    expect(await rows("audit_log")).toBe(1);
  });

  it("holds a limited number of reads", async () => {
    const { clock } = await testStore();
    const { promise, resolve } = Promise.withResolvers<never>();
    const record = readLog({ transaction: () => promise }, clock);
    const waiting = Array.from({ length: 5_000 }, (_, n) => record(entry(`run_${n}`)));
    // While the first ones are being committed, the same number can wait.
    await Promise.resolve();
    waiting.push(...Array.from({ length: 200 }, (_, n) => record(entry(`run_more_${n}`))));
    await expect(record(entry("run_refused"))).rejects.toMatchObject({ code: "busy", status: 503 });
    resolve(undefined as never);
    await Promise.all(waiting);
  });
});
