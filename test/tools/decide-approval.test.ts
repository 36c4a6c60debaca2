import { describe, expect, it } from "vitest";
import type { ApprovalRecord } from "../../src/core/model.ts";
import { iso } from "../../src/core/clock.ts";
import type { Services } from "../../src/surfaces/invoke.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";
import { TEST_ACTOR } from "../support/engine.ts";

/** A run that waits for an approval. */
async function waitingRun() {
  const instance = await testInstance();
  const { queue } = await instance.executor();
  const { services } = instance;
  const call = callAs(instance, keyPrincipal());
  const { id: workflowId } = await call(createWorkflow, {
    name: "Asks",
    definition: { steps: [{ id: "ask", type: "approval", message: "Go on?" }] },
  });
  const prepared = await services.engine.prepareRun({
    workflowId,
    inputs: {},
    actor: TEST_ACTOR,
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
  return { instance, queue, services, approval, runId: prepared.id };
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
      code: "approval_decided",
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
});
