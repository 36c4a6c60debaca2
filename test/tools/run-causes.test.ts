/** What may run depends on what will run, and everybody who caused a run is on record and decides nothing in it. */
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runStep } from "../../tools/runs/run-step.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const ASK = { id: "ask", type: "approval", message: "Go on?" };
const SAY = { id: "say", type: "set", values: { x: "${{ inputs.text }}" } };
const INPUTS = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** People who can do everything, and keys of the operator with some scopes. */
async function place(approvals: object = {}) {
  const config = { approvals };
  const instance = await testInstance({ clock: fakeClock(), config });
  const { queue } = await instance.executor({ config });
  const person = async (name: string) => {
    const { principal } = await signedInUser(instance, { email: `${name}@example.com`, role: "admin" });
    return callAs(instance, principal);
  };
  const key = (lineage: string, ...scopes: Scope[]) =>
    callAs(instance, { ...keyPrincipal(scopes), keyName: lineage, lineage });
  const idle = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  const [ann, ben, cid] = await Promise.all(["ann", "ben", "cid"].map(person));
  const pending = async () => {
    const page = { filter: { status: "pending" as const }, after: null, limit: 9 };
    const { items } = await instance.services.read.approvals.page(page);
    expect(items).toHaveLength(1);
    return items[0]!.id;
  };
  const decide = async (by: typeof ann) =>
    (await by!(decideApproval, { approval_id: await pending(), decision: "approve" })).status;
  return { instance, ann: ann!, ben: ben!, cid: cid!, key, idle, decide };
}

const needsWrite = { code: "missing_scope", message: expect.stringContaining('scope "write"') as string };

describe("a definition that is not a saved version", () => {
  it.each([
    ["as it was", {}],
    ["with other inputs", { inputs: { text: "mine" } }],
    ["as a dry run", { dry_run: true }],
  ])("needs the scope write to be retried %s, by another caller too: a single step", async (_what, how) => {
    const { ann, key, idle } = await place();
    const step = await ann(runStep, { step: SAY, inputs: { text: "ours" }, wait: 0 });
    await idle();
    const again = { run_id: step.id, wait: 0, ...how };
    await expect(key("runner", "read", "run")(retryRun, again)).rejects.toMatchObject(needsWrite);
    expect(await key("writer", "read", "run", "write")(retryRun, again)).toMatchObject({ kind: "step" });
  });

  it.each([
    ["as it was", {}],
    ["with other inputs", { inputs: { text: "mine" } }],
  ])("needs the scope write to be retried %s, by another caller too: a changed one", async (_what, how) => {
    const { ann, key, idle } = await place();
    await ann(createWorkflow, { name: "Says", definition: { inputs: INPUTS, steps: [SAY] } });
    const first = await ann(runWorkflow, { workflow_id: "says", inputs: { text: "ours" }, wait: 0 });
    await idle();
    const patch = [{ op: "update_step", id: "say", set: { values: { y: "${{ inputs.text }}" } } }];
    const patched = await ann(retryRun, { run_id: first.id, patch, wait: 0 });
    await idle();
    const runner = key("runner", "read", "run");
    await expect(runner(retryRun, { run_id: patched.id, wait: 0, ...how })).rejects.toMatchObject(needsWrite);
    expect(await runner(retryRun, { run_id: patched.id, version: 1, wait: 0 })).toMatchObject({ version: 1 });
    expect(await runner(retryRun, { run_id: first.id, wait: 0, ...how })).toMatchObject({ version: 1 });
  });

  it("needs the scope write, and so does the retry of a run with given outputs", async () => {
    const { ann, key, idle } = await place();
    await ann(createWorkflow, { name: "Says", definition: { inputs: INPUTS, steps: [SAY] } });
    const given = { say: { x: "theirs" } };
    const trial = await ann(runWorkflow, { workflow_id: "says", inputs: { text: "ours" }, given, wait: 0 });
    await idle();
    await expect(
      key("runner", "read", "run")(retryRun, { run_id: trial.id, inputs: { text: "mine" }, wait: 0 }),
    ).rejects.toMatchObject(needsWrite);
  });
});

const notYours = (reason: string) => ({
  code: "approval_not_yours",
  message: expect.stringContaining(reason) as string,
});

/** A workflow that cid wrote and ben published, so that both may decide on the work of each other. */
async function asking(approvals: object = {}) {
  const made = await place(approvals);
  const gate = { id: "gate", type: "assert", that: 'inputs.text != "closed"', message: "closed" };
  await made.cid(createWorkflow, { name: "Asks", definition: { inputs: INPUTS, steps: [gate, ASK] } });
  await made.key("publisher", "read", "publish")(publishWorkflow, { workflow_id: "asks" });
  return made;
}

describe("an approval", () => {
  it("is not decided by who started the run that this one retries, though another person retried it", async () => {
    const { ann, ben, cid, decide, idle } = await asking({ by_author: true });
    const first = await ann(runWorkflow, { workflow_id: "asks", inputs: { text: "go" }, wait: 0 });
    await idle();
    await ann(cancelRun, { run_id: first.id });
    await idle();
    const again = await ben(retryRun, { run_id: first.id, wait: 0 });
    await idle();
    await expect(decide(ann)).rejects.toMatchObject(notYours(`You started the run ${first.id}`));
    await expect(decide(ben)).rejects.toMatchObject(notYours(`You started the run ${again.id}`));
    expect((await cid(getRun, { run_id: again.id })).caused_by).toEqual([
      { kind: "started", owner: "ann@example.com", key_name: "browser", by: first.id },
    ]);
    expect(await decide(cid)).toBe("approved");
  });

  it("is not decided by who started the first of several retries, also when that run is purged", async () => {
    const { instance, ann, ben, cid, decide, idle } = await asking({ by_author: true });
    const first = await ann(runWorkflow, { workflow_id: "asks", inputs: { text: "closed" }, wait: 0 });
    await idle();
    const second = await ben(retryRun, { run_id: first.id, wait: 0 });
    await idle();
    await ben(retryRun, { run_id: second.id, inputs: { text: "go" }, wait: 0 });
    await idle();
    await instance.store.transaction((trx) =>
      trx.deleteFrom("runs").where("id", "in", [first.id, second.id]).execute(),
    );
    await expect(decide(ann)).rejects.toMatchObject(notYours(`You started the run ${first.id}`));
    expect(await decide(cid)).toBe("approved");
  });

  it("is not decided by who changed the definition of a run that was purged since", async () => {
    const { instance, ann, ben, cid, decide, idle } = await asking({ by_starter: true, by_author: false });
    const first = await cid(runWorkflow, { workflow_id: "asks", inputs: { text: "closed" }, wait: 0 });
    await idle();
    const patched = await ann(retryRun, {
      run_id: first.id,
      patch: [{ op: "remove_step", id: "gate" }],
      wait: 0,
    });
    await idle();
    await ann(cancelRun, { run_id: patched.id });
    await idle();
    await cid(retryRun, { run_id: patched.id, wait: 0 });
    await idle();
    await instance.store.transaction((trx) => trx.deleteFrom("runs").where("id", "=", patched.id).execute());
    await expect(decide(ann)).rejects.toMatchObject(notYours(`with the retry ${patched.id}`));
    expect(await decide(ben)).toBe("approved");
  });

  it("of a run that another run starts is decided by nobody who caused that one", async () => {
    const { ann, ben, cid, decide, idle } = await asking({ by_author: true });
    const call = { id: "sub", type: "workflow", workflow: "asks", inputs: { text: "${{ inputs.text }}" } };
    await cid(createWorkflow, { name: "Calls", definition: { inputs: INPUTS, steps: [call] } });
    const first = await ann(runWorkflow, { workflow_id: "calls", inputs: { text: "closed" }, wait: 0 });
    await idle();
    await cid(updateWorkflow, {
      workflow_id: "calls",
      definition: { inputs: INPUTS, steps: [{ ...call, inputs: { text: "go" } }] },
    });
    await ben(retryRun, { run_id: first.id, version: 2, confirm: true, wait: 0 });
    await idle();
    await expect(decide(ann)).rejects.toMatchObject(notYours(`You started the run ${first.id}`));
    expect(await decide(cid)).toBe("approved");
  });

  it("is decided by who started the retried run where the operator allows starters to", async () => {
    const { ann, ben, decide, idle } = await asking({ by_starter: true });
    const first = await ann(runWorkflow, { workflow_id: "asks", inputs: { text: "closed" }, wait: 0 });
    await idle();
    await ben(retryRun, { run_id: first.id, inputs: { text: "go" }, wait: 0 });
    await idle();
    expect(await decide(ann)).toBe("approved");
  });
});
