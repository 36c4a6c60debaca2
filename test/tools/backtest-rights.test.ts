/** Who may backtest a workflow, with which runs, and who reads what was found. */
import { describe, expect, it } from "vitest";
import type { Backtest } from "../../schemas/backtest.ts";
import { Scope } from "../../schemas/actor.ts";
import { MINUTE } from "../../src/core/clock.ts";
import type { Access } from "../../src/core/access.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { cancelBacktest } from "../../tools/backtests/cancel-backtest.ts";
import { getBacktest } from "../../tools/backtests/get-backtest.ts";
import { listBacktestRuns } from "../../tools/backtests/list-backtest-runs.ts";
import { listBacktests } from "../../tools/backtests/list-backtests.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { getRunValue } from "../../tools/runs/get-run-value.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { moveWorkflow } from "../../tools/workflows/move-workflow.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { addProject, memberOf } from "../support/projects.ts";
import { addUser, callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const ANN = { email: "ann@example.com", role: "editor" } as const;
const STEPS = [{ id: "sum", type: "set", values: { total: "${{ inputs.amount * 2 }}" } }];
const INPUTS = {
  type: "object",
  properties: { amount: { type: "integer", default: 4711 }, note: { type: "string", default: "" } },
};
const PATCH = [{ op: "update_step", id: "sum", set: { values: { total: "${{ inputs.amount }}" } } }];

/** Workflows `pay` and `other` of the default project and `alpha.theirs` of another one, each with a run that has ended. */
async function open(config: object = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock, config });
  for (const project of ["alpha", "beta"]) await addProject(instance, project);
  const executor = await instance.executor({ config });
  const all = keyPrincipal(Scope.options);
  const call = callAs(instance, all);
  for (const [name, project] of [["Pay"], ["Other"], ["Theirs", "alpha"]] as const) {
    const { id } = await call(createWorkflow, {
      name,
      definition: { inputs: INPUTS, steps: STEPS },
      ...(project !== undefined && { project }),
    });
    expect(await call(runWorkflow, { workflow_id: id, wait: 30 })).toMatchObject({ status: "succeeded" });
  }
  const finish = async (): Promise<void> => {
    executor.queue.wake();
    while ((await executor.continueBacktests()) > 0) await executor.queue.waitUntilIdle();
  };
  const as = (principal: Principal) => callAs(instance, principal);
  const limited = (keyLimits: Access["keyLimits"]) => as({ ...all, access: { ...all.access, keyLimits } });
  const start = (input: object = {}, by: Call = call): Promise<Backtest> =>
    by(backtestWorkflow, { workflow_id: "pay", wait: 0, ...input }) as Promise<Backtest>;
  const ended = async (input: object = {}): Promise<Backtest> => {
    const { id, workflow_id } = await start(input);
    await finish();
    return call(getBacktest, { workflow_id, backtest_id: id });
  };
  return { clock, instance, executor, all, call, as, limited, start, ended, finish };
}
type Call = (tool: AnyTool, input: Record<string, unknown>) => Promise<unknown>;

const code = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "ok",
    (error: { code?: string }) => error.code,
  );

describe("backtest_workflow", () => {
  it("needs only the scope run for a saved version, and write for what is not saved", async () => {
    const { as, start } = await open();
    const runs = as(keyPrincipal(["read", "run"]));
    expect(await code(start({ version: 1 }, runs))).toBe("ok");
    const unsaved = [
      { patch: PATCH },
      { definition: { steps: STEPS } },
      { given: { sum: { total: 1 } } },
      { given: {} },
    ];
    const answers: unknown[] = [];
    for (const input of unsaved) answers.push(await code(start(input, runs)));
    expect(answers).toEqual(unsaved.map(() => "missing_scope"));
    const writes = as(keyPrincipal(["read", "run", "write"]));
    expect(await code(start({ given: { sum: { total: 1 } } }, writes))).toBe("ok");
  });

  it("is refused without the scope run, and so is cancel_backtest", async () => {
    const { as, start } = await open();
    const { id } = await start();
    const reads = as(keyPrincipal(["read", "write", "publish"]));
    expect(await code(start({}, reads))).toBe("missing_scope");
    expect(await code(reads(cancelBacktest, { workflow_id: "pay", backtest_id: id }))).toBe("missing_scope");
    expect(await code(reads(getBacktest, { workflow_id: "pay", backtest_id: id }))).toBe("ok");
  });

  it("takes no runs of a workflow that a key limited to workflows can't see, and answers as if there were none", async () => {
    const { limited, start } = await open();
    const ofPay = limited({ workflows: ["pay"] });
    expect(await code(start({}, ofPay))).toBe("ok");
    const refusal = (id: string) =>
      start({ source_workflow_id: id }, ofPay).catch((error: Error) => error.message.replaceAll(id, "(id)"));
    expect(await refusal("other")).toBe(await refusal("othre"));
    expect(await code(start({ source_workflow_id: "other" }, ofPay))).toBe("workflow_not_found");
    expect(await code(start({ workflow_id: "other" }, ofPay))).toBe("workflow_not_found");
  });

  it("takes no runs of another project, and answers as if there were none where the caller can't see it", async () => {
    const { as, start } = await open();
    const ofDefault = as(memberOf(["default"]));
    const refusal = (id: string) =>
      start({ source_workflow_id: id }, ofDefault).catch((error: Error) =>
        error.message.replaceAll(id, "(id)"),
      );
    expect(await refusal("alpha.theirs")).toBe(await refusal("alpha.theris"));
    expect(await code(start({ source_workflow_id: "alpha.theirs" }, ofDefault))).toBe("workflow_not_found");
    // Who sees both learns why: values stay in their project.
    const ofBoth = as(memberOf(["default", "alpha"]));
    await expect(start({ source_workflow_id: "alpha.theirs" }, ofBoth)).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "source_workflow_id", code: "not_allowed" }] },
    });
  });

  it("takes no given outputs of a run that the caller can't see", async () => {
    const { instance, as, start } = await open();
    const { items } = await instance.read.runs.page({
      filter: { workflowId: "alpha.theirs" },
      after: null,
      limit: 1,
    });
    const ofDefault = as(memberOf(["default"]));
    await expect(start({ given: { from_run: items[0]!.id } }, ofDefault)).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "given.from_run", code: "run_not_found" }] },
    });
  });

  it("leaves out the runs of a project that the workflow has been moved from", async () => {
    const { call, start } = await open();
    await call(moveWorkflow, { workflow_id: "pay", project: "beta" });
    expect(await code(start())).toBe("run_not_found");
    expect(await call(runWorkflow, { workflow_id: "pay", wait: 30 })).toMatchObject({ status: "succeeded" });
    expect(await start()).toMatchObject({ project: "beta", runs: { total: 1 } });
  });

  it("is refused once three backtests of the owner run, and lets other owners start theirs", async () => {
    const { as, start } = await open();
    for (let count = 0; count < 3; count += 1) await start();
    expect(await code(start())).toBe("too_many_backtests");
    expect(await code(start({}, as(memberOf(["default"]))))).toBe("ok");
  });

  it("is refused where the owner stores as much as its limit allows", async () => {
    const { start } = await open({ limits: { per_key: { stored_bytes: 10_000 } } });
    const large = [{ op: "update_step", id: "sum", set: { values: { total: "x".repeat(20_000) } } }];
    expect(await code(start({ patch: large }))).toBe("ok");
    expect(await code(start())).toBe("storage_limit_reached");
  });

  it("is refused while jobs of the owner wait for too long, as any run is", async () => {
    const { clock, instance, executor, as } = await open();
    await executor.stop(0);
    await addUser(instance, ANN);
    await as(memberOf(["default"], { owner: ANN.email }))(runWorkflow, { workflow_id: "pay", wait: 0 });
    clock.advance(61 * MINUTE);
    // Another process, which has not read the queue yet.
    const { url } = await instance.rest();
    const { value } = await instance.key({ owner: ANN.email, scopes: ["read", "run"] });
    const { status, body } = await apiClient(url, value)("POST", "/workflows/pay/backtests", {});
    expect([status, body.code]).toEqual([429, "too_many_runs"]);
  });
});

describe("what a backtest has found", () => {
  it("stays in the project where it started: a move shows it to nobody of the other project", async () => {
    const { call, as, ended } = await open();
    const { id } = await ended({ patch: PATCH });
    await call(moveWorkflow, { workflow_id: "pay", project: "beta" });
    const ofBeta = as(memberOf(["beta"]));
    const ref = { workflow_id: "pay", backtest_id: id };
    const answers = [getBacktest, listBacktestRuns, cancelBacktest].map((tool: AnyTool) =>
      code(ofBeta(tool, ref)),
    );
    expect(await Promise.all(answers)).toEqual(answers.map(() => "backtest_not_found"));
    expect(await ofBeta(listBacktests, { workflow_id: "pay" })).toMatchObject({ items: [], total: 0 });
    const ofBoth = as(memberOf(["default", "beta"]));
    expect(await ofBoth(getBacktest, ref)).toMatchObject({ runs: { different: 1 } });
    // Those of the former project can't see the workflow any more.
    expect(await code(as(memberOf(["default"]))(getBacktest, ref))).toBe("workflow_not_found");
  });

  it("starts no more replays once its workflow has been moved to another project", async () => {
    const { call, start, finish } = await open();
    const { id } = await start();
    await call(moveWorkflow, { workflow_id: "pay", project: "beta" });
    await finish();
    expect(await call(getBacktest, { workflow_id: "pay", backtest_id: id })).toMatchObject({
      status: "failed",
      message: '"pay" was moved to another project.',
      runs: { pending: 1 },
    });
  });

  it("is not found with the id of another workflow, and neither is a backtest of another project", async () => {
    const { as, start, ended } = await open();
    const { id } = await ended();
    const theirs = await start({ workflow_id: "alpha.theirs" });
    const ofDefault = as(memberOf(["default"]));
    for (const tool of [getBacktest, listBacktestRuns, cancelBacktest] as AnyTool[]) {
      expect(await code(ofDefault(tool, { workflow_id: "other", backtest_id: id }))).toBe(
        "backtest_not_found",
      );
      expect(await code(ofDefault(tool, { workflow_id: "pay", backtest_id: theirs.id }))).toBe(
        "backtest_not_found",
      );
    }
    expect(await code(start({ backtest_id: theirs.id }, ofDefault))).toBe("backtest_not_found");
  });

  it("of runs of another workflow is found only by callers who can find that workflow too", async () => {
    const { limited, instance, start, finish, call, ended } = await open();
    const { id } = await ended({ source_workflow_id: "other", patch: PATCH });
    const own = await ended({ patch: PATCH });
    const running = await start({ source_workflow_id: "other" });
    const ofPay = limited({ workflows: ["pay"] });
    const ref = { workflow_id: "pay", backtest_id: id };
    for (const tool of [getBacktest, listBacktestRuns, cancelBacktest] as AnyTool[])
      for (const backtest_id of [id, running.id])
        expect(await code(ofPay(tool, { ...ref, backtest_id }))).toBe("backtest_not_found");
    expect(await code(ofPay(backtestWorkflow, ref))).toBe("backtest_not_found");
    expect(await ofPay(listBacktests, { workflow_id: "pay" })).toMatchObject({
      items: [{ id: own.id }],
      total: 1,
    });
    await finish();
    const firstRun = async (backtest: string) =>
      (await instance.read.backtests.runs(backtest, { after: null, limit: 1 }))[0]!;
    const theirs = (await firstRun(id)).run!;
    const mine = (await firstRun(own.id)).run!;
    expect(await code(ofPay(getRun, { run_id: theirs }))).toBe("run_not_found");
    expect(await code(ofPay(getRunValue, { run_id: theirs, ref: "output" }))).toBe("run_not_found");
    expect(await code(ofPay(getRun, { run_id: mine }))).toBe("ok");
    const replays = { workflow_id: "pay", trigger: "backtest" };
    expect(await ofPay(listRuns, replays)).toMatchObject({ items: [{ id: mine }], total: 1 });
    const ofBoth = limited({ workflows: ["pay", "other"] });
    const answers = [ofBoth, call].map(async (by) => [
      await by(getBacktest, ref),
      (await by(listBacktests, { workflow_id: "pay" })).total,
      await code(by(getRun, { run_id: theirs })),
      (await by(listRuns, replays)).total,
    ]);
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject([{ runs: { different: 1 } }, 3, "ok", 3]);
  });

  it("hides the event URLs of runs from who may only read", async () => {
    const { as, call, executor, ended } = await open();
    const steps = [{ id: "callback", type: "wait", event: {} }];
    const { id: workflow_id } = await call(createWorkflow, { name: "Waiting", definition: { steps } });
    const { id: run_id } = await call(runWorkflow, { workflow_id, wait: 0 });
    executor.queue.wake();
    await executor.queue.waitUntilIdle();
    const waiting = await call(getRun, { run_id, detail: "steps" });
    const url = (waiting.steps as { event_url: string }[])[0]!.event_url;
    await call(runWorkflow, { workflow_id: "pay", inputs: { note: url }, wait: 30 });
    const copies = { values: { total: "${{ inputs.note }}" } };
    const found = await ended({ patch: [{ op: "update_step", id: "sum", set: copies }] });
    expect(JSON.stringify(found)).toContain(url);
    const ref = { workflow_id: "pay", backtest_id: found.id };
    const reads = as(keyPrincipal(["read"]));
    const seen = JSON.stringify([
      await reads(getBacktest, ref),
      await reads(listBacktests, { workflow_id: "pay" }),
      await reads(listBacktestRuns, ref),
    ]);
    const mac = url.split(".").at(-1)!;
    expect(seen).not.toContain(mac);
    // Twice in each answer: in the output of the step, and of the run.
    expect(seen.split("*".repeat(mac.length))).toHaveLength(1 + 3 * 2);
  });

  it("goes on after its owner is deactivated, as a backfill does, and can be cancelled", async () => {
    const { instance, as, call, finish } = await open();
    const ann = await addUser(instance, ANN);
    const anns = as({ ...memberOf(["default"], { owner: ann.email }), lineage: ann.id });
    const { id } = await anns(backtestWorkflow, { workflow_id: "pay", wait: 0 });
    const admin = await signedInUser(instance, { email: "root@example.com", role: "admin" });
    await as(admin.principal)(updateUser, { user_id: ann.id, status: "deactivated" });
    await finish();
    expect(await call(getBacktest, { workflow_id: "pay", backtest_id: id })).toMatchObject({
      status: "finished",
      started_by: ann.email,
      runs: { equal: 1 },
    });
  });
});
