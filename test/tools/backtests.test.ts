/** Backtests: runs of the past are run again with another definition, and nothing outside notices. */
import { describe, expect, it } from "vitest";
import type { Backtest } from "../../schemas/backtest.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { getBacktest } from "../../tools/backtests/get-backtest.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { getWorkflowState } from "../../tools/workflow-state/get-workflow-state.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

/** A workflow that reads a rate and posts a payment, with a peer that counts what it gets. */
async function payments(fields: { steps?: (url: string) => object[]; output?: string } = {}) {
  const here = await exampleEnvironment({
    http: ({ method, path, json }) =>
      method === "GET"
        ? { body: { rate: 2 } }
        : (json as { amount?: number }).amount === 13
          ? { status: 422, body: { why: "unlucky" } }
          : { body: { booked: json, path } },
  });
  const { url } = here;
  const definition = {
    inputs: {
      type: "object",
      properties: { amount: { type: "integer" }, to: { type: "string", default: "ada" } },
      required: ["amount"],
    },
    steps: fields.steps?.(url) ?? [
      { id: "rate", type: "http", url: `${url}/rate?day=1` },
      { id: "sum", type: "set", values: { total: "${{ inputs.amount * int(steps.rate.body.rate) }}" } },
      {
        id: "pay",
        type: "http",
        method: "POST",
        url: `${url}/pay`,
        body: { amount: "${{ inputs.amount }}", total: "${{ steps.sum.total }}" },
      },
    ],
    output: fields.output ?? "${{ {'total': steps.sum.total, 'at': run.started_at} }}",
  };
  await here.call(createWorkflow, { name: "Pay", definition });
  const runAll = async (amounts: readonly number[]) => {
    for (const amount of amounts) {
      await here.run("pay", { amount });
      here.clock.advance(1_000);
    }
  };
  /** Runs a backtest to its end. */
  const backtest = async (input: object = {}): Promise<Backtest> => {
    const { id, workflow_id } = await here.call<Backtest>(backtestWorkflow, {
      workflow_id: "pay",
      ...input,
    });
    for (;;) {
      await here.executor.continueBacktests();
      const found = await here.call<Backtest>(getBacktest, { workflow_id, backtest_id: id });
      if (found.status !== "running") return found;
    }
  };
  const sent = () => here.requests.length;
  return { here, definition, runAll, backtest, sent };
}

describe("a backtest", () => {
  it("finds all runs equal where nothing has changed, and calls nothing", async () => {
    const { runAll, backtest, sent } = await payments();
    await runAll([1, 2, 13, 4]);
    const before = sent();
    const found = await backtest();
    expect(found).toMatchObject({ status: "finished", runs: { total: 4, equal: 4 }, first: [] });
    expect(found.effects).toEqual([
      { step: "pay", type: "http", unchanged: 4, changed: 0, added: 0, removed: 0 },
    ]);
    expect(sent()).toBe(before);
  });

  it("names the field that differs, and what would be sent", async () => {
    const { runAll, backtest, sent } = await payments();
    await runAll([1, 100]);
    const before = sent();
    const found = await backtest({
      patch: [
        {
          op: "update_step",
          id: "sum",
          set: {
            values: { total: "${{ inputs.amount > 50 ? 0 : inputs.amount * int(steps.rate.body.rate) }}" },
          },
        },
      ],
    });
    expect(found).toMatchObject({
      draft: true,
      runs: { total: 2, equal: 1, different: 1 },
      first: [
        {
          result: "different",
          difference: {
            step: "sum",
            differences: [
              { path: "steps.sum.output.total", before: 200, after: 0 },
              { path: "output.total", before: 200, after: 0 },
            ],
          },
        },
      ],
      effects: [
        {
          step: "pay",
          unchanged: 1,
          changed: 1,
          first: { differences: [{ path: "steps.pay.input.body.total", before: 200, after: 0 }] },
        },
      ],
    });
    expect(sent()).toBe(before);
  });

  it("takes the results of failed steps and skipped ones from the runs", async () => {
    const { runAll, backtest, sent } = await payments({
      steps: (url) => [
        {
          id: "pay",
          type: "http",
          method: "POST",
          url,
          body: { amount: "${{ inputs.amount }}" },
          on_error: "continue",
          retry: { attempts: 3, initial: "1h", on: ["http_status"] },
        },
        { id: "thanks", type: "http", method: "POST", url, if: "steps.pay.status == 'succeeded'", body: {} },
      ],
      output: "${{ steps.pay.status }}",
    });
    await runAll([1, 13]);
    const before = sent();
    const found = await backtest({
      patch: [{ op: "update_step", id: "thanks", set: { if: "steps.pay.status == 'failed'" } }],
    });
    expect(found.runs).toMatchObject({ total: 2, different: 2 });
    expect(found.effects).toMatchObject([
      { step: "pay", unchanged: 2 },
      { step: "thanks", unchanged: 0, added: 1, removed: 1 },
    ]);
    expect(sent()).toBe(before);
  });

  it("says which runs would fail now, and why", async () => {
    const { runAll, backtest } = await payments();
    await runAll([1, 2, 30]);
    const found = await backtest({
      patch: [
        { op: "add_step", step: { id: "limit", type: "assert", that: "inputs.amount < 10" }, after: "sum" },
      ],
    });
    expect(found).toMatchObject({
      runs: { equal: 2, failing: 1 },
      first: [
        {
          result: "failing",
          status: "succeeded",
          difference: { step: "limit", message: expect.stringContaining("assert_failed") },
        },
      ],
      effects: [{ step: "pay", unchanged: 2, removed: 1 }],
    });
  });

  it("counts a new step with effects whose output nothing reads as an effect", async () => {
    const { here, runAll, backtest, sent } = await payments();
    await runAll([1]);
    const before = sent();
    const step = {
      id: "tell",
      type: "http",
      method: "POST",
      url: here.url,
      body: { paid: "${{ inputs.amount }}" },
    };
    const output = "${{ {'total': steps.sum.total, 'at': run.started_at} }}";
    const patch = [
      { op: "add_step", step },
      { op: "update_top", set: { output } },
    ];
    expect(await backtest({ patch })).toMatchObject({
      runs: { different: 1 },
      first: [{ difference: { message: 'The effects of "tell" (http) differ: 1 added.' } }],
      effects: [
        { step: "pay", unchanged: 1 },
        { step: "tell", added: 1 },
      ],
    });
    expect(sent()).toBe(before);
  });

  it("compares no run that needs the output of a new step, unless it is given", async () => {
    const { here, runAll, backtest, sent } = await payments();
    await runAll([1]);
    const before = sent();
    const patch = [
      {
        op: "add_step",
        step: { id: "quote", type: "http", method: "POST", url: here.url, body: {} },
        before: "pay",
      },
      { op: "update_step", id: "pay", set: { body: { amount: "${{ steps.quote.body.price }}" } } },
    ];
    expect(await backtest({ patch })).toMatchObject({
      runs: { not_comparable: 1 },
      reasons: { new_step: 1 },
      first: [{ difference: { reason: "new_step", step: "quote", fix: expect.stringContaining("given") } }],
      effects: [
        { step: "quote", added: 1 },
        { step: "pay", removed: 1 },
      ],
    });
    expect(await backtest({ patch, given: { quote: { status: 200, body: { price: 7 } } } })).toMatchObject({
      runs: { different: 1 },
      effects: [
        { step: "quote", added: 1 },
        {
          step: "pay",
          changed: 1,
          first: { differences: [{ path: "steps.pay.input.body.amount", after: 7 }, {}] },
        },
      ],
    });
    expect(sent()).toBe(before);
  });

  it("runs a changed query only if it reads live", async () => {
    const { here, runAll, backtest, sent } = await payments();
    await runAll([1]);
    const before = sent();
    const patch = [{ op: "update_step", id: "rate", set: { url: `${here.url}/rate?day=2` } }];
    const found = await backtest({ patch });
    expect(found).toMatchObject({ runs: { not_comparable: 1 }, reasons: { changed_read: 1 } });
    expect(found.next).toContain('reads: "live"');
    expect(sent()).toBe(before);
    expect(await backtest({ patch, reads: "live" })).toMatchObject({ runs: { equal: 1 } });
    expect(here.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /rate?day=2",
    ]);
  });

  it("finds the items of a fan-out again where its list has changed", async () => {
    const { runAll, backtest, sent } = await payments({
      steps: (url) => [
        {
          id: "send",
          type: "http",
          method: "POST",
          url,
          for_each: "range(inputs.amount)",
          body: { n: "${{ item }}" },
        },
      ],
      output: "${{ steps.send.items.map(i, i.body.booked.n) }}",
    });
    await runAll([5]);
    const before = sent();
    const patch = [
      { op: "update_step", id: "send", set: { for_each: "range(inputs.amount).filter(n, n != 1)" } },
    ];
    expect(await backtest({ patch })).toMatchObject({
      runs: { different: 1 },
      effects: [{ step: "send", unchanged: 4, changed: 0, added: 0, removed: 1 }],
      first: [
        {
          difference: {
            differences: [
              { path: "steps.send.items[1].input.body.n", before: 1, after: 2 },
              { path: "output[1]", before: 1 },
            ],
          },
        },
      ],
    });
    expect(sent()).toBe(before);
  });

  it("does not say what a step returns that failed with another input", async () => {
    const { runAll, backtest } = await payments();
    await runAll([13]);
    const patch = [{ op: "update_step", id: "pay", set: { body: { amount: 1 } } }];
    expect(await backtest({ patch })).toMatchObject({
      runs: { not_comparable: 1 },
      reasons: { failed_before: 1 },
    });
  });

  it("reports runs whose inputs the definition refuses as failing", async () => {
    const { runAll, backtest } = await payments();
    await runAll([1, 20]);
    const inputs = {
      type: "object",
      properties: { amount: { type: "integer", maximum: 10 }, to: { type: "string", default: "ada" } },
      required: ["amount"],
    };
    expect(await backtest({ patch: [{ op: "update_top", set: { inputs } }] })).toMatchObject({
      runs: { equal: 1, failing: 1 },
      first: [{ replay: null, difference: { message: expect.stringContaining("inputs.amount") } }],
    });
  });

  it("reads the state of the run, and compares what would be committed", async () => {
    const { here, backtest } = await payments();
    const definition = {
      inputs: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      state: { sum: { type: "integer", default: 0 } },
      steps: [{ id: "next", type: "set", values: { sum: "${{ state.sum + inputs.n }}" } }],
      commit: { sum: "${{ steps.next.sum }}" },
      output: "done",
    };
    await here.call(createWorkflow, { name: "Count", definition });
    for (const n of [1, 2, 3]) {
      await here.run("count", { n });
      here.clock.advance(1_000);
    }
    expect(await backtest({ workflow_id: "count" })).toMatchObject({ runs: { total: 3, equal: 3 } });
    const patch = [
      { op: "update_top", set: { commit: { sum: "${{ steps.next.sum > 2 ? 0 : steps.next.sum }}" } } },
    ];
    expect(await backtest({ workflow_id: "count", patch })).toMatchObject({
      runs: { equal: 1, different: 2 },
      first: [
        { difference: { differences: [{ path: "committed.sum", before: 6, after: 0 }] } },
        { difference: { differences: [{ path: "committed.sum", before: 3, after: 0 }] } },
      ],
    });
    const state = await here.call(getWorkflowState, { workflow_id: "count" });
    expect(state).toMatchObject({ values: { sum: 6 } });
  });

  it("takes over waits, and neither waits for runs of the workflow nor delays them", async () => {
    const { here, backtest } = await payments();
    const definition = {
      concurrency: 1,
      steps: [
        { id: "pause", type: "wait", for: "1h" },
        { id: "hold", type: "wait", for: "30d", if: "inputs.hold" },
      ],
      inputs: { type: "object", properties: { hold: { type: "boolean", default: false } } },
      output: "${{ steps.pause.waited_until }}",
    };
    await here.call(createWorkflow, { name: "Slow", definition });
    await here.run("slow");
    await here.call(runWorkflow, { workflow_id: "slow", inputs: { hold: true }, wait: 0 });
    await here.settle();
    expect(await backtest({ workflow_id: "slow" })).toMatchObject({ runs: { total: 1, equal: 1 } });
    const patch = [{ op: "update_step", id: "pause", set: { for: "2h" } }];
    expect(await backtest({ workflow_id: "slow", patch })).toMatchObject({ runs: { equal: 1 } });
  });

  it("calls nothing for a step whose output is given, and takes its error for a failure", async () => {
    const { here, runAll, backtest, sent } = await payments();
    await runAll([1]);
    const before = sent();
    const quote = { id: "quote", type: "http", url: `${here.url}/quote`, on_error: "continue" };
    const patch = [
      { op: "add_step", step: quote, before: "pay" },
      { op: "update_step", id: "pay", set: { body: { amount: "${{ steps.quote.status }}" } } },
    ];
    const amountOf = async (output: object) => {
      const { effects } = await backtest({ patch, reads: "live", given: { quote: output } });
      return effects![0]!.first!.differences[0];
    };
    expect(await amountOf({ body: { price: 7 } })).toMatchObject({ before: 1, after: "succeeded" });
    const error = { code: "http_status", message: "GET /quote answered 503." };
    expect(await amountOf({ error })).toMatchObject({ before: 1, after: "failed" });
    expect(sent()).toBe(before);
  });

  it("leaves the cache of real runs as it is", async () => {
    const { here, runAll, backtest } = await payments();
    await runAll([1]);
    const set = { url: `${here.url}/rate?day=2`, cache: "30d" };
    const patch = [{ op: "update_step", id: "rate", set }];
    await backtest({ patch, reads: "live" });
    await here.call(updateWorkflow, { workflow_id: "pay", patch });
    const before = here.requests.length;
    await here.run("pay", { amount: 1 });
    expect(here.requests.slice(before).map(({ path }) => path)).toEqual(["/rate?day=2", "/pay"]);
  });
});
