import { describe, expect, it } from "vitest";
import { assignmentOf } from "../../src/core/approval-assignment.ts";
import type { ApprovalRecord } from "../../src/core/model.ts";
import { refusals } from "../../tools/approvals/refusals.ts";

const ANN = "ann@example.com";
const BEN = "ben@example.com";
const AT = "2026-11-21T08:00:00.000Z";
const approvalWith = (fields: Partial<ApprovalRecord> = {}) =>
  ({
    id: "apr_1",
    runId: "run_1",
    status: "pending",
    assignees: [ANN, "Editor"],
    events: [],
    decidedAt: AT,
    decidedBy: BEN,
    expiresAt: null,
    rules: { required: 2 },
    ...fields,
  }) as unknown as ApprovalRecord;
type Events = ApprovalRecord["events"];
type Decision = Parameters<typeof refusals.seatTaken>[1];
const decision = (fields: Partial<Decision> = {}): Decision =>
  ({ name: BEN, seat: BEN, person: BEN, approved: true, decidedAt: AT, ...fields }) as Decision;

const notAssigned = (events: unknown[], person = BEN) => {
  const approval = approvalWith({ events: events as Events });
  return refusals.notAssigned(approval, assignmentOf(approval), person).message;
};

describe("refusals of somebody to whom an approval is not assigned", () => {
  it("notAssigned names the assignees as they were written until something changes them", () => {
    expect(notAssigned([])).toContain(
      "apr_1 is assigned to ann@example.com, Editor. Only they can decide it",
    );
    expect(notAssigned([{ kind: "reminded", by: null, to: [] }])).toContain(
      "assigned to ann@example.com, Editor.",
    );
    const reminded = { kind: "reminded", by: null, to: [] };
    const escalated = { kind: "escalated", by: null, to: ["admin"] };
    expect(notAssigned([reminded, escalated])).toContain("assigned to ann@example.com, editor, admin.");
    const delegated = { kind: "delegated", by: ANN, to: ["cai@example.com"] };
    expect(notAssigned([reminded, delegated])).toContain("assigned to cai@example.com, editor.");
  });

  it("notAssigned says to whom the person has passed it on", () => {
    const delegated = { kind: "delegated", by: ANN, to: [BEN] };
    expect(notAssigned([delegated], ANN)).toBe(
      "You passed apr_1 on to ben@example.com, who decides it now. They can pass it back to you.",
    );
    expect(notAssigned([], ANN)).toContain("apr_1 is assigned to");
  });

  it("mayNotApprove names the project, and overrideNeeded the assignees", () => {
    expect(refusals.mayNotApprove(approvalWith(), "finance", new Set(["read"])).message).toContain(
      'the scope "approve" in the project "finance", so you can read apr_1 but not decide it.',
    );
    expect(refusals.overrideNeeded(approvalWith(), [ANN, "editor"]).message).toContain(
      "apr_1 is assigned to ann@example.com, editor. As an admin you can decide in their place: send override: true.",
    );
  });
});

const started = (kind: "started" | "redelivered", by: string) =>
  refusals.startedByCaller(approvalWith(), { kind, by, owner: ANN, keyName: "x", lineage: "y" }).message;

const authored = (work: Parameters<typeof refusals.authoredByCaller>[1]) =>
  refusals.authoredByCaller(approvalWith(), work).message;

describe("refusals of somebody who has a part in what is decided", () => {
  it("startedByCaller says how they caused the run", () => {
    expect(started("started", "run_1")).toMatch(
      /^You started the run run_1, so somebody else must decide apr_1/,
    );
    expect(started("started", "run_0")).toContain("You started the run run_0, which run_1 repeats");
    expect(started("redelivered", "del_1")).toContain(
      "You delivered again what started the run run_1 (del_1), so somebody else",
    );
  });

  it("authoredByCaller says what they wrote", () => {
    expect(authored({ kind: "patched", runId: "run_0" })).toContain(
      "You changed the definition that this run follows, with the retry run_0, so somebody else must decide apr_1",
    );
    expect(authored({ kind: "step", runId: "run_0" })).toContain(
      "You wrote the step that the run run_0 executes, so",
    );
    expect(authored({ kind: "published", version: 3, workflowId: "w" })).toContain(
      'You published version 3 of "w", which takes part in this run, and nobody else has published it since',
    );
  });

  it("absentMayNot names the absent person", () => {
    expect(refusals.absentMayNot(approvalWith(), BEN).message).toContain(
      "You stand in for ben@example.com, who may not decide apr_1: ben@example.com started the run",
    );
  });
});

describe("refusals of a decision that comes too late", () => {
  it("decidedByCaller says what they decided, and how many have approved", () => {
    const counted = [decision(), decision({ approved: false }), decision({ name: ANN })];
    expect(refusals.decidedByCaller(approvalWith(), decision(), counted).message).toBe(
      `You approved apr_1 at ${AT}, and each person decides once. 2 of 2 people have approved.`,
    );
    expect(refusals.decidedByCaller(approvalWith(), decision({ approved: false }), []).message).toBe(
      `You declined apr_1 at ${AT}, and each person decides once. 0 of 2 people have approved.`,
    );
  });

  it("seatTaken says who decided, and in whose place", () => {
    expect(refusals.seatTaken(approvalWith(), decision({ approved: false })).message).toBe(
      `ben@example.com declined apr_1 at ${AT}, so you can't decide it in their place.`,
    );
    expect(refusals.seatTaken(approvalWith(), decision()).message).toContain(
      "ben@example.com approved apr_1",
    );
    expect(refusals.seatTaken(approvalWith(), decision({ seat: ANN })).message).toBe(
      `ben@example.com approved apr_1 at ${AT} in the place of ann@example.com, so nobody else can in that place.`,
    );
  });

  it.each<[Partial<ApprovalRecord>, string, string]>([
    [
      { status: "approved" },
      "approval_decided",
      `apr_1 was already approved by ${BEN} at ${AT}; the first decision is final.`,
    ],
    [{ status: "cancelled" }, "approval_decided", "apr_1 is no longer pending: its run was stopped."],
    [{ status: "expired" }, "approval_expired", `apr_1 expired at ${AT}: nobody decided in time.`],
    [
      { status: "expired", expiresAt: "2026-11-20" },
      "approval_expired",
      "apr_1 expired at 2026-11-20: nobody",
    ],
  ])("ended with %j is %s", (fields, code, message) => {
    const error = refusals.ended(approvalWith(fields));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(error.message).toContain("get_run (GET /runs/run_1) shows the run.");
  });
});
