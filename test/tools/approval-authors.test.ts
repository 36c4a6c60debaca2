/** Nobody decides on their own work: not who started the run, and not who wrote or published what takes part in it. */
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const ask = { id: "ask", type: "approval", message: "Go on?" };
const asks = { steps: [ask] };
const say = { steps: [{ id: "say", type: "set", values: { x: 1 } }] };
const call = (workflow: string, more: object = {}) => ({ id: "sub", type: "workflow", workflow, ...more });

/** Four people who can do the same; eve starts the runs. */
async function team(approvals: object = {}) {
  const config = { approvals };
  const instance = await testInstance({ clock: fakeClock(), config });
  const { queue } = await instance.executor({ config });
  const [ann, ben, cid, eve] = await Promise.all(
    ["ann", "ben", "cid", "eve"].map(async (name) => {
      const { principal } = await signedInUser(instance, { email: `${name}@example.com`, role: "admin" });
      return callAs(instance, principal);
    }),
  );
  type Caller = NonNullable<typeof ann>;
  const idle = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  const create = (by: Caller, name: string, definition: object) => by(createWorkflow, { name, definition });
  const publish = (by: Caller, id: string, version?: number) =>
    by(publishWorkflow, { workflow_id: id, ...(version !== undefined && { version }) });
  const update = (by: Caller, id: string, definition: object) =>
    by(updateWorkflow, { workflow_id: id, definition });
  async function start(id: string, by = eve!) {
    const run = await by(runWorkflow, { workflow_id: id, wait: 0 });
    await idle();
    return run.id;
  }
  async function decide(by: Caller, decision = "approve") {
    const { items } = await instance.services.read.approvals.page({
      filter: { status: "pending" },
      after: null,
      limit: 9,
    });
    expect(items).toHaveLength(1);
    return (await by(decideApproval, { approval_id: items[0]!.id, decision })).status;
  }
  return {
    instance,
    ann: ann!,
    ben: ben!,
    cid: cid!,
    eve: eve!,
    idle,
    create,
    publish,
    update,
    start,
    decide,
  };
}

const refused = (reason: string) => ({
  code: "approval_not_yours",
  message: expect.stringContaining(reason) as string,
});

/** Ben starts what Ann wrote: it fails with her text, and Cid's handler asks with it. */
async function askedOnFailure({ nested }: { nested: boolean }) {
  const people = await team();
  const { ann, ben, cid, create, publish, start } = people;
  const inputs = { type: "object", properties: { error: { type: "object" } } };
  const message = "Pay? ${{ inputs.error.message }}";
  await create(cid, "Handler", { inputs, steps: [{ ...ask, message }] });
  await publish(cid, "handler");
  const gate = { id: "gate", type: "assert", that: "1 == 2", message: "PAY ANN" };
  await create(ann, "Fails", { on_failure: "handler", steps: [gate] });
  await publish(ann, "fails");
  if (nested) {
    await create(cid, "Fails Too", { on_failure: "handler", steps: [call("fails")] });
    await publish(cid, "fails-too");
  }
  await start(nested ? "fails-too" : "fails", ben);
  return people;
}

describe("an approval", () => {
  it("is not decided by who wrote and published the version, but by anybody else", async () => {
    const { ann, ben, create, publish, start, decide } = await team();
    await create(ann, "Asks", asks);
    await publish(ann, "asks");
    await start("asks");
    await expect(decide(ann)).rejects.toMatchObject(
      refused(
        'You wrote version 1 of "asks", which takes part in this run, and nobody else has published it since',
      ),
    );
    await expect(decide(ann, "decline")).rejects.toMatchObject({ code: "approval_not_yours" });
    expect(await decide(ben)).toBe("approved");
  });

  it("is not decided by the author of a draft that somebody else starts", async () => {
    const { ann, ben, create, start, decide } = await team();
    await create(ann, "Asks", asks);
    await start("asks");
    await expect(decide(ann)).rejects.toMatchObject(refused("You wrote version 1"));
    expect(await decide(ben)).toBe("approved");
  });

  it("is decided by the author once another person has published the version, who then can't", async () => {
    const { ann, ben, create, publish, start, decide } = await team();
    await create(ann, "Asks", asks);
    await publish(ben, "asks");
    await start("asks");
    await expect(decide(ben)).rejects.toMatchObject(refused('You published version 1 of "asks"'));
    expect(await decide(ann)).toBe("approved");
  });

  it("is decided by the author once another person has published the same version again, as the refusal says", async () => {
    const { instance, ann, ben, create, publish, start, decide } = await team();
    await create(ann, "Asks", asks);
    await publish(ann, "asks");
    await start("asks");
    await expect(decide(ann)).rejects.toMatchObject(refused("POST /workflows/asks/publish"));
    await publish(ann, "asks");
    await expect(decide(ann)).rejects.toMatchObject({ code: "approval_not_yours" });
    const published = async () =>
      (
        await instance.store.read
          .selectFrom("audit_log")
          .select("owner")
          .where("operation", "=", "publish_workflow")
          .execute()
      ).map(({ owner }) => owner);
    expect(await published()).toEqual(["ann@example.com"]);
    await publish(ben, "asks");
    expect(await published()).toEqual(["ann@example.com", "ben@example.com"]);
    expect(await decide(ann)).toBe("approved");
  });

  it("is not decided by the author of an earlier version that nobody else has published since", async () => {
    const { ann, ben, cid, create, publish, update, start, decide } = await team();
    await create(ben, "Asks", asks);
    await publish(ben, "asks");
    await update(ann, "asks", { steps: [ask, ...say.steps] });
    await update(cid, "asks", { steps: [ask], output: "1" });
    await publish(cid, "asks");
    await start("asks");
    await expect(decide(cid)).rejects.toMatchObject(refused("You wrote version 3"));
    // Cid's publication was a review of what Ann and Ben wrote.
    expect(await decide(ann)).toBe("approved");
  });

  it.each(["a called workflow", "a workflow that was called before the question", "a workflow on_failure"])(
    "is not decided by the author of %s",
    async (what) => {
      const { ann, cid, create, publish, start, decide } = await team();
      await create(ann, "Child", say);
      await publish(ann, "child");
      const definition =
        what === "a called workflow"
          ? { steps: [ask, call("child")] }
          : what === "a workflow on_failure"
            ? { steps: [ask], on_failure: "child" }
            : { steps: [call("child"), ask] };
      await create(cid, "Caller", definition);
      await start("caller");
      await expect(decide(ann)).rejects.toMatchObject(refused('You wrote version 1 of "child"'));
    },
  );

  it("is not decided by the author of a workflow that waits for its run, nor of what that one calls", async () => {
    const { ann, ben, cid, create, publish, start, decide } = await team();
    await create(ann, "Last", say);
    await create(cid, "Asks", asks);
    for (const id of ["last", "asks"]) await publish(cid, id);
    await publish(ann, "last");
    await create(ben, "Caller", { steps: [call("asks"), call("last", { id: "last" })] });
    await start("caller");
    await expect(decide(ben)).rejects.toMatchObject(refused('You wrote version 1 of "caller"'));
    await expect(decide(ann)).rejects.toMatchObject(refused('You published version 1 of "last"'));
  });

  it("of a run on_failure is not decided by who wrote the failed version, which chose it and wrote its inputs", async () => {
    const { ann, eve, ben, publish, decide } = await askedOnFailure({ nested: false });
    await expect(decide(ann)).rejects.toMatchObject(refused('You wrote version 1 of "fails"'));
    await expect(decide(ben)).rejects.toMatchObject({ code: "approval_not_yours" });
    await publish(eve, "fails");
    expect(await decide(ann)).toBe("approved");
  });

  it("of a run on_failure is decided by who had no part in it", async () => {
    const { eve, decide } = await askedOnFailure({ nested: false });
    expect(await decide(eve)).toBe("approved");
  });

  it("of a run on_failure is not decided by who wrote it when the failed run is deleted, nor in a retry", async () => {
    const { instance, ann, ben, cid, decide, idle } = await askedOnFailure({ nested: false });
    const [approval] = (
      await instance.services.read.approvals.page({ filter: { status: "pending" }, after: null, limit: 9 })
    ).items;
    await cid(cancelRun, { run_id: approval!.runId });
    await idle();
    await ben(retryRun, { run_id: approval!.runId, wait: 0 });
    await idle();
    await instance.store.transaction((trx) =>
      trx.deleteFrom("runs").where("workflow_id", "=", "fails").execute(),
    );
    await expect(decide(ann)).rejects.toMatchObject(refused('You wrote version 1 of "fails"'));
  });

  it("is not decided by the author of a workflow that called the run that was retried, and wrote its inputs", async () => {
    const { instance, ann, ben, cid, create, publish, start, decide, idle } = await team();
    const inputs = { type: "object", properties: { who: { type: "string" } } };
    await create(cid, "Asks", { inputs, steps: [{ ...ask, message: "Pay ${{ inputs.who }}?" }] });
    await publish(cid, "asks");
    await create(ann, "Caller", { steps: [call("asks", { inputs: { who: "Ann" } })] });
    await publish(ann, "caller");
    const run = await start("caller");
    const [approval] = (
      await instance.services.read.approvals.page({ filter: { status: "pending" }, after: null, limit: 9 })
    ).items;
    await ben(cancelRun, { run_id: run });
    await idle();
    await ben(retryRun, { run_id: approval!.runId, wait: 0 });
    await idle();
    await expect(decide(ann)).rejects.toMatchObject(refused('You wrote version 1 of "caller"'));
  });

  it("is decided by the author of a later version, which takes no part", async () => {
    const { ann, ben, create, publish, update, start, decide } = await team();
    await create(ben, "Asks", asks);
    await publish(ben, "asks");
    await start("asks");
    await update(ann, "asks", say);
    expect(await decide(ann)).toBe("approved");
  });

  it("is not decided by who changed the definition in a retry, also when another person retries that run", async () => {
    const { ann, ben, cid, create, publish, start, decide, idle } = await team({
      by_starter: true,
      by_author: false,
    });
    await create(ben, "Asks", { steps: [{ id: "gate", type: "assert", that: "false", message: "closed" }] });
    await publish(cid, "asks");
    const first = await start("asks");
    const patched = await ann(retryRun, { run_id: first, definition: asks, wait: 0 });
    await idle();
    const reason = `You changed the definition that this run follows, with the retry ${patched.id}`;
    await expect(decide(ann)).rejects.toMatchObject(refused(reason));
    await cid(cancelRun, { run_id: patched.id });
    await idle();
    await cid(retryRun, { run_id: patched.id, wait: 0 });
    await idle();
    await expect(decide(ann)).rejects.toMatchObject(refused(reason));
    expect(await decide(ben)).toBe("approved");
  });

  it.each([
    ["of the same user", "ann@example.com", "key_1", "ann@example.com", "key_2", "refused"],
    ["of another user", "ann@example.com", "key_1", "ben@example.com", "key_2", "approved"],
    ["that the operator's key was rotated to", "operator", "key_1", "operator", "key_1", "refused"],
    ["that is another one of the operator", "operator", "key_1", "operator", "key_2", "approved"],
  ])(
    "of what a key wrote, decided with a key %s",
    async (_what, owner, lineage, otherOwner, other, expected) => {
      const { instance, create, start, decide } = await team();
      const author = callAs(instance, { ...keyPrincipal(Scope.options, owner), lineage });
      const decider = callAs(instance, { ...keyPrincipal(["approve"], otherOwner), lineage: other });
      await create(author, "Asks", asks);
      await start("asks");
      const outcome = decide(decider).catch(({ code }: { code: string }) => code);
      expect(await outcome).toBe(expected === "refused" ? "approval_not_yours" : expected);
    },
  );

  it.each([
    [{}, "refused"],
    [{ by_starter: true }, "approved"],
    [{ by_author: true }, "approved"],
    [{ by_starter: true, by_author: false }, "refused"],
  ])("with approvals %j is %s for the author", async (approvals, expected) => {
    const { ann, create, start, decide } = await team(approvals);
    await create(ann, "Asks", asks);
    await start("asks");
    expect(
      await decide(ann).catch(({ code }: { code: string }) =>
        code === "approval_not_yours" ? "refused" : code,
      ),
    ).toBe(expected);
  });
});
