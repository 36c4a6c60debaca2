/** Tests of drafts from the editor. */
import { describe, expect, it } from "vitest";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { testWorkflow } from "../../tools/runs/test-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import type { Json } from "../support/json.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });
const mail = (id: string, text: string, more: object = {}) => ({
  id,
  type: "email",
  to: ["team@example.com"],
  subject: "Report",
  text,
  ...more,
});

async function environment() {
  const here = await exampleEnvironment();
  await here.call(createWorkflow, { name: "Report", definition: { steps: [set("saved", { total: 1 })] } });
  const test = (steps: readonly object[], more: object = {}, inputs?: object) =>
    here.call<Json>(testWorkflow, {
      workflow_id: "report",
      definition: { ...(inputs !== undefined && { inputs }), steps },
      wait: 20,
      ...more,
    });
  const outputs = async ({ id }: Json): Promise<Json> => {
    const { steps } = await here.call<{ steps: Json[] }>(getRun, { run_id: id, detail: "full" });
    return Object.fromEntries(steps.map((step) => [step["id"], step["output"] ?? step["status"]]));
  };
  return { here, test, outputs };
}

describe("the test of a draft", () => {
  it("runs a definition that is not saved, and saves nothing", async () => {
    const { here, test, outputs } = await environment();
    const run = await test([set("drafted", { total: 2 })]);
    expect(run).toMatchObject({ status: "succeeded", trial: true, patched: true });
    expect(await outputs(run)).toEqual({ drafted: { total: 2 } });
    expect(await here.call(getWorkflow, { workflow_id: "report" })).toMatchObject({
      version: 1,
      definition: { steps: [{ id: "saved" }] },
    });
  });

  it("holds effects back, shows what they would be, and lets only confirmed ones happen, once", async () => {
    const { here, test } = await environment();
    const steps = [
      set("sums", { total: 7 }),
      mail("first", "Total: ${{ steps.sums.total }}"),
      mail("second", "Two"),
    ];
    const held = await test(steps);
    expect(held).toMatchObject({
      status: "failed",
      error: { code: "not_given", step_id: "first" },
      failed_step: { input: { text: "Total: 7" } },
    });
    expect(here.mails).toHaveLength(0);
    const confirmed = await test(steps, { effects: ["first"] });
    expect(confirmed).toMatchObject({ status: "failed", error: { code: "not_given", step_id: "second" } });
    expect(here.mails).toHaveLength(1);
    const patch = [{ op: "update_step", id: "first", set: { text: "Changed" } }];
    const again = await here.call<Json>(retryRun, { run_id: confirmed["id"], patch, wait: 20 });
    expect(again).toMatchObject({ status: "failed", error: { code: "not_given", step_id: "first" } });
    expect(here.mails).toHaveLength(1);
  });

  it("runs one step after those that it waits for, without the effects of these", async () => {
    const { here, test, outputs } = await environment();
    const steps = [
      set("sums", { total: "${{ inputs.n + 1 }}" }),
      set("aside", { broken: "${{ steps.nothing.here }}" }, { needs: [] }),
      mail("send", "One", { needs: ["sums"] }),
      set("last", { twice: "${{ steps.sums.total * 2 }}" }, { needs: ["send"] }),
      set("after", { never: true }),
    ];
    const inputs = { type: "object", properties: { n: { type: "number" } } };
    const run = await test(steps, { step_id: "last", inputs: { n: 4 } }, inputs);
    expect(run).toMatchObject({ status: "succeeded" });
    expect(await outputs(run)).toEqual({ sums: { total: 5 }, send: {}, last: { twice: 10 } });
    expect(here.mails).toHaveLength(0);
    // Outputs of an earlier test stand in for its steps.
    const given = { from_run: run["id"], steps: ["sums", "send"] };
    const next = await test(steps, { step_id: "last", inputs: { n: 9 }, given }, inputs);
    expect(await outputs(next)).toEqual({ sums: { total: 5 }, send: {}, last: { twice: 10 } });
  });

  it("refuses a draft with issues, and outputs that its steps can't have", async () => {
    const { test } = await environment();
    await expect(test([set("a", { x: "${{ nothing }}" })])).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: { errors: [{ path: "steps[0].values.x" }] },
    });
    await expect(test([set("a", { x: 1 })], { given: { a: { y: 1 } } })).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "given.a.y" }] },
    });
    await expect(test([set("a", { x: 1 })], { step_id: "b" })).rejects.toMatchObject({
      details: { errors: [{ path: "step_id", allowed: ["a"] }] },
    });
  });
});
