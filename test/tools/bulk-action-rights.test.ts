/** Who may retry or cancel which runs at once, for how long, and how much of the limits that takes. */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import type { BulkAction } from "../../schemas/bulk-action.ts";
import type { Run } from "../../schemas/run.ts";
import type { Access } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { cancelBulkAction } from "../../tools/bulk-actions/cancel-bulk-action.ts";
import { getBulkAction } from "../../tools/bulk-actions/get-bulk-action.ts";
import { listBulkActions } from "../../tools/bulk-actions/list-bulk-actions.ts";
import { startBulkAction } from "../../tools/bulk-actions/start-bulk-action.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { moveWorkflow } from "../../tools/workflows/move-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { addProject, memberOf } from "../support/projects.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const FAILS = { steps: [{ id: "check", type: "assert", that: "1 > 2" }] };
type Call = (tool: AnyTool, input: Record<string, unknown>) => Promise<unknown>;

/** Workflows `pay` and `other` of the default project and `alpha.theirs` of another one, each with two runs that have failed. */
async function open(config: object = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock, config });
  for (const project of ["alpha", "beta"]) await addProject(instance, project);
  const executor = await instance.executor({ config });
  const all = keyPrincipal(Scope.options);
  const as = (principal: Principal): Call => callAs(instance, principal);
  const call = as(all);
  const fail = async (workflow_id: string): Promise<void> => {
    const run = await call(runWorkflow, { workflow_id, wait: 30 });
    expect(run).toMatchObject({ status: "failed" });
  };
  for (const [name, project] of [["Pay"], ["Other"], ["Theirs", "alpha"]] as const) {
    const more = project === undefined ? {} : { project };
    const { id } = (await call(createWorkflow, { name, definition: FAILS, ...more })) as { id: string };
    await fail(id);
    await fail(id);
  }
  const preview = (input: object = {}, by: Call = call) =>
    by(startBulkAction, { action: "retry", workflow_id: "pay", ...input }) as Promise<BulkAction>;
  const start = async (input: object = {}, by: Call = call): Promise<BulkAction> => {
    const { digest } = await preview(input, by);
    return preview({ ...input, digest, wait: 0 }, by);
  };
  const turn = async (): Promise<void> => {
    executor.queue.wake();
    while ((await executor.continueBulkActions()) > 0) await executor.queue.waitUntilIdle();
  };
  const limited = (keyLimits: Access["keyLimits"]) => as({ ...all, access: { ...all.access, keyLimits } });
  const found = ({ id }: BulkAction) =>
    call(getBulkAction, { bulk_action_id: id }) as unknown as Promise<BulkAction>;
  return { clock, instance, executor, all, call, as, limited, fail, preview, start, turn, found };
}

const code = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "ok",
    (error: { code?: string }) => error.code,
  );

describe("a bulk action", () => {
  it("takes no runs that the caller can't see, and is found by nobody else", async () => {
    const { as, start, preview } = await open();
    const ofDefault = as(memberOf(["default"]));
    expect((await preview({ workflow_id: undefined }, ofDefault)).runs.total).toBe(4);
    expect(await code(preview({ workflow_id: "alpha.theirs" }, ofDefault))).toBe("workflow_not_found");
    const theirs = await start({ workflow_id: "alpha.theirs" });
    const about = { bulk_action_id: theirs.id };
    expect(await code(ofDefault(getBulkAction, about))).toBe("bulk_action_not_found");
    expect(await code(ofDefault(cancelBulkAction, about))).toBe("bulk_action_not_found");
    expect(await ofDefault(listBulkActions, {})).toMatchObject({ items: [] });
    expect(await code(as(memberOf(["alpha"]))(getBulkAction, about))).toBe("ok");
  });

  it("names no skipped run that its reader can't find", async () => {
    const { call, as, preview } = await open();
    const runsOf = async (workflow_id: string): Promise<Run[]> =>
      ((await call(listRuns, { workflow_id })) as { items: Run[] }).items;
    const theirs = await runsOf("alpha.theirs");
    for (const { id } of theirs) await call(retryRun, { run_id: id, wait: 30 });
    const run_ids = [...(await runsOf("pay")), ...theirs].map(({ id }) => id);
    const { digest, skipped } = await preview({ workflow_id: undefined, run_ids });
    expect(skipped).toMatchObject([{ reason: "already_retried", runs: 2 }]);
    const { id } = await preview({ workflow_id: undefined, run_ids, digest, wait: 0 });
    const shown = (by: Call) => by(getBulkAction, { bulk_action_id: id });
    const names = theirs.map((run) => run.id);
    expect(await shown(call)).toMatchObject({ skipped: [{ first: names }] });
    expect(await shown(as(memberOf(["default"])))).toMatchObject({ skipped: [{ runs: 2, first: [] }] });
  });

  it("asks for the project where the runs are of several", async () => {
    const { preview } = await open();
    await expect(preview({ workflow_id: undefined })).rejects.toMatchObject({
      details: { errors: [{ path: "project", allowed: ["alpha", "default"] }] },
    });
    expect((await preview({ workflow_id: undefined, project: "alpha" })).runs.total).toBe(2);
  });

  it("needs the scope run, also for its cancellation", async () => {
    const { as, preview, start } = await open();
    const reads = as(keyPrincipal(["read", "write", "publish"]));
    expect(await code(preview({}, reads))).toBe("missing_scope");
    const { id } = await start();
    expect(await code(reads(cancelBulkAction, { bulk_action_id: id }))).toBe("missing_scope");
    expect(await code(reads(getBulkAction, { bulk_action_id: id }))).toBe("ok");
  });

  it("is of one workflow for a key that is limited to workflows, which finds it again", async () => {
    const { limited, preview, start } = await open();
    const ofTwo = limited({ workflows: ["pay", "other"] });
    await expect(preview({ workflow_id: undefined, project: "default" }, ofTwo)).rejects.toThrow(
      /workflow_id must choose runs of one workflow, because the key is limited to workflows/,
    );
    const { id } = await start({}, ofTwo);
    expect(await code(ofTwo(getBulkAction, { bulk_action_id: id }))).toBe("ok");
    const ofOther = limited({ workflows: ["other"] });
    expect(await code(ofOther(getBulkAction, { bulk_action_id: id }))).toBe("bulk_action_not_found");
  });

  it("ends when the key that started it is revoked", async () => {
    const { instance, as, all, start, turn, found, clock } = await open();
    const { record } = await instance.key({ owner: "operator", scopes: [...Scope.options] });
    const started = await start({ rate: "1/h" }, as({ ...all, keyId: record.id, lineage: record.lineage }));
    await turn();
    expect(await found(started)).toMatchObject({ status: "running", runs: { done: 1, pending: 1 } });
    await instance.keys.revoke(record.id, iso(clock.now()), "operator");
    clock.advance(3_600_000);
    await turn();
    expect(await found(started)).toMatchObject({
      status: "cancelled",
      message: "It ended, because the API key that started it is revoked or has expired.",
      runs: { done: 1, pending: 1 },
    });
  });

  it("repeats nothing that is no saved version once the scope write is lost", async () => {
    const { instance, as, all, call, start, turn, found } = await open();
    const { record } = await instance.key({ owner: "operator", scopes: ["read", "run", "write"] });
    const [run] = ((await call(listRuns, { workflow_id: "pay", limit: 1 })) as { items: Run[] }).items;
    const patched = (await call(retryRun, {
      run_id: run!.id,
      patch: [{ op: "update_step", id: "check", set: { that: "2 > 3" } }],
      wait: 30,
    })) as Run;
    const by = as({ ...all, keyId: record.id, lineage: record.lineage });
    const started = await start({ workflow_id: undefined, run_ids: [patched.id] }, by);
    await instance.store.transaction((trx) =>
      trx.updateTable("api_keys").set({ scopes: '["read","run"]' }).where("id", "=", record.id).execute(),
    );
    await turn();
    const { runs, skipped } = await found(started);
    expect({ runs, reason: skipped[0]!.reason }).toMatchObject({
      runs: { done: 0, skipped: 1 },
      reason: "not_runnable",
    });
    expect(skipped[0]!.message).toContain("the scope write");
  });

  it("retries nothing in a project to which the workflow was moved, and says nothing of it", async () => {
    const { call, start, turn, found } = await open();
    const started = await start();
    await call(moveWorkflow, { workflow_id: "pay", project: "beta" });
    await turn();
    expect(await found(started)).toMatchObject({
      status: "finished",
      runs: { done: 0, skipped: 2 },
      skipped: [
        {
          reason: "not_runnable",
          message: expect.stringContaining(
            "Its workflow was moved to another project: retry the run by itself.",
          ) as string,
        },
      ],
    });
  });

  it("takes half of the runs in an hour, and goes on in the next", async () => {
    const { call, start, turn, found, fail, clock } = await open({
      limits: { per_key: { runs_per_hour: 16 } },
    });
    for (let more = 0; more < 4; more += 1) await fail("pay");
    const started = await start({ concurrency: 20 });
    await turn();
    const { runs, message } = await found(started);
    expect({ ...runs, message }).toEqual({
      total: 6,
      pending: 6,
      done: 0,
      skipped: 0,
      message:
        "It waits for a limit of its owner or project, of which it takes half at most, and goes on by itself.",
    });
    expect(await code(call(runWorkflow, { workflow_id: "pay", wait: 0 }))).toBe("ok");
    clock.advance(3_600_000);
    await turn();
    expect(await found(started)).toMatchObject({ runs: { done: 6 }, message: null });
  });

  it("waits no longer than two seconds after a clock was wrong", async () => {
    const { instance, start, turn, found, clock } = await open();
    const started = await start();
    await instance.store.transaction((trx) =>
      trx
        .updateTable("bulk_actions")
        .set({ next_at: iso(clock.now() + 3_600_000) })
        .execute(),
    );
    await turn();
    expect(await found(started)).toMatchObject({ runs: { done: 2 } });
  });

  it("skips a run whose definition can't be read, and goes on with the next", async () => {
    const { instance, start, turn, found } = await open();
    const started = await start();
    const [first] = await instance.read.bulkActions.runs(started.id!, { after: null, limit: 1 });
    await instance.store.transaction((trx) =>
      trx
        .updateTable("runs")
        .set({ definition: JSON.stringify({ steps: 7 }) })
        .where("id", "=", first!.run)
        .execute(),
    );
    await turn();
    expect(await found(started)).toMatchObject({ status: "finished", runs: { done: 1, skipped: 1 } });
  });

  it("does not let those that wait keep others from their turn", async () => {
    const { instance, start, turn, found, all, as } = await open();
    const slow = await start({ rate: "1/d", workflow_id: "other" });
    await turn();
    const row = (await instance.read.bulkActions.find(slow.id!))!;
    // As many as a poll looked at before, each of another owner.
    await instance.store.transaction(async (trx) => {
      const stored = await trx
        .selectFrom("bulk_actions")
        .selectAll()
        .where("id", "=", row.id)
        .executeTakeFirstOrThrow();
      for (let owner = 0; owner < 30; owner += 1)
        await trx
          .insertInto("bulk_actions")
          .values({ ...stored, id: `blk_slow_${owner}`, subject: `owner-${owner}` })
          .execute();
    });
    const quick = await start({}, as({ ...all, owner: "operator", lineage: "another" }));
    await turn();
    expect(await found(quick)).toMatchObject({ status: "finished", runs: { done: 2 } });
  });
});

describe("a request of a bulk action", () => {
  it("says all of its issues at once", async () => {
    const { call } = await open();
    const issues = await (
      call(startBulkAction, {
        action: "cancel",
        status: ["failed"],
        version: 2,
        run_ids: ["run_none"],
        concurrency: 2,
      }) as Promise<Run>
    ).catch((error: { details: { errors: { path: string }[] } }) => error.details.errors);
    expect((issues as { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      "concurrency",
      "status",
      "status[0]",
      "version",
    ]);
  });

  it("names every run that there is not", async () => {
    const { call } = await open();
    await expect(
      call(startBulkAction, { action: "retry", run_ids: ["run_a", "run_b"] }),
    ).rejects.toMatchObject({
      code: "run_not_found",
      details: { errors: [{ path: "run_ids[0]" }, { path: "run_ids[1]" }] },
    });
  });
});
