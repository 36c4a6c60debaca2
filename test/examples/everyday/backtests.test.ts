import { describe, expect, it } from "vitest";
import type { WorkflowVersion } from "../../../schemas/workflow.ts";
import { getWorkflowVersion } from "../../../tools/workflows/get-workflow-version.ts";
import { publishWorkflow } from "../../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../../tools/workflows/update-workflow.ts";
import { nextTurn } from "../../../src/core/next-turn.ts";
import { exampleEnvironment } from "../../support/example-environment.ts";

describe("everyday work with changes", () => {
  it("charges as before a change, until somebody accepts by name what differs", async () => {
    const environment = await exampleEnvironment({
      http: ({ method }) => ({ body: method === "GET" ? { cents_per_unit: 10 } : { id: "charge_1" } }),
    });
    const workflow_id = await environment.publish("tested-changes");
    for (const units of [10, 999, 1_000, 1_001, 2_000])
      await environment.run(workflow_id, { customer: "ada", units });
    const calls = environment.requests.length;
    const change = (step: string, set: object) =>
      environment.call(updateWorkflow, { workflow_id, patch: [{ op: "update_step", id: step, set }] });
    const price = (condition: string) =>
      change("bill", { values: { cents: `\${{ inputs.units * (${condition} ? 9 : 10) }}` } });
    /** Publishes while the executor goes on with the backtest. */
    const publish = async (input: object = {}) => {
      const state = { isPublishing: true };
      const answer = environment.call(publishWorkflow, { workflow_id, ...input }).finally(() => {
        state.isPublishing = false;
      });
      answer.catch(() => undefined);
      while (state.isPublishing) {
        await environment.executor.continueBacktests();
        await nextTurn();
      }
      return answer;
    };

    await environment.call(updateWorkflow, {
      workflow_id,
      patch: [{ op: "update_top", set: { output: { cents: "${{ steps.bill.cents }}", note: "A month" } } }],
    });
    await publish();

    const names = ["output.cents", "steps.charge.input.body.cents"];
    await price("inputs.units >= 1000");
    await expect(publish()).rejects.toMatchObject({
      code: "backtest_differs",
      message: expect.stringContaining(
        "differs in output.cents, steps.charge.input.body.cents (3 of the last 5 runs, ",
      ),
      details: { errors: [{ path: "accept_differences", allowed: names }] },
    });

    await price("inputs.units > 1000");
    await expect(publish()).rejects.toMatchObject({
      message: expect.stringContaining("(2 of the last 5 runs, "),
    });
    await publish({ accept_differences: names });
    const live = await environment.call<WorkflowVersion>(getWorkflowVersion, { workflow_id, version: 4 });
    expect(live.backtest).toMatchObject({ runs: { total: 5, equal: 0, different: 5 }, accepted: names });
    expect(environment.requests).toHaveLength(calls);
  });
});
