/** The answers about runs: short, limited, and fast for any number of steps. */
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { byteCounter } from "../../src/store/stored-bytes.ts";
import { runWriter } from "../../src/store/run-writer.ts";
import { apiClient } from "../support/http.ts";
import type { Json } from "../support/json.ts";
import { testInstance } from "../support/instance.ts";
import { startTimer } from "../support/expect-cost.ts";

async function opened(config: unknown = {}) {
  const instance = await testInstance();
  const executor = await instance.executor({ config });
  const { url } = await instance.rest({ config });
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "approve"] });
  return { instance, executor, call: apiClient(url, value) };
}

/** Counts the statements of SQLite that read rows. @returns their number since the call */
function countStatements(): () => number {
  const statement = Object.getPrototypeOf(new Database(":memory:").prepare("select 1")) as Database.Statement;
  const spies = (["all", "get", "iterate"] as const).map((name) => vi.spyOn(statement, name));
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

const itemsOf = (step: Json) => step.item_list.map(({ item, status }: Json) => [item, status]);

describe("get_run", () => {
  it("returns 1,000 steps at once, without a query for each", async () => {
    const { call } = await opened();
    const steps = Array.from({ length: 1_000 }, (_, i) => ({
      id: `s${i}`,
      type: "set",
      needs: [],
      values: { i },
    }));
    await call("POST", "/workflows", { name: "Wide", definition: { steps, output: "done" } });
    const { body: run } = await call("POST", "/workflows/wide/runs", { wait: 50 });
    expect(run).toMatchObject({ status: "succeeded", output: "done" });
    const path = `/runs/${run.id}?detail=steps`;
    expect((await call("GET", path)).body.steps).toHaveLength(1_000);
    const statements = countStatements();
    await call("GET", path);
    expect(statements()).toBeGreaterThan(0);
    expect(statements()).toBeLessThan(30);
  });

  it("lists the failed items of a fan-out, in pages", async () => {
    const { call } = await opened();
    const steps = [
      {
        id: "check",
        type: "assert",
        for_each: "range(60)",
        that: "item % 2 == 0 || item < 10",
        on_error: "continue",
      },
      { id: "after", type: "set", values: { n: 1 } },
    ];
    await call("POST", "/workflows", { name: "Fan", definition: { steps } });
    const { body: run } = await call("POST", "/workflows/fan/runs", { wait: 50 });
    expect(run).toMatchObject({ status: "succeeded" });
    const read = async (query: string) => (await call("GET", `/runs/${run.id}?${query}`)).body.steps[0];
    const failed = Array.from({ length: 25 }, (_, index) => [11 + 2 * index, "failed"]);
    const first = await read("step_id=check&item_status=failed");
    expect(first).toMatchObject({ status: "succeeded", items: { total: 60, failed: 25 } });
    expect(itemsOf(first)).toEqual(failed.slice(0, 20));
    const second = await read("step_id=check&item_status=failed&item=50");
    expect(second).toMatchObject({ item: 50 });
    expect(itemsOf(second)).toEqual(failed.slice(20));
    expect((await read("step_id=check")).item_list[0]).toMatchObject({ item: 0, status: "succeeded" });
    expect(await read("step_id=after&item_status=failed")).not.toHaveProperty("item_list");
    const { status, body } = await call("GET", `/runs/${run.id}?item_status=failed`);
    expect([status, body.errors[0].path]).toEqual([400, "step_id"]);
  });

  it("truncates large values and returns the full values in pages", async () => {
    const { call } = await opened();
    const values = { text: "äö".repeat(15_000) };
    const steps = [{ id: "big", type: "set", values }];
    await call("POST", "/workflows", { name: "Big", definition: { steps } });
    const { body: run } = await call("POST", "/workflows/big/runs", { wait: 20 });
    expect(run.output).toMatchObject({ truncated: true, chars: 30_011, ref: "output" });
    expect(run.output.preview).toHaveLength(20_000);
    expect(run.next).toContain(`/runs/${run.id}/values/output`);
    const { body: step } = await call("GET", `/runs/${run.id}?step_id=big&max_chars=100`);
    expect(step.steps[0].output).toMatchObject({ truncated: true, ref: "steps.big.output" });
    let text = "";
    for (let offset: number | null = 0; offset !== null;) {
      const { body: page }: { body: Json } = await call(
        "GET",
        `/runs/${run.id}/values/steps.big.output?offset=${offset}`,
      );
      text += page.text;
      offset = page.next_offset;
    }
    expect(JSON.parse(text)).toEqual(values);
  });

  it("summarizes a failure in limited space, however long its parts are", async () => {
    const { call } = await opened();
    const steps = [
      { id: "check", type: "assert", that: "size(inputs.text) < 5", message: "Too long: ${{ inputs.text }}" },
    ];
    const inputs = { type: "object", properties: { text: { type: "string" } } };
    await call("POST", "/workflows", { name: "Long", definition: { inputs, steps } });
    const { status, body } = await call("POST", "/workflows/long/runs", {
      inputs: { text: "y".repeat(50_000) },
      wait: 20,
    });
    expect({ status, run: body.status }).toEqual({ status: 200, run: "failed" });
    expect(JSON.stringify(body).length).toBeLessThan(4_000);
    expect(body.failed_step).toMatchObject({ id: "check", type: "assert" });
  });
});

describe("the model usage of a run", () => {
  const at = "2026-11-21T08:00:00.000Z";

  async function withRuns(count: number) {
    const { instance, call } = await opened();
    const steps = [{ id: "a", type: "set", for_each: "[1, 2]", values: { n: "${{ item }}" } }];
    await call("POST", "/workflows", { name: "A", definition: { steps } });
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1)
      ids.push((await call("POST", "/workflows/a/runs", { wait: 20 })).body.id as string);
    /** Attempts as an executor records them: steps with many items, some attempted twice. */
    const used = (
      runId: string,
      usages: readonly [item: number | null, attempt: number, cost: number | null][],
    ) =>
      instance.store.transaction(async (trx) => {
        const runs = runWriter(trx, byteCounter(trx));
        for (const [item, attempt, cost] of usages)
          await runs.saveAttempt(
            { runId, stepId: item === null ? "ask" : "each", item },
            {
              attempt,
              status: "succeeded",
              executor: null,
              startedAt: at,
              finishedAt: at,
              usage: { input_tokens: 100, output_tokens: 20, cost },
              error: null,
            },
          );
      });
    const usageOf = async (id: string, query = "") => (await call("GET", `/runs/${id}${query}`)).body.usage;
    return { ids, used, usageOf };
  }

  it("is summed over all attempts of all steps and items, and returned at every level of detail", async () => {
    const { ids, used, usageOf } = await withRuns(2);
    const [id, other] = ids as [string, string];
    const items = Array.from({ length: 300 }, (_, item) => [item, 1, 0.25] as [number, number, number]);
    await used(id, [...items, [7, 2, 0.25], [null, 1, 0.5], [null, 2, 0.5]]);
    await used(other, [[null, 1, 8]]);
    for (const query of ["", "?detail=steps", "?detail=full", "?step_id=a", "?step_id=a&item=1"])
      expect(await usageOf(id, query)).toEqual({ input_tokens: 30_300, output_tokens: 6_060, cost: 76.25 });
  });

  it("has no cost, instead of too low a cost, if a part has no price", async () => {
    const { ids, used, usageOf } = await withRuns(2);
    const [mixed, priceless] = ids as [string, string];
    await used(mixed, [
      [0, 1, 0.25],
      [1, 1, null],
    ]);
    await used(priceless, [[0, 1, null]]);
    expect(await usageOf(mixed)).toEqual({ input_tokens: 200, output_tokens: 40, cost: null });
    expect(await usageOf(priceless)).toEqual({ input_tokens: 100, output_tokens: 20, cost: null });
  });

  it("can be free, and is left out if no model was called", async () => {
    const { ids, used, usageOf } = await withRuns(2);
    const [free, none] = ids as [string, string];
    await used(free, [[0, 1, 0]]);
    expect(await usageOf(free)).toMatchObject({ cost: 0 });
    expect(await usageOf(none)).toBeUndefined();
  });
});

describe("the definition of a run", () => {
  it("is that of its version, despite later changes of the workflow, or the changed one of a retry", async () => {
    const { call } = await opened();
    const definition = { steps: [{ id: "check", type: "assert", that: "1 > 2", message: "Never." }] };
    await call("POST", "/workflows", { name: "A", definition });
    const { body: first } = await call("POST", "/workflows/a/runs", { wait: 20 });
    await call("PATCH", "/workflows/a", { definition: { steps: [{ id: "b", type: "set", values: {} }] } });
    const patch = [{ op: "update_step", id: "check", set: { that: "2 > 1" } }];
    const { body: retried } = await call("POST", `/runs/${first.id}/retry`, { patch, wait: 20 });
    const { body: again } = await call("POST", `/runs/${retried.id}/retry`, { wait: 20 });
    const definitionOf = async ({ id }: Json) => (await call("GET", `/runs/${id}/definition`)).body;
    const known = { workflow_id: "a", version: 1 };
    expect(await definitionOf(first)).toEqual({ ...known, patched: false, definition });
    const changed = { steps: [{ ...definition.steps[0], that: "2 > 1" }] };
    expect(await definitionOf(retried)).toEqual({ ...known, patched: true, definition: changed });
    expect(await definitionOf(again)).toEqual({ ...known, patched: true, definition: changed });
  });
});

describe("run_workflow", () => {
  it("answers 202 with the run's URL and a hint if there is no executor, and 200 when the run has ended", async () => {
    const instance = await testInstance();
    const call = apiClient((await instance.rest()).url, (await instance.key()).value);
    const steps = [{ id: "a", type: "set", values: { n: 1 } }];
    await call("POST", "/workflows", { name: "A", definition: { steps } });
    const first = await call("POST", "/workflows/a/runs", {}, { "Idempotency-Key": "k" });
    expect(first).toMatchObject({
      status: 202,
      body: { status: "queued", next: expect.stringContaining("executor") },
    });
    expect(first.headers.get("location")).toBe(`/runs/${first.body.id}`);
    await instance.executor();
    // The repeated request waits for the same run, although the first one did not wait.
    const again = await call("POST", "/workflows/a/runs", {}, { "Idempotency-Key": "k" });
    expect(again.body.id).toBe(first.body.id);
    const done = await call("GET", `/runs/${first.body.id}`);
    expect([200, 202]).toContain(again.status);
    expect(done.body.version).toBe(1);
    expect((await call("GET", "/runs")).body).toHaveLength(1);
  });

  it("answers immediately when the run waits for longer, and says until when", async () => {
    const { call } = await opened();
    const steps = [{ id: "a", type: "wait", for: "1h" }];
    await call("POST", "/workflows", { name: "A", definition: { steps } });
    const expectElapsed = startTimer();
    const { status, body } = await call("POST", "/workflows/a/runs", { wait: 20 });
    // The call does not wait for a step that waits for an hour.
    expectElapsed(10_000);
    expect({ status, run: body.status }).toEqual({ status: 202, run: "waiting" });
    expect(body.progress).toEqual({ total: 1, done: 0, current: ["a"] });
    expect(body.next).toMatch(/It waits until 20\d\d-/);
  });
});

describe("publishing", () => {
  it("changes the ETag, and If-Match accepts it", async () => {
    const { call } = await opened();
    const steps = [{ id: "a", type: "set", values: { n: 1 } }];
    await call("POST", "/workflows", { name: "A", definition: { steps } });
    const published = await call("POST", "/workflows/a/publish", {}, { "If-Match": '"1"' });
    expect(published.headers.get("etag")).toBe('"1-p1"');
    expect((await call("GET", "/workflows/a", undefined, { "If-None-Match": '"1"' })).status).toBe(200);
    expect((await call("GET", "/workflows/a", undefined, { "If-None-Match": '"1-p1"' })).status).toBe(304);
    const changed = await call("PATCH", "/workflows/a", { name: "B" }, { "If-Match": '"1-p1"' });
    expect(changed.headers.get("etag")).toBe('"2-p1"');
    expect((await call("PATCH", "/workflows/a", { name: "C" }, { "If-Match": '"1-p1"' })).status).toBe(412);
  });

  it("reports that examples need an executor", async () => {
    const instance = await testInstance();
    const call = apiClient((await instance.rest()).url, (await instance.key()).value);
    const steps = [{ id: "a", type: "set", values: { n: 1 } }];
    await call("POST", "/workflows", { name: "A", definition: { steps, examples: [{ inputs: {} }] } });
    const { status, body } = await call("POST", "/workflows/a/publish");
    expect({ status, code: body.code }).toEqual({ status: 409, code: "examples_failed" });
    expect(body.detail).toContain("No executor");
  });
});
