/** Backtests: runs of the past are run again with another definition, and nothing outside notices. */
import { describe, expect, it } from "vitest";
import type { Backtest } from "../../schemas/backtest.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { getBacktest } from "../../tools/backtests/get-backtest.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
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
    const { id } = await here.call<Backtest>(backtestWorkflow, { workflow_id: "pay", ...input });
    for (;;) {
      await here.executor.continueBacktests();
      const found = await here.call<Backtest>(getBacktest, { workflow_id: "pay", backtest_id: id });
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
          set: { values: { total: "${{ inputs.amount > 50 ? 0 : inputs.amount * int(steps.rate.body.rate) }}" } },
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
});
