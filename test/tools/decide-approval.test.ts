import { describe, expect, it } from "vitest";
import type { ApprovalRecord, RunActor } from "../../src/core/model.ts";
import type { Principal } from "../../src/core/principal.ts";
import { iso } from "../../src/core/clock.ts";
import type { Services } from "../../src/surfaces/invoke.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";
import { TEST_ACTOR } from "../support/engine.ts";

/** A run that waits for an approval. */
async function waitingRun({
  step = {},
  definition = {},
  starter = TEST_ACTOR,
}: { step?: object; definition?: object; starter?: Omit<RunActor, "surface"> & { surface: "rest" } } = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { queue } = await instance.executor();
  const { services } = instance;
  const call = callAs(instance, { ...keyPrincipal(), lineage: "key_author" });
  const { id: workflowId } = await call(createWorkflow, {
    name: "Asks",
    definition: { steps: [{ id: "ask", type: "approval", message: "Go on?", ...step }], ...definition },
  });
  const prepared = await services.engine.prepareRun({
    caller: null,
    workflowId,
    inputs: {},
    actor: starter,
    trigger: "rest",
  });
  const intent = {
    operation: "test",
    actor: { principal: keyPrincipal(), client: { surface: "rest" as const, name: "vitest" } },
    requestId: "req_1",
  };
  await services.write(intent, (tx) => services.engine.startRun(tx, prepared));
  queue.wake();
  await queue.waitUntilIdle();
  const approval = (await services.read.approvals.findByStep({
    runId: prepared.id,
    stepId: "ask",
    item: null,
  }))!;
  const decideAs = (principal: Principal, more: object = {}) =>
    callAs(instance, principal)(decideApproval, { approval_id: approval.id, decision: "approve", ...more });
  return { instance, clock, queue, services, approval, runId: prepared.id, decideAs };
}

/** Services whose next decision is recorded just after another one. */
const decidedJustBefore = (
  services: Services,
  approvalId: string,
  other: Pick<ApprovalRecord, "status" | "decidedAt" | "decidedBy" | "comment" | "answer">,
): Services => ({
  ...services,
  write: (intent, effect) =>
    services.write(intent, (tx) =>
      effect({
        ...tx,
        approvals: {
          ...tx.approvals,
          async decide(id, decision) {
            expect(await tx.approvals.decide(approvalId, other)).toBe(true);
            return tx.approvals.decide(id, decision);
          },
        },
      }),
    ),
});

describe("decide_approval", () => {
  it("refuses a decision when another one was recorded in between, and adds no job for it", async () => {
    const { services, approval } = await waitingRun();
    const other = {
      status: "declined",
      decidedAt: iso(Date.now()),
      decidedBy: "ada@example.com",
      comment: null,
      answer: null,
    } as const;
    const call = callAs({ services: decidedJustBefore(services, approval.id, other) }, keyPrincipal());
    const input = { approval_id: approval.id, decision: "approve" };
    await expect(call(decideApproval, input)).rejects.toMatchObject({
      code: "approval_decided",
      message: expect.stringMatching(/declined .*by ada@example.com/) as string,
    });
    expect(await services.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });

  it("refuses a decision when the approval expired in between", async () => {
    const { services, approval } = await waitingRun();
    const expired = {
      status: "expired",
      decidedAt: iso(Date.now()),
      decidedBy: null,
      comment: null,
      answer: null,
    } as const;
    const call = callAs({ services: decidedJustBefore(services, approval.id, expired) }, keyPrincipal());
    await expect(
      call(decideApproval, { approval_id: approval.id, decision: "decline" }),
    ).rejects.toMatchObject({
      code: "approval_expired",
      message: expect.stringContaining(`${approval.id} expired at`) as string,
    });
  });

  it("records the decision and lets the run continue", async () => {
    const { instance, queue, services, approval, runId } = await waitingRun();
    const decided = await callAs(instance, keyPrincipal())(decideApproval, {
      approval_id: approval.id,
      decision: "approve",
    });
    expect(decided).toMatchObject({ status: "approved" });
    queue.wake();
    await queue.waitUntilIdle();
    expect(await services.read.runs.find(runId)).toMatchObject({ status: "succeeded" });
  });

  it("is for the assignees, and for a signed-in admin in their place who says so", async () => {
    const assignees = ["Ada@example.com", "bob@example.com"];
    const refused = {
      code: "approval_not_yours",
      message: expect.stringContaining(
        "is assigned to Ada@example.com, bob@example.com. Only they",
      ) as string,
    };
    const { instance, decideAs } = await waitingRun({ step: { assignees } });
    const scopes = ["read", "run", "approve"] as const;
    await expect(decideAs(keyPrincipal())).rejects.toMatchObject(refused);
    await expect(decideAs(keyPrincipal(scopes, "eve@example.com"))).rejects.toMatchObject(refused);
    await expect(decideAs({ ...keyPrincipal(), owner: "root@example.com" })).rejects.toMatchObject(refused);
    const editor = await signedInUser(instance, { email: "ed@example.com", role: "editor" });
    await expect(decideAs(editor.principal)).rejects.toMatchObject(refused);
    expect(await decideAs(keyPrincipal(scopes, "ada@example.com"))).toMatchObject({
      status: "approved",
      decided_by: "ada@example.com",
    });
    const other = await waitingRun({ step: { assignees } });
    const { principal } = await signedInUser(other.instance, { email: "root@example.com", role: "admin" });
    await expect(other.decideAs(principal)).rejects.toMatchObject({
      code: "approval_not_yours",
      message: expect.stringContaining("send override: true") as string,
    });
    expect(await other.decideAs(principal, { override: true })).toMatchObject({
      decided_by: "root@example.com",
      decisions: [{ by: "root@example.com", override: true }],
    });
    const [entry] = await other.services.read.audit.page({ filter: {}, before: null, limit: 1 });
    expect(entry).toMatchObject({
      operation: "decide_approval",
      details: { decision: "approve", override: true, status: "approved" },
    });
  });

  it("is not for an assignee who started the run", async () => {
    const owner = "ada@example.com";
    const { decideAs } = await waitingRun({
      step: { assignees: [owner] },
      starter: { ...TEST_ACTOR, owner, lineage: "usr_1" },
    });
    await expect(decideAs(keyPrincipal(["approve"], owner))).rejects.toMatchObject({
      code: "approval_not_yours",
      message: expect.stringContaining("You started the run") as string,
    });
  });

  it.each([
    ["the step", { step: { timeout: "1h" } }],
    ["the run", { definition: { timeout: "1h" } }],
    ["the run, earlier than that of the step", { step: { timeout: "2h" }, definition: { timeout: "1h" } }],
  ])("is refused after the timeout of %s, also before the timer has fired", async (_what, options) => {
    const { clock, queue, services, approval, runId, decideAs } = await waitingRun(options);
    await queue.stop(0);
    clock.advance(3_600_000);
    const refusal = { code: "approval_expired", message: expect.stringContaining("expired at") as string };
    await expect(decideAs(keyPrincipal())).rejects.toMatchObject(refusal);
    expect((await services.read.approvals.find(approval.id))!.status).toBe("pending");
    expect((await services.read.runs.find(runId))!.status).toBe("waiting");
  });

  it.each([
    [
      "the step that started its run",
      { steps: [{ id: "sub", type: "workflow", workflow: "asks", timeout: "1h" }] },
    ],
    [
      "a run that waits for its run",
      { timeout: "1h", steps: [{ id: "sub", type: "workflow", workflow: "asks" }] },
    ],
  ])("is refused after the timeout of %s", async (_what, definition) => {
    const { instance, clock, queue, services, approval } = await waitingRun();
    const call = callAs(instance, keyPrincipal());
    const parent = await call(createWorkflow, { name: "Parent", definition });
    const run = await call(runWorkflow, { workflow_id: parent.id, inputs: {}, wait: 0 });
    queue.wake();
    await queue.waitUntilIdle();
    const { items } = await services.read.approvals.page({
      filter: { status: "pending" },
      after: null,
      limit: 9,
    });
    const asked = items.find(({ id }) => id !== approval.id);
    await queue.stop(0);
    clock.advance(3_600_000);
    const other = callAs(instance, { ...keyPrincipal(), lineage: "key_other" });
    const decide = (id: string) => other(decideApproval, { approval_id: id, decision: "approve" });
    await expect(decide(asked!.id)).rejects.toMatchObject({ code: "approval_expired" });
    expect((await services.read.runs.find(run.id))!.finishedAt).toBeNull();
    // The other run of the same workflow has no timeout.
    expect(await decide(approval.id)).toMatchObject({ status: "approved" });
  });

  it("is accepted in the last millisecond before the timeout, however late the run continues", async () => {
    const { instance, clock, queue, services, runId, decideAs } = await waitingRun({
      step: { timeout: "1h" },
    });
    await queue.stop(0);
    clock.advance(3_600_000 - 1);
    await decideAs(keyPrincipal());
    clock.advance(3_600_000);
    const { queue: later } = await instance.executor();
    later.wake();
    await later.waitUntilIdle();
    expect(await services.read.runs.find(runId)).toMatchObject({ status: "succeeded" });
  });
});
