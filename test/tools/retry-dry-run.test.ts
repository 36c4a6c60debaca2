/** A retry says what it reuses, what it runs, and which effects it has: before it starts, and after it has ended. */
import { describe, expect, it } from "vitest";
import { getRun } from "../../tools/runs/get-run.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";
import type { Json } from "../support/json.ts";

const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });

/** A run that has sent two requests and failed in its last step. */
async function failedRun() {
  const here = await exampleEnvironment();
  const definition = {
    inputs: { type: "object", properties: { n: { type: "integer", default: 1 } } },
    steps: [
      set("sums", { total: "${{ inputs.n }}" }),
      { id: "post", type: "http", method: "POST", url: here.url, for_each: "[1, 2]", body: "${{ item }}" },
      set("never", {}, { if: "false" }),
      { id: "check", type: "assert", that: "steps.sums.total > 1" },
      { id: "last", type: "http", method: "POST", url: here.url, body: { x: "last" } },
    ],
  };
  await here.call(createWorkflow, { name: "Report", definition });
  const { id } = await here.run("report");
  expect(here.requests).toHaveLength(2);
  const retry = (input: object) => here.call<Json>(retryRun, { run_id: id, wait: 20, ...input });
  return { here, id, retry };
}

const repaired = { patch: [{ op: "update_step", id: "check", set: { that: "steps.sums.total > 0" } }] };

describe("a run that failed", () => {
  it("names the newest run that retries it, and how that goes", async () => {
    const { here, id, retry } = await failedRun();
    expect(await here.call(getRun, { run_id: id })).not.toHaveProperty("retried_by");
    await retry({});
    here.clock.advance(1);
    const { id: repeated } = await retry(repaired);
    const failed = await here.call<Json>(getRun, { run_id: id });
    expect(failed).toMatchObject({
      status: "failed",
      failed_step: { id: "check" },
      retried_by: repeated,
      next: `${repeated} retries it: succeeded (get_run, GET /runs/${repeated}).`,
    });
  });
});

describe("a retry with dry_run", () => {
  it("says what would be reused and run, and starts nothing", async () => {
    const { here, id, retry } = await failedRun();
    const answer = await retry({ ...repaired, dry_run: true });
    expect(answer).toMatchObject({
      id,
      status: "failed",
      retry: { reused: ["sums", "post"], run: ["never", "check", "last"], effects: ["last"] },
      next: expect.stringMatching(/^Nothing was started\. A retry would reuse the outputs of sums, post/),
    });
    expect(answer["next"]).not.toContain("confirm");
    expect(await here.call(listRuns, {})).toMatchObject({ total: 1 });
    expect(here.requests).toHaveLength(2);
  });

  it("says which effects would be repeated, and that this needs confirm", async () => {
    const { here, retry } = await failedRun();
    const patch = [...repaired.patch, { op: "update_step", id: "post", set: { body: "new" } }];
    expect(await retry({ patch, dry_run: true })).toMatchObject({
      retry: { reused: ["sums"], effects: ["post", "last"] },
      next: expect.stringContaining("confirm: true"),
    });
    const refused = await retry({ patch }).catch((error: object) => error);
    expect(refused).toMatchObject({
      code: "confirmation_needed",
      message: expect.stringContaining("reuse the outputs of sums"),
    });
    expect(here.requests).toHaveLength(2);
  });

  it("refuses what the retry itself would refuse", async () => {
    const { retry } = await failedRun();
    await expect(retry({ inputs: { n: "x" }, dry_run: true })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("a retry", () => {
  it("says what it has reused and run, also later", async () => {
    const { here, retry } = await failedRun();
    const answer = await retry(repaired);
    const expected = { reused: ["sums", "post"], run: ["check", "last"], effects: ["last"] };
    expect(answer).toMatchObject({ status: "succeeded", retry: expected });
    expect(await here.call(getRun, { run_id: answer["id"] })).toMatchObject({ retry: expected });
    expect(here.requests.map(({ body }) => body).slice(2)).toEqual(['{"x":"last"}']);
  });

  it("counts a fan-out as run when one of its items was not reused", async () => {
    const { retry } = await failedRun();
    const patch = [...repaired.patch, { op: "update_step", id: "post", set: { for_each: "[1, 2, 3]" } }];
    expect(await retry({ patch, confirm: true })).toMatchObject({
      retry: { reused: ["sums"], run: ["post", "check", "last"], effects: ["post", "last"] },
    });
  });

  it("says what it will do while it has not ended", async () => {
    const { retry } = await failedRun();
    const patch = [...repaired.patch, { op: "add_step", step: { id: "pause", type: "wait", for: "1d" } }];
    expect(await retry({ patch, wait: 0 })).toMatchObject({
      finished_at: null,
      retry: { reused: ["sums", "post"], run: ["never", "check", "last", "pause"], effects: ["last"] },
    });
  });
});

describe("a run that is no retry", () => {
  it("says nothing about reuse", async () => {
    const { here, id } = await failedRun();
    expect(await here.call(getRun, { run_id: id })).not.toHaveProperty("retry");
  });
});
