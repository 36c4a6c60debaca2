/** Bulk actions: many runs are retried or cancelled, as the preview said, and nothing is done twice. */
import { describe, expect, it } from "vitest";
import type { BulkAction, BulkActionRun } from "../../schemas/bulk-action.ts";
import type { Run } from "../../schemas/run.ts";
import { cancelBulkAction } from "../../tools/bulk-actions/cancel-bulk-action.ts";
import { getBulkAction } from "../../tools/bulk-actions/get-bulk-action.ts";
import { listBulkActionRuns } from "../../tools/bulk-actions/list-bulk-action-runs.ts";
import { startBulkAction } from "../../tools/bulk-actions/start-bulk-action.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { exampleEnvironment } from "../support/example-environment.ts";

/** A workflow that reads a rate, posts a payment and then a note, with a bank that can be down. */
async function payments(fields: Record<string, unknown> = {}) {
  const bank = { isDown: true };
  const here = await exampleEnvironment({
    http: ({ method, path }) =>
      path === "/note" && bank.isDown ? { status: 422, body: { why: "down" } } : { body: { method } },
  });
  const { url } = here;
  const post = (id: string) => ({
    id,
    type: "http",
    method: "POST",
    url: `${url}/${id}`,
    body: { amount: "${{ inputs.amount }}" },
  });
  const definition = {
    inputs: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
    steps: [{ id: "rate", type: "http", url: `${url}/rate` }, post("pay"), post("note")],
    output: "${{ steps.note.status }}",
    ...fields,
  };
  await here.call(createWorkflow, { name: "Pay", definition });
  const runAll = async (amounts: readonly number[]): Promise<Run[]> => {
    const runs: Run[] = [];
    for (const amount of amounts) {
      runs.push(await here.run("pay", { amount }));
      here.clock.advance(1_000);
    }
    return runs;
  };
  const bulk = (input: object) => here.call<BulkAction>(startBulkAction, { wait: 0, ...input });
  /** Previews a bulk action and starts it. */
  const start = async (input: object): Promise<BulkAction> => {
    const { digest } = await bulk(input);
    return bulk({ ...input, digest });
  };
  /** Continues a bulk action until it has ended. The clock does not advance unless its rate makes it wait. */
  const finish = async ({ id }: Pick<BulkAction, "id">): Promise<BulkAction> => {
    for (;;) {
      const done = await here.executor.continueBulkActions();
      await here.settle();
      const found = await here.call<BulkAction>(getBulkAction, { bulk_action_id: id });
      if (found.status !== "running") return found;
      if (done === 0) here.clock.advance(500);
    }
  };
  const runsOf = async ({ id }: Pick<BulkAction, "id">, input: object = {}): Promise<BulkActionRun[]> =>
    (await here.call<{ items: BulkActionRun[] }>(listBulkActionRuns, { bulk_action_id: id, ...input })).items;
  /** What the bank has got since the last call, as `/pay 3`. */
  const sent = (): string[] => {
    const seen = here.requests.splice(0).filter(({ method }) => method === "POST");
    return seen.map(({ path, body }) => `${path} ${(JSON.parse(body) as { amount: number }).amount}`);
  };
  return { here, bank, definition, runAll, bulk, start, finish, runsOf, sent };
}

describe("the retry of many runs", () => {
  it("previews what is reused and which effects happen again, and starts nothing", async () => {
    const { runAll, bulk, sent, here } = await payments();
    await runAll([1, 2, 3]);
    sent();
    const preview = await bulk({ action: "retry", workflow_id: "pay" });
    expect(preview).toMatchObject({
      id: null,
      status: "preview",
      workflow_id: "pay",
      runs: { total: 3, pending: 3, done: 0, skipped: 0 },
      skipped: [],
      plan: [
        {
          workflow_id: "pay",
          version: 1,
          runs: 3,
          reused: { rate: 3, pay: 3 },
          run: { note: 3 },
          effects: [{ step: "note", type: "http", runs: 3, again: 3 }],
        },
      ],
    });
    expect(preview.next).toContain("note in 3 runs");
    expect(preview.next).toContain(preview.digest);
    await here.executor.continueBulkActions();
    await here.settle();
    expect(sent()).toEqual([]);
  });

  it("retries each run once, in order, with the recorded outputs", async () => {
    const { runAll, start, finish, sent, bank, runsOf } = await payments();
    const runs = await runAll([1, 2, 3]);
    sent();
    bank.isDown = false;
    const started = await start({ action: "retry", workflow_id: "pay", concurrency: 1, reason: "Down." });
    expect(started).toMatchObject({ status: "running", reason: "Down.", runs: { total: 3, pending: 3 } });
    const ended = await finish(started);
    expect(ended).toMatchObject({
      status: "finished",
      runs: { total: 3, pending: 0, done: 3, skipped: 0 },
      retries: { succeeded: 3 },
    });
    expect(sent()).toEqual(["/note 1", "/note 2", "/note 3"]);
    const listed = await runsOf(started);
    expect(listed.map(({ run_id }) => run_id)).toEqual(runs.map(({ id }) => id));
    expect(
      listed.every(({ result, retry_status: status }) => result === "retried" && status === "succeeded"),
    ).toBe(true);
  });

  it("skips runs that were retried, so that the same request twice does nothing twice", async () => {
    const { runAll, start, finish, sent, bank, bulk } = await payments();
    await runAll([1, 2]);
    bank.isDown = false;
    const input = { action: "retry", workflow_id: "pay" };
    await finish(await start(input));
    sent();
    const again = await bulk(input);
    expect(again).toMatchObject({ runs: { total: 0 }, skipped: [{ reason: "already_retried", runs: 2 }] });
    expect(again.next).toContain("nothing to do");
    await expect(bulk({ ...input, digest: again.digest })).rejects.toThrow("There is no run left");
    expect(sent()).toEqual([]);
  });

  it("retries the retry that failed again, and not the run before it", async () => {
    const { runAll, start, finish, bank, bulk } = await payments();
    const [run] = await runAll([1]);
    const input = { action: "retry", workflow_id: "pay" };
    await finish(await start(input));
    bank.isDown = false;
    const second = await finish(await start(input));
    expect(second).toMatchObject({ runs: { total: 1, done: 1 }, retries: { succeeded: 1 } });
    expect(second.skipped).toEqual([{ reason: "already_retried", runs: 1, first: [run!.id] }]);
    expect((await bulk(input)).runs.total).toBe(0);
  });

  it("starts nothing if the runs are not those of the preview", async () => {
    const { runAll, bulk, sent } = await payments();
    await runAll([1]);
    const { digest } = await bulk({ action: "retry", workflow_id: "pay" });
    await runAll([2]);
    sent();
    const refused = bulk({ action: "retry", workflow_id: "pay", digest });
    await expect(refused).rejects.toMatchObject({ code: "bulk_action_changed" });
    await expect(refused).rejects.toThrow(/To retry 2 runs, send the same request with digest: "/);
    expect(sent()).toEqual([]);
  });

  it("does not take the digest of another action or version", async () => {
    const { runAll, bulk, here, definition } = await payments();
    await runAll([1]);
    await here.call(updateWorkflow, {
      workflow_id: "pay",

      definition: { ...definition, output: "x" },
    });
    const { digest } = await bulk({ action: "retry", workflow_id: "pay" });
    await expect(bulk({ action: "retry", workflow_id: "pay", version: 2, digest })).rejects.toMatchObject({
      code: "bulk_action_changed",
    });
  });

  it("runs another version, and reuses the outputs of steps that it did not change", async () => {
    const { runAll, start, finish, here, definition, sent, bulk } = await payments();
    await runAll([1, 2]);
    const steps = definition.steps.map((step) =>
      step.id === "note" ? { ...step, url: `${here.url}/letter` } : step,
    );
    await here.call(updateWorkflow, {
      workflow_id: "pay",

      definition: { ...definition, steps },
    });
    sent();
    const input = { action: "retry", workflow_id: "pay", version: 2 };
    expect((await bulk(input)).plan).toMatchObject([
      { version: 2, reused: { rate: 2, pay: 2 }, run: { note: 2 } },
    ]);
    const ended = await finish(await start(input));
    expect(ended).toMatchObject({ version: 2, retries: { succeeded: 2 } });
    expect(sent().toSorted()).toEqual(["/letter 1", "/letter 2"]);
  });

  it("goes on with another executor, and retries no run twice", async () => {
    const { runAll, start, finish, sent, bank, here } = await payments();
    await runAll([1, 2, 3, 4]);
    sent();
    bank.isDown = false;
    const started = await start({ action: "retry", workflow_id: "pay", concurrency: 1 });
    await here.executor.continueBulkActions();
    await here.restart();
    expect(await finish(started)).toMatchObject({ retries: { succeeded: 4 } });
    expect(sent()).toEqual(["/note 1", "/note 2", "/note 3", "/note 4"]);
  });

  it("keeps to its rate, and catches up no more than half a second", async () => {
    const { runAll, start, here, runsOf } = await payments();
    await runAll([1, 2, 3, 4]);
    const started = await start({ action: "retry", workflow_id: "pay", rate: "1/s", concurrency: 20 });
    const done = async (): Promise<number> => {
      await here.executor.continueBulkActions();
      await here.settle();
      return (await runsOf(started, { result: "retried" })).length;
    };
    expect(await done()).toBe(1);
    here.clock.advance(400);
    expect(await done()).toBe(1);
    here.clock.advance(600);
    expect(await done()).toBe(2);
    here.clock.advance(60_000);
    expect(await done()).toBe(3);
  });

  it("starts no retry that does something else than was confirmed", async () => {
    const { runAll, start, finish, here, sent } = await payments();
    const [first, second] = await runAll([1, 2]);
    const started = await start({ action: "retry", workflow_id: "pay", concurrency: 1 });
    // Somebody else retries the second run, before its turn.
    await here.ended((await here.call<Run>(retryRun, { run_id: second!.id, confirm: true, wait: 0 })).id);
    sent();
    const ended = await finish(started);
    expect(ended).toMatchObject({
      runs: { done: 1, skipped: 1 },
      skipped: [{ reason: "already_retried", first: [second!.id] }],
    });
    expect(sent()).toEqual(["/note 1"]);
    expect(first!.status).toBe("failed");
  });

  it("stops where it is cancelled, and the same request takes up the rest", async () => {
    const { runAll, start, finish, here, bank, sent } = await payments();
    await runAll([1, 2, 3]);
    sent();
    bank.isDown = false;
    const input = { action: "retry", workflow_id: "pay", rate: "1/h" };
    const started = await start(input);
    await here.executor.continueBulkActions();
    await here.settle();
    const cancelled = await here.call<BulkAction>(cancelBulkAction, { bulk_action_id: started.id });
    expect(cancelled).toMatchObject({ status: "cancelled", runs: { total: 3, pending: 2, done: 1 } });
    expect(await finish(await start({ ...input, rate: undefined }))).toMatchObject({
      runs: { total: 2, done: 2 },
    });
    expect(sent().toSorted()).toEqual(["/note 1", "/note 2", "/note 3"]);
    await expect(here.call(cancelBulkAction, { bulk_action_id: started.id })).rejects.toMatchObject({
      code: "bulk_action_finished",
    });
  });

  it("retries a run that called another one, and not that one beside it", async () => {
    const { here, start, finish, bank, sent, bulk } = await payments();
    await here.call(createWorkflow, {
      name: "Caller",
      definition: { steps: [{ id: "call", type: "workflow", workflow: "pay", inputs: { amount: 7 } }] },
    });
    await here.run("caller");
    sent();
    bank.isDown = false;
    const input = { action: "retry", status: ["failed"] };
    expect(await bulk(input)).toMatchObject({
      workflow_id: "caller",
      runs: { total: 1 },
      skipped: [{ reason: "part_of_run", runs: 1 }],
    });
    await finish(await start(input));
    expect(sent().filter((one) => one.startsWith("/note"))).toEqual(["/note 7"]);
  });

  it("retries a run once, where two bulk actions have it", async () => {
    const { runAll, bulk, finish, sent, bank } = await payments();
    await runAll([1, 2]);
    bank.isDown = false;
    sent();
    const input = { action: "retry", workflow_id: "pay" };
    const { digest } = await bulk(input);
    const [first, second] = [await bulk({ ...input, digest }), await bulk({ ...input, digest })];
    const ended = [await finish(first), await finish(second)];
    expect(sent().toSorted()).toEqual(["/note 1", "/note 2"]);
    const counts = ended.map(({ runs, skipped }) => ({ runs, skipped }));
    expect(counts.reduce((sum, { runs }) => sum + runs.done, 0)).toBe(2);
    expect(counts.flatMap(({ skipped }) => skipped).map(({ reason }) => reason)).toEqual(["already_retried"]);
  });

  it("waits for its unfinished retries, and for other runs where the workflow allows one at a time", async () => {
    const { here, bulk, runsOf } = await payments({
      steps: [
        { id: "check", type: "assert", that: "inputs.amount > 10" },
        { id: "wait", type: "wait", for: "1h" },
      ],
      output: "x",
      concurrency: 1,
    });
    for (const amount of [1, 2]) await here.run("pay", { amount });
    await here.call(updateWorkflow, { workflow_id: "pay", patch: [{ op: "remove_step", id: "check" }] });
    const input = { action: "retry", workflow_id: "pay", version: 2, concurrency: 2 };
    const { digest } = await bulk(input);
    const { id } = await bulk({ ...input, digest });
    const state = async () => {
      await here.executor.continueBulkActions();
      await here.settle();
      const { runs, retries, message } = await here.call<BulkAction>(getBulkAction, { bulk_action_id: id });
      return { done: runs.done, retries, message };
    };
    // Its own first retry is the one run that the workflow allows.
    const others = /^Other runs of the workflow go first/;
    await state();
    expect(await state()).toEqual({
      done: 1,
      retries: { waiting: 1 },
      message: expect.stringMatching(others),
    });
    const [{ retry }] = (await runsOf({ id })) as [BulkActionRun];
    await here.call(cancelRun, { run_id: retry });
    here.clock.advance(2_000);
    expect(await state()).toMatchObject({ done: 2, message: null });
  });

  it.each([
    [true, "cancelled"],
    [false, "waiting"],
  ])("cancels its unfinished retries if that is asked for: %s", async (running, status) => {
    const { here, runAll, start } = await payments();
    await runAll([1]);
    const wait = [
      { op: "update_step", id: "note", set: { if: false } },
      { op: "add_step", step: { id: "wait", type: "wait", for: "1h" } },
    ];
    await here.call(updateWorkflow, { workflow_id: "pay", patch: wait });
    const started = await start({ action: "retry", workflow_id: "pay", version: 2 });
    await here.executor.continueBulkActions();
    await here.settle();
    const ended = await here.call<BulkAction>(cancelBulkAction, { bulk_action_id: started.id, running });
    expect(ended.status).toBe("cancelled");
    await here.settle();
    const { retries } = await here.call<BulkAction>(getBulkAction, { bulk_action_id: started.id });
    expect(retries).toEqual({ [status]: 1 });
  });

  it("leaves a run to the one that called it, also where that one is not among them", async () => {
    const { here, bulk, start, finish, bank, sent } = await payments();
    const call = { id: "call", type: "workflow", workflow: "pay", inputs: { amount: 7 } };
    await here.call(createWorkflow, {
      name: "Caller",
      definition: { steps: [{ ...call, on_error: "continue" }] },
    });
    const caller = await here.run("caller");
    expect(caller.status).toBe("succeeded");
    const preview = await bulk({ action: "retry", workflow_id: "pay" });
    expect(preview).toMatchObject({ runs: { total: 0 }, skipped: [{ reason: "part_of_run", runs: 1 }] });
    const [first] = preview.skipped[0]!.first;
    expect(preview.skipped[0]!.message).toBe(`${first} was started by ${caller.id}: retry that one.`);
    // Who names it means it.
    bank.isDown = false;
    sent();
    await finish(await start({ action: "retry", run_ids: preview.skipped[0]!.first }));
    expect(sent()).toEqual(["/note 7"]);
  });

  it("retries nothing with another version of a called workflow than at the preview", async () => {
    const { here, definition, start, finish, sent } = await payments();
    const call = { id: "call", type: "workflow", workflow: "pay", inputs: { amount: 7 } };
    await here.call(createWorkflow, { name: "Caller", definition: { steps: [call] } });
    await here.run("caller");
    const started = await start({ action: "retry", workflow_id: "caller" });
    await here.call(updateWorkflow, { workflow_id: "pay", definition: { ...definition, output: "x" } });
    sent();
    expect(await finish(started)).toMatchObject({ runs: { skipped: 1 }, skipped: [{ reason: "changed" }] });
    expect(sent()).toEqual([]);
  });

  it("leaves out what can't run, and says why", async () => {
    const { runAll, bulk, here, definition } = await payments();
    await runAll([1]);
    const inputs = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
    const steps = [{ id: "note", type: "set", values: { sum: "${{ inputs.sum }}" } }];
    await here.call(updateWorkflow, {
      workflow_id: "pay",

      definition: { ...definition, inputs, steps, output: "x" },
    });
    const preview = await bulk({ action: "retry", workflow_id: "pay", version: 2 });
    expect(preview).toMatchObject({ runs: { total: 0 }, skipped: [{ reason: "not_runnable", runs: 1 }] });
    expect(preview.skipped[0]!.message).toContain("inputs");
  });

  it("starts one bulk action for one idempotency key", async () => {
    const { runAll, bulk, finish } = await payments();
    await runAll([1]);
    const input = { action: "retry", workflow_id: "pay" };
    const { digest } = await bulk(input);
    const request = { ...input, digest, idempotency_key: "k" };
    const first = await bulk(request);
    await finish(first);
    expect((await bulk(request)).id).toBe(first.id);
  });
});

describe("the cancellation of many runs", () => {
  it("cancels those that have not ended, and no others", async () => {
    const { here, start, finish, bulk } = await payments({
      steps: [{ id: "wait", type: "wait", for: "1h" }],
      output: "x",
    });
    const ids: string[] = [];
    for (const amount of [1, 2, 3])
      ids.push((await here.call<Run>(runWorkflow, { workflow_id: "pay", inputs: { amount }, wait: 0 })).id);
    await here.settle();
    const input = { action: "cancel", workflow_id: "pay" };
    expect(await bulk(input)).toMatchObject({ runs: { total: 3 }, plan: [{ workflow_id: "pay", runs: 3 }] });
    const ended = await finish(await start(input));
    expect(ended).toMatchObject({ status: "finished", runs: { done: 3 } });
    expect(ended).not.toHaveProperty("retries");
    for (const id of ids) expect((await here.ended(id)).status).toBe("cancelled");
    await expect(bulk(input)).rejects.toMatchObject({ code: "run_not_found" });
  });
});

describe("a cancellation on a busy workflow", () => {
  it("takes the runs of the preview that have not ended, and none that began later", async () => {
    const { here, bulk, finish, runsOf } = await payments({
      steps: [{ id: "wait", type: "wait", for: "1h" }],
      output: "x",
    });
    const begin = async (amount: number): Promise<string> => {
      const run = await here.call<Run>(runWorkflow, { workflow_id: "pay", inputs: { amount }, wait: 0 });
      await here.settle();
      here.clock.advance(1_000);
      return run.id;
    };
    const [first, second] = [await begin(1), await begin(2)];
    const input = { action: "cancel", workflow_id: "pay" };
    const { digest } = await bulk(input);
    here.clock.advance(1);
    await here.call(cancelRun, { run_id: first });
    const third = await begin(3);
    const started = await bulk({ ...input, digest });
    expect(await finish(started)).toMatchObject({ runs: { total: 1, done: 1 } });
    expect((await runsOf(started)).map(({ run_id }) => run_id)).toEqual([second]);
    expect((await here.call<Run>(getRun, { run_id: third })).status).toBe("waiting");
  });

  it("does not take its digest for another filter", async () => {
    const { here, bulk } = await payments({ steps: [{ id: "wait", type: "wait", for: "1h" }], output: "x" });
    await here.call<Run>(runWorkflow, { workflow_id: "pay", inputs: { amount: 1 }, wait: 0 });
    const { digest } = await bulk({ action: "cancel", workflow_id: "pay" });
    await expect(bulk({ action: "cancel", digest })).rejects.toMatchObject({ code: "bulk_action_changed" });
  });
});

describe("a request of a bulk action", () => {
  it.each([
    [{}, /action is required/],
    [{ action: "cancel", status: ["failed"] }, /status\[0\] is of runs that have ended/],
    [{ action: "retry", status: ["running"] }, /status\[0\] is of runs that have not ended/],
    [{ action: "cancel", version: 1, workflow_id: "pay" }, /version can't be used with cancel/],
    [{ action: "retry", version: 1 }, /workflow_id is required with version/],
    [{ action: "retry", run_ids: ["run_x"], status: ["failed"] }, /status can't be combined with run_ids/],
    [{ action: "retry", bulk_action_id: "blk_x" }, /action can't be combined with bulk_action_id/],
  ])("that is wrong says what to send: %j", async (input, message) => {
    const { bulk } = await payments();
    await expect(bulk(input)).rejects.toThrow(message);
  });
});
