import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { rotateKey } from "../../src/auth/api-keys.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/clock.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { createSqliteFile } from "../support/databases.ts";
import { openDecisions } from "../support/decisions.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { connect, outputOf, problemOf } from "../support/mcp.ts";
import { mockModelServer, WIRE_FORMATS } from "../support/mock-model-server.ts";
import { addUser, signIn, type SignedIn } from "../support/users.ts";
import { expectProblem } from "../support/rest.ts";

const SETS = { steps: [{ id: "set", type: "set", values: { n: 1 } }] };
const WAITS = { steps: [{ id: "wait", type: "wait", for: "10d" }] };
const ASKS = { steps: [{ id: "ask", type: "sql", query: "SELECT * FROM orders" }] };
const FAILS = { steps: [{ id: "no", type: "assert", that: "1 > 2", message: "No." }] };
const callTo = (workflow: string) => ({ id: "inner", type: "workflow", workflow });
const WRITES = { steps: [{ id: "say", type: "model", model: "writer", prompt: "Say hello." }] };

const NO_DEFAULTS = {
  runs_per_hour: null,
  unfinished_runs: null,
  stored_bytes: null,
  mails_per_hour: null,
  mails_to_address_per_hour: null,
};

/** An instance with limits per key and no defaults, three orders, and a model that uses 120 tokens per call. */
async function open(perKey: object, say = "Hello.") {
  const clock = fakeClock();
  const dataset = createSqliteFile(
    temporaryDirectory(),
    "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2), (3)",
  );
  const peer = await mockModelServer("openai-compatible", { text: say });
  const config = {
    databases: [{ name: "shop", type: "sqlite", dataset }],
    defaults: { database: "shop" },
    models: [
      {
        name: "writer",
        vendor: "openai-compatible",
        model_ref: "m-1",
        key_var: "MODEL_KEY",
        base_url: peer.url + WIRE_FORMATS["openai-compatible"].base,
      },
    ],
    limits: { per_key: { ...NO_DEFAULTS, ...perKey } },
  };
  const env = { MODEL_KEY: "secret" };
  const instance = await testInstance({ clock, config });
  const executor = await instance.executor({ config, env });
  const { url } = await instance.rest({ config, env });
  const { value: key, record } = await instance.key({ name: "ci" });
  const call = apiClient(url, key);
  return {
    instance,
    clock,
    config,
    executor,
    peer,
    url,
    key,
    record,
    call,
    async define(definition: object, name = "Test"): Promise<string> {
      const { body } = await call("POST", "/workflows", { name, definition });
      expect(body.issues).toEqual([]);
      return body.id as string;
    },
    start: (id: string, headers: Record<string, string> = {}, wait = 0) =>
      call("POST", `/workflows/${id}/runs`, { wait }, headers),
    /** Runs it to its end. */
    async run(id: string) {
      const { status, body } = await call("POST", `/workflows/${id}/runs`, { wait: 20 });
      expect(status).toBe(200);
      return body;
    },
    counts: async () => instance.store.read.selectFrom("usage_counts").selectAll().execute(),
  };
}

describe("runs_per_hour", () => {
  it("refuses further runs until the next hour, and says when that is", async () => {
    const { define, start, clock } = await open({ runs_per_hour: 2 });
    const id = await define(SETS);
    clock.advance(20 * MINUTE);
    expect([(await start(id)).status, (await start(id)).status]).toEqual([202, 202]);
    const refused = await start(id);
    expect(expectProblem(refused, "too_many_runs").detail).toBe(
      '"ci" of operator has used all of its 2 runs of this hour (limits.per_key.runs_per_hour); more are available from ' +
        "2026-11-21T09:00:00.000Z. The run was not started. Start it again then, or ask the operator for a higher limit.",
    );
    expect(refused.headers.get("retry-after")).toBe(String(40 * 60));
    clock.advance(40 * MINUTE);
    expect((await start(id)).status).toBe(202);
  });

  it("does not count refused runs, nor repetitions with the same idempotency key", async () => {
    const { define, start, call, counts } = await open({ runs_per_hour: 2 });
    const id = await define(SETS);
    const first = await start(id, { "Idempotency-Key": "once" });
    for (let times = 0; times < 3; times += 1)
      expect((await start(id, { "Idempotency-Key": "once" })).body.id).toBe(first.body.id);
    expect((await call("POST", `/workflows/${id}/runs`, { inputs: { no: 1 } })).status).toBe(400);
    expect((await start(id)).status).toBe(202);
    expect((await start(id, { "Idempotency-Key": "twice" })).status).toBe(429);
    // Also where nothing is left, what was started is given again.
    expect((await start(id, { "Idempotency-Key": "once" })).body.id).toBe(first.body.id);
    expect(await counts()).toMatchObject([{ kind: "runs", used: 2 }]);
  });

  it("counts a key and its successors together, over REST, MCP and all copies; other keys separately", async () => {
    const { instance, clock, config, define, start, record } = await open({ runs_per_hour: 2 });
    const id = await define(SETS);
    expect((await start(id)).status).toBe(202);
    const old = { ...record, lastUsedAt: null, revokedAt: null, user: null, isSingleProject: true };
    const { value: successor } = await rotateKey(instance.keys, clock, old, { overlap: HOUR });
    const other = await testInstance({ stateDir: instance.stateDir, clock });
    const { url } = await other.mcp({ config });
    const agent = await connect("v2 pinned to 2026-07-28", url, successor);
    outputOf(await agent.call("run_workflow", { workflow_id: id, wait: 0 }));
    const problem = problemOf(await agent.call("run_workflow", { workflow_id: id, wait: 0 }));
    expect(problem).toMatchObject({ code: "too_many_runs", status: 429 });
    expect(problem.detail).toContain("more are available from 2026-11-21T09:00:00.000Z");
    expect((await start(id)).status).toBe(429);
    const { value: stranger } = await instance.key({ name: "other" });
    const another = await connect("v2 pinned to 2026-07-28", url, stranger);
    outputOf(await another.call("run_workflow", { workflow_id: id, wait: 0 }));
  });

  it.each([{ runs_per_hour: 2 }, { unfinished_runs: 2 }])(
    "is shared by all keys of a user: %j",
    async (perKey) => {
      const { instance, url, define, start } = await open(perKey);
      const id = await define(WAITS);
      const user = await addUser(instance, { role: "editor" });
      const another = async () => {
        const { value } = await instance.key({ owner: user.email, name: "another" });
        return apiClient(url, value)("POST", `/workflows/${id}/runs`, { wait: 0 });
      };
      expect([(await another()).status, (await another()).status]).toEqual([202, 202]);
      expect(expectProblem(await another(), "too_many_runs").detail).toContain("all their keys");
      // Other users keep their own limits.
      expect((await start(id)).status).toBe(202);
    },
  );

  it("counts all sessions of a user together", async () => {
    const { instance, url, define } = await open({ runs_per_hour: 1 });
    const id = await define(SETS);
    const user = await addUser(instance, { role: "editor" });
    const [one, two] = [await signIn(instance, user), await signIn(instance, user)];
    const startBy = ({ cookie }: SignedIn) =>
      apiClient(url)(
        "POST",
        `/workflows/${id}/runs`,
        { wait: 0 },
        { Cookie: cookie, "Sec-Fetch-Site": "same-origin" },
      );
    expect((await startBy(one)).status).toBe(202);
    const { detail } = expectProblem(await startBy(two), "too_many_runs");
    expect(detail).toContain(user.email);
  });

  it("is not exceeded by concurrent requests to several copies", async () => {
    const { instance, clock, config, define, key, start } = await open({ runs_per_hour: 7 });
    const id = await define(SETS);
    const other = await testInstance({ stateDir: instance.stateDir, clock });
    const { url } = await other.rest({ config });
    const there = apiClient(url, key);
    const all = await Promise.all(
      Array.from({ length: 10 }, () => [
        start(id),
        there("POST", `/workflows/${id}/runs`, { wait: 0 }),
      ]).flat(),
    );
    const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array<number>(7).fill(202), ...Array<number>(13).fill(429)]);
  });

  it("neither limits nor counts what the command line does", async () => {
    const { instance, define, start, counts } = await open({ runs_per_hour: 1, rows_per_day: 1 });
    const id = await define(ASKS);
    for (let times = 0; times < 3; times += 1) {
      const call = { actor: OPERATOR_ACTOR, requestId: "req_1", signal: new AbortController().signal };
      const run = await invoke(instance.services, runWorkflow, { workflow_id: id, wait: 20 }, call);
      expect(run).toMatchObject({ status: "succeeded" });
    }
    expect(await counts()).toEqual([]);
    expect((await start(id)).status).toBe(202);
  });

  it("counts the runs of schedules, workflow steps and on_failure for their owner", async () => {
    const { call, clock, executor, define, run, counts } = await open({ runs_per_hour: 20 });
    const inner = await define(SETS, "Inner");
    const outer = await define({ steps: [callTo(inner)] }, "Outer");
    expect((await run(outer)).status).toBe("succeeded");
    expect(await counts()).toMatchObject([{ used: 2 }]);
    const failing = await define({ steps: FAILS.steps, on_failure: inner }, "Failing");
    expect((await run(failing)).status).toBe("failed");
    await executor.queue.waitUntilIdle();
    expect(await counts()).toMatchObject([{ used: 4 }]);
    const timed = await define({ ...SETS, schedule: { cron: "*/10 * * * *", timezone: "UTC" } }, "Timed");
    expect((await call("POST", `/workflows/${timed}/publish`, {})).status).toBe(200);
    clock.advance(10 * MINUTE);
    expect(await executor.startDueRuns()).toBe(1);
    expect(await counts()).toMatchObject([{ used: 5 }]);
  });

  it("fails a workflow step whose run it refuses, and says until when", async () => {
    const { define, run, call, counts } = await open({ runs_per_hour: 1 });
    const inner = await define(SETS, "Inner");
    const outer = await run(await define({ steps: [callTo(inner)] }, "Outer"));
    expect(outer).toMatchObject({
      status: "failed",
      error: {
        code: "limit_reached",
        step_id: "inner",
        message: expect.stringContaining("more are available from 2026-11-21T09:00:00.000Z"),
        fix: expect.stringContaining("retry_run"),
      },
    });
    expect((await call("GET", `/workflows/${inner}/runs`)).body).toEqual([]);
    expect(await counts()).toMatchObject([{ used: 1 }]);
  });

  it("lets a workflow step wait if its retry names limit_reached", async () => {
    const { define, start, call, clock, executor } = await open({ runs_per_hour: 1 });
    const inner = await define(SETS, "Inner");
    const retry = { attempts: 2, on: ["limit_reached"], initial: "1s" };
    const { body } = await start(await define({ steps: [{ ...callTo(inner), retry }] }, "Outer"));
    await executor.queue.waitUntilIdle();
    expect((await call("GET", `/runs/${body.id}`)).body.finished_at).toBeNull();
    clock.advance(HOUR);
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    expect((await call("GET", `/runs/${body.id}`)).body.status).toBe("succeeded");
  });

  it("shows on a failed run that its handler was refused", async () => {
    const { define, run, call, executor } = await open({ runs_per_hour: 1 });
    const handler = await define(SETS, "Handler");
    const { id } = await run(await define({ steps: FAILS.steps, on_failure: handler }, "Failing"));
    await executor.queue.waitUntilIdle();
    const { body } = await call("GET", `/runs/${id}`);
    expect(body.error.code).toBe("assert_failed");
    expect(body.on_failure).toMatchObject({
      workflow_id: handler,
      error: { code: "too_many_runs" },
    });
    expect(body.on_failure).not.toHaveProperty("run_id");
    expect((await call("GET", `/workflows/${handler}/runs`)).body).toEqual([]);
  });

  it("skips a scheduled run that it refuses, for the reason `limit`", async () => {
    const { define, call, start, clock, executor } = await open({ runs_per_hour: 1 });
    const timed = await define({ ...SETS, schedule: { cron: "*/10 * * * *", timezone: "UTC" } }, "Timed");
    expect((await call("POST", `/workflows/${timed}/publish`, {})).status).toBe(200);
    expect((await start(timed)).status).toBe(202);
    clock.advance(10 * MINUTE);
    // The executor looks for due runs by itself too, and may be first.
    await executor.startDueRuns();
    await untilPassing(async () =>
      expect((await call("GET", `/workflows/${timed}/schedule`)).body.skipped).toMatchObject({
        reason: "limit",
        count: 1,
        message: expect.stringContaining("limits.per_key.runs_per_hour"),
      }),
    );
    const runs = async () => (await call("GET", `/workflows/${timed}/runs`)).body as unknown[];
    expect(await runs()).toHaveLength(1);
    clock.advance(HOUR);
    await executor.startDueRuns();
    await untilPassing(async () => expect(await runs()).toHaveLength(2));
  });
});

describe("unfinished_runs of a key", () => {
  it("refuses further runs until some have ended; runs of other keys do not count", async () => {
    const { define, start, call, instance, url, executor } = await open({ unfinished_runs: 2 });
    const id = await define(WAITS);
    const stranger = apiClient(url, (await instance.key({ name: "other" })).value);
    expect((await stranger("POST", `/workflows/${id}/runs`, { wait: 0 })).status).toBe(202);
    const { body: first } = await start(id);
    expect((await start(id)).status).toBe(202);
    const refused = await start(id);
    expect(expectProblem(refused, "too_many_runs").detail).toMatch(
      /^2 runs of "ci" of operator are unfinished, .*limits\.per_key\.unfinished_runs.* cancel some/,
    );
    expect(refused.headers.get("retry-after")).toBe("30");
    expect((await call("POST", `/runs/${first.id}/cancel`, {})).status).toBe(200);
    await executor.queue.waitUntilIdle();
    expect((await start(id)).status).toBe(202);
    expect((await start(id)).status).toBe(429);
  });

  it("counts child runs, so that a fan-out of them can't take the places of others", async () => {
    const { define, start, call, executor, instance } = await open({ unfinished_runs: 4 });
    const inner = await define(WAITS, "Inner");
    const each = { ...callTo(inner), for_each: "${{ [1, 2, 3, 4, 5, 6, 7, 8] }}", concurrency: 8 };
    const { body } = await start(await define({ steps: [each] }, "Outer"));
    await executor.queue.waitUntilIdle();
    expect((await call("GET", `/runs?status=waiting&limit=100`)).body).toHaveLength(3);
    const items = await instance.read.runs.items({ runId: body.id, stepId: "inner" }, 0, 8);
    const failed = items.filter(({ state }) => state === "failed");
    expect(failed).not.toHaveLength(0);
    for (const { error } of failed) expect(error).toMatchObject({ code: "limit_reached" });
    // The parent is unfinished too, with its three child runs.
    expect(expectProblem(await start(inner), "too_many_runs").detail).toMatch(/^4 runs of/);
  });

  it("fails a child run at the limit at once, so that a run never waits for its own place", async () => {
    const { define, run } = await open({ unfinished_runs: 1 });
    const inner = await define(SETS, "Inner");
    const outer = await run(await define({ steps: [callTo(inner)] }, "Outer"));
    expect(outer).toMatchObject({ status: "failed", error: { code: "limit_reached" } });
  });
});

describe("rows_per_day", () => {
  it("fails sql steps once it is used up, and allows them again the next day", async () => {
    const { define, run, clock, counts } = await open({ rows_per_day: 5 });
    const id = await define(ASKS);
    expect((await run(id)).status).toBe("succeeded");
    // It had 2 left when it began.
    expect((await run(id)).status).toBe("succeeded");
    expect(await run(id)).toMatchObject({
      status: "failed",
      error: {
        code: "limit_reached",
        step_id: "ask",
        message:
          '"ci" of operator has used all of its 5 rows of this day (limits.per_key.rows_per_day); more are available from ' +
          "2026-11-22T00:00:00.000Z.",
        fix: "Retry the run then (retry_run); it reuses the outputs of the steps that succeeded. Or ask the operator for a higher limit.",
      },
    });
    expect(await counts()).toMatchObject([{ kind: "rows", used: 6 }]);
    clock.advance(16 * HOUR);
    expect((await run(id)).status).toBe("succeeded");
    expect(await counts()).toMatchObject([{ used: 6 }, { used: 3 }]);
  });

  it("does not count scratch queries, nor steps that reuse recorded outputs", async () => {
    const { define, run, call, counts } = await open({ rows_per_day: 3 });
    const scratch = { id: "join", type: "sql", database: "scratch", query: "SELECT * FROM orders" };
    const tables = { orders: "${{ steps.ask.rows }}" };
    const fails = { id: "fails", type: "assert", that: "steps.join.row_count < 0", message: "No." };
    const id = await define({
      steps: [...ASKS.steps, { ...scratch, tables }, fails],
    });
    const first = await run(id);
    expect(first.error).toMatchObject({ code: "assert_failed" });
    const again = await call("POST", `/runs/${first.id}/retry`, { wait: 20, confirm: true });
    expect(again.body.error).toMatchObject({ code: "assert_failed" });
    expect(await counts()).toMatchObject([{ used: 3 }]);
  });

  it("makes a step wait if its retry names limit_reached", async () => {
    const { define, start, call, run, clock, executor } = await open({ rows_per_day: 1 });
    await run(await define(ASKS, "First"));
    const retry = { attempts: 2, on: ["limit_reached"], initial: "1s", backoff: "fixed" };
    const id = await define({ steps: ASKS.steps.map((step) => Object.assign({ retry }, step)) });
    const { body } = await start(id);
    await executor.queue.waitUntilIdle();
    clock.advance(16 * HOUR - 1);
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    expect((await call("GET", `/runs/${body.id}`)).body.finished_at).toBeNull();
    clock.advance(1);
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    expect((await call("GET", `/runs/${body.id}`)).body.status).toBe("succeeded");
  });

  it("counts child runs and scheduled runs for their owner", async () => {
    const { call, clock, executor, define, run, counts } = await open({ rows_per_day: 100 });
    const inner = await define(ASKS, "Inner");
    await run(await define({ steps: [{ id: "inner", type: "workflow", workflow: inner }] }, "Outer"));
    expect(await counts()).toMatchObject([{ used: 3 }]);
    const timed = await define({ ...ASKS, schedule: { cron: "*/10 * * * *", timezone: "UTC" } }, "Timed");
    expect((await call("POST", `/workflows/${timed}/publish`, {})).status).toBe(200);
    clock.advance(10 * MINUTE);
    expect(await executor.startDueRuns()).toBe(1);
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    expect(await counts()).toMatchObject([{ used: 6 }]);
  });
});

describe("model_tokens_per_day", () => {
  it("fails model steps once it is used up, without calling the model", async () => {
    const { define, run, peer, counts, clock } = await open({ model_tokens_per_day: 120 });
    const id = await define(WRITES);
    expect((await run(id)).status).toBe("succeeded");
    const refused = await run(id);
    expect(refused.error).toMatchObject({
      code: "limit_reached",
      message: expect.stringContaining("120 model tokens"),
    });
    expect(peer.received).toHaveLength(1);
    expect(await counts()).toMatchObject([{ kind: "model_tokens", used: 120 }]);
    clock.advance(DAY);
    expect((await run(id)).status).toBe("succeeded");
  });

  it("counts the tokens of an answer that did not fit, and of its repair", async () => {
    const { define, run, counts, call } = await open({ model_tokens_per_day: 1_000 }, '{"mood":"fine"}');
    const schema = { type: "object", properties: { mood: { enum: ["good"] } }, required: ["mood"] };
    const id = await define({ steps: WRITES.steps.map((step) => ({ ...step, output_schema: schema })) });
    const failed = await run(id);
    expect(failed.error).toMatchObject({ code: "model_invalid_output" });
    expect(await counts()).toMatchObject([{ used: 240 }]);
    const { body } = await call("GET", `/runs/${failed.id}`);
    expect(body.usage).toMatchObject({ input_tokens: 200, output_tokens: 40 });
  });

  it("does not affect steps that call no model", async () => {
    const { define, run } = await open({ model_tokens_per_day: 1 });
    await run(await define(WRITES, "Writes"));
    expect((await run(await define(ASKS, "Asks"))).status).toBe("succeeded");
  });
});

describe("stored_bytes", () => {
  const LIMIT = 100_000;
  const KEEPS = {
    inputs: { type: "object", properties: { text: { type: "string" } } },
    state: { note: { type: "string", default: "" } },
    commit: { note: "done" },
    steps: [
      { id: "ask", type: "approval", message: "Go on?" },
      { id: "keep", type: "set", values: { text: "${{ inputs.text }}" } },
    ],
  };
  const FULL = { inputs: { text: "x".repeat(LIMIT) }, wait: 0 };

  it("refuses new runs and new versions of the owner when it is reached, and says what counts", async () => {
    const { define, call, instance, url } = await open({ stored_bytes: LIMIT });
    const id = await define(KEEPS);
    expect((await call("POST", `/workflows/${id}/runs`, FULL)).status).toBe(202);
    const refused = await call("POST", `/workflows/${id}/runs`, { wait: 0 });
    expect(expectProblem(refused, "storage_limit_reached").detail).toMatch(
      /^What "ci" of operator stores has 1\d\d,\d{3} bytes, and the maximum is 100,000 \(limits\.per_key\.stored_bytes\)/,
    );
    expect(refused.headers.get("retry-after")).toBe("600");
    for (const [method, path, body] of [
      ["POST", "/workflows", { name: "More" }],
      ["PATCH", `/workflows/${id}`, { description: "Longer." }],
      ["PUT", `/workflows/${id}/state`, { values: { note: "kept" } }],
    ] as const)
      expectProblem(await call(method, path, body), "storage_limit_reached");
    // Reading, archiving and requests that change nothing go on, and so do other keys.
    expect((await call("PATCH", `/workflows/${id}`, {})).status).toBe(200);
    expect((await call("GET", "/environment")).body.your_limits).toMatchObject([
      { limit: "stored_bytes", most: LIMIT, left: 0, resets_at: null },
    ]);
    const other = apiClient(url, (await instance.key({ name: "other" })).value);
    expect((await other("POST", `/workflows/${id}/runs`, { wait: 0 })).status).toBe(202);
    expect((await call("DELETE", `/workflows/${id}`)).status).toBe(200);
    expectProblem(await call("POST", `/workflows/${id}/restore`), "storage_limit_reached");
  });

  it("lets running runs continue, and allows new ones when old ones are purged", async () => {
    const { define, call, clock, executor, instance, url } = await open({ stored_bytes: LIMIT });
    const id = await define(KEEPS);
    const { body: run } = await call("POST", `/workflows/${id}/runs`, FULL);
    expect((await call("POST", `/workflows/${id}/runs`, { wait: 0 })).status).toBe(429);
    await untilPassing(async () => expect((await call("GET", "/approvals")).body).toHaveLength(1));
    const approver = apiClient(url, (await instance.key({ scopes: ["read", "approve"] })).value);
    const [{ id: approval }] = (await approver("GET", "/approvals")).body;
    expect((await approver("POST", `/approvals/${approval}`, { decision: "approve" })).status).toBe(200);
    await untilPassing(async () =>
      expect((await call("GET", `/runs/${run.id}`)).body.status).toBe("succeeded"),
    );
    // A job that is still ready would have waited for 91 days, and nothing starts behind such a queue.
    await untilPassing(async () =>
      expect(await instance.read.jobs.depth()).toMatchObject({ ready: 0, claimed: 0 }),
    );
    clock.advance(91 * DAY);
    await executor.purge();
    expect((await call("GET", `/runs/${run.id}`)).status).toBe(404);
    expect(await call("POST", `/workflows/${id}/runs`, { wait: 0 })).toMatchObject({ status: 202 });
  });

  it("counts child runs and skips schedules of the owner", async () => {
    const { define, call, run, clock, executor } = await open({ stored_bytes: LIMIT });
    const child = await define(SETS, "Child");
    await call("POST", `/workflows/${child}/publish`, {});
    const parent = await define(
      {
        inputs: KEEPS.inputs,
        steps: [{ id: "call", type: "workflow", workflow: child }],
      },
      "Parent",
    );
    const hourly = await define({ ...SETS, schedule: { cron: "0 * * * *", timezone: "UTC" } }, "Hourly");
    expect((await call("POST", `/workflows/${hourly}/publish`, {})).status).toBe(200);
    expect((await run(parent)).status).toBe("succeeded");
    const { body } = await call("POST", `/workflows/${parent}/runs`, { ...FULL, wait: 20 });
    expect(body).toMatchObject({ status: "failed", error: { code: "limit_reached" } });
    clock.advance(HOUR);
    expect(await executor.startDueRuns()).toBe(0);
    expect((await call("GET", `/workflows/${hourly}/schedule`)).body.skipped).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("stored_bytes"),
    });
  });
});

describe("mails_per_hour", () => {
  it("is shown by a step that waits for it, with the reason and the time", async () => {
    const clock = fakeClock();
    const { call, proceed, smtp } = await openDecisions({
      clock,
      definition: {
        steps: [{ id: "send", type: "email", to: "ada@example.com", subject: "Hello", text: "A text." }],
      },
      config: { limits: { per_key: { mails_per_hour: 1 } } },
    });
    const start = async () => (await call("POST", "/workflows/payment/runs", {})).body.id as string;
    const until = "2026-11-21T09:00:00.000Z";
    await start();
    await proceed();
    const id = await start();
    await proceed();
    expect(smtp.received).toHaveLength(1);
    const { body } = await call("GET", `/runs/${id}?detail=full`);
    expect(body).toMatchObject({
      status: "queued",
      steps: [
        {
          id: "send",
          status: "pending",
          waits_until: until,
          attempt_list: [
            {
              status: "failed",
              error: {
                code: "limit_reached",
                message: expect.stringContaining(`more are available from ${until}`),
              },
            },
          ],
        },
      ],
    });
    expect((await call("GET", "/environment")).body.your_limits).toContainEqual({
      limit: "mails_per_hour",
      most: 1,
      left: 0,
      resets_at: until,
    });
    clock.advance(HOUR);
    await proceed();
    expect((await call("GET", `/runs/${id}`)).body).toMatchObject({ status: "succeeded" });
  });
});

describe("limits of a key", () => {
  it("have defaults in a new installation that no person reaches, unless the configuration says otherwise", async () => {
    const { define, run, counts, call, instance, key } = await open({
      runs_per_hour: undefined,
      unfinished_runs: undefined,
      stored_bytes: undefined,
      mails_per_hour: undefined,
    });
    await run(await define({ steps: [...ASKS.steps, ...WRITES.steps] }));
    expect(await counts()).toMatchObject([{ kind: "runs", used: 1 }]);
    expect((await call("GET", "/environment")).body.your_limits).toMatchObject([
      { limit: "unfinished_runs", most: 20_000, left: 20_000 },
      { limit: "runs_per_hour", most: 100_000, left: 99_999 },
      { limit: "mails_per_hour", most: 2_000, left: 2_000 },
      { limit: "stored_bytes", most: 10 * 1024 ** 3, left: expect.any(Number) },
    ]);
    const { url } = await instance.rest({
      config: { limits: { per_key: { ...NO_DEFAULTS, unfinished_runs: 7 } } },
    });
    expect((await apiClient(url, key)("GET", "/environment")).body.your_limits).toEqual([
      { limit: "unfinished_runs", most: 7, left: 7, resets_at: null },
    ]);
  });

  it("store nothing if none is set", async () => {
    const { define, run, counts, call } = await open({
      runs_per_hour: null,
      unfinished_runs: "none",
    });
    await run(await define({ steps: [...ASKS.steps, ...WRITES.steps] }));
    expect(await counts()).toEqual([]);
    expect((await call("GET", "/environment")).body).not.toHaveProperty("your_limits");
  });

  it("are returned to the caller with the remaining amounts", async () => {
    const { define, run, start, call, url, instance } = await open({
      runs_per_hour: 10,
      unfinished_runs: 5,
      model_tokens_per_day: 100,
      rows_per_day: 1_000,
    });
    await run(await define({ steps: [...ASKS.steps, ...WRITES.steps] }));
    await start(await define(WAITS, "Waits"));
    const midnight = "2026-11-22T00:00:00.000Z";
    expect((await call("GET", "/environment")).body.your_limits).toEqual([
      { limit: "unfinished_runs", most: 5, left: 4, resets_at: null },
      { limit: "runs_per_hour", most: 10, left: 8, resets_at: "2026-11-21T09:00:00.000Z" },
      { limit: "model_tokens_per_day", most: 100, left: 0, resets_at: midnight },
      { limit: "rows_per_day", most: 1_000, left: 997, resets_at: midnight },
    ]);
    const stranger = apiClient(url, (await instance.key({ name: "other" })).value);
    const { body } = await stranger("GET", "/environment");
    expect(body.your_limits.map((one: { left: number }) => one.left)).toEqual([5, 10, 100, 1_000]);
  });
});
