/** Who may decide an approval by name, by role, for others and after a change of the plan, and who gets a mail. */
import { describe, expect, it } from "vitest";
import { planDigest } from "../../src/core/approval-rules.ts";
import { approvalRecipients } from "../../src/core/approval-people.ts";
import { isOwnWork } from "../../src/core/authored-work.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import type { Principal } from "../../src/core/ports.ts";
import type { UserRole } from "../../schemas/user.ts";
import { endAbsence } from "../../tools/absences/end-absence.ts";
import { setAbsence } from "../../tools/absences/set-absence.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { delegateApproval } from "../../tools/approvals/delegate-approval.ts";
import { getApproval } from "../../tools/approvals/get-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal, signedInUser } from "../support/users.ts";

const ROLES: Readonly<Record<string, UserRole>> = {
  ann: "admin",
  ben: "editor",
  cai: "editor",
  dan: "editor",
  vera: "viewer",
};

/** An approval of a run that Dan has started, of a workflow that a key of the operator has written. */
async function asked(step: object, others: Readonly<Record<string, UserRole>> = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { queue } = await instance.executor();
  const principals = new Map<string, Principal>();
  for (const [name, role] of Object.entries({ ...ROLES, ...others }))
    principals.set(name, (await signedInUser(instance, { email: `${name}@example.com`, role })).principal);
  let plan = "one";
  const { services } = instance;
  const remainingWork: typeof services.engine.remainingWork = async (read, approval) => {
    const real = await services.engine.remainingWork(read, approval);
    const levels = [plan];
    return { ...real, levels, digest: planDigest(levels) };
  };
  const changeable = { services: { ...services, engine: { ...services.engine, remainingWork } } };
  const as = (name: string) => callAs(changeable, principals.get(name)!);
  const author = callAs(instance, { ...keyPrincipal(), lineage: "key_author" });
  const { id: workflow } = await author(createWorkflow, {
    name: "Asks",
    definition: { steps: [{ id: "ask", type: "approval", message: "Go on?", ...step }] },
  });
  const run = await as("dan")(runWorkflow, { workflow_id: workflow, wait: 0 });
  queue.wake();
  await queue.waitUntilIdle();
  const find = async () =>
    (await services.read.approvals.findByStep({ runId: run.id, stepId: "ask", item: null }))!;
  const { id } = await find();
  return {
    instance,
    clock,
    services,
    as,
    find,
    id,
    setPlan: (next: string) => void (plan = next),
    decide: (name: string, more: object = {}) =>
      as(name)(decideApproval, {
        approval_id: id,
        decision: "approve",
        plan_digest: planDigest([plan]),
        ...more,
      }),
    delegate: (name: string, to: string, more: object = {}) =>
      as(name)(delegateApproval, { approval_id: id, to: `${to}@example.com`, ...more }),
    away: (name: string, substitute: string) =>
      as(name)(setAbsence, { until: iso(clock.now() + DAY), substitute: `${substitute}@example.com` }),
    /** Who gets a mail about it. */
    to: async () => {
      const [approval, started] = [await find(), (await services.read.runs.find(run.id))!];
      const remaining = await services.engine.remainingWork(services.read, approval);
      const recipients = await approvalRecipients(services.read, approval, {
        planDigest: planDigest([plan]),
        isOwnWork: (email) => isOwnWork(services.engine.policy, services.read, email, started, remaining),
        now: iso(clock.now()),
      });
      return recipients.map(({ email, for: seat }) => (seat === null ? email : `${email} for ${seat}`));
    },
    you: async (name: string) => (await as(name)(getApproval, { approval_id: id })).you!,
  };
}

const refusal = (text: string) => ({ message: expect.stringContaining(text) as string });

describe("an approval that is assigned to a role", () => {
  it("is for those who have it or a higher one, with their keys too, and never for who started the run", async () => {
    const { as, decide, you, id } = await asked({ assignees: ["editor"] });
    expect(await you("ben")).toEqual({ can_decide: true, assigned: true });
    expect(await you("ann")).toEqual({ can_decide: true, assigned: true });
    expect(await you("dan")).toMatchObject({
      can_decide: false,
      assigned: true,
      reason: expect.stringContaining("You started the run") as string,
    });
    expect(await you("vera")).toMatchObject({ can_decide: false, assigned: false });
    await expect(decide("dan")).rejects.toMatchObject(refusal("You started the run"));
    const mine = async (name: string, forMe: string) =>
      (await as(name)(listApprovals, { for_me: forMe })).items.map((approval) => approval.id);
    expect(await mine("dan", "assigned")).toEqual([id]);
    expect(await mine("dan", "decidable")).toEqual([]);
    expect(await mine("ben", "decidable")).toEqual([id]);
    expect(await mine("vera", "assigned")).toEqual([]);
    expect(await decide("ben")).toMatchObject({ status: "approved", decided_by: "ben@example.com" });
  });

  it("is for admins only if it says admin, without an override of theirs", async () => {
    const { decide, you } = await asked({ assignees: ["admin"] });
    expect(await you("ben")).toMatchObject({ can_decide: false, assigned: false });
    expect(await decide("ann")).toMatchObject({ status: "approved", decisions: [{ by: "ann@example.com" }] });
  });
});

describe("an approval that is assigned to nobody", () => {
  it("is not offered in a waiting run to those who can't decide it", async () => {
    const { as, find, id } = await asked({});
    const { runId } = await find();
    const next = async (name: string) => (await as(name)(getRun, { run_id: runId })).next;
    expect(await next("ben")).toContain(
      `It waits for a person's approval: decide_approval (POST /approvals/${id}).`,
    );
    expect(await next("vera")).toContain(
      `It waits for a person's approval, ${id}, which you can't decide: your key or role does not allow decide_approval.`,
    );
  });

  it("is not decidable for a key that is limited to other operations than decide_approval", async () => {
    const { instance, id } = await asked({});
    const limited = (tools: readonly string[]) => {
      const principal = { ...keyPrincipal(), lineage: "key_limited" };
      return callAs(instance, { ...principal, access: { ...principal.access, keyLimits: { tools } } });
    };
    const reading = limited(["list_approvals", "get_approval"]);
    const you = {
      can_decide: false,
      assigned: false,
      reason: expect.stringContaining("limited to other operations than decide_approval") as string,
    };
    expect((await reading(getApproval, { approval_id: id })).you).toEqual(you);
    for (const input of [{ run_id: (await reading(listApprovals)).items[0]!.run_id }, { for_me: "all" }])
      expect((await reading(listApprovals, input)).items).toMatchObject([{ id, you }]);
    expect((await reading(listApprovals, { for_me: "decidable" })).items).toEqual([]);
    const deciding = limited(["get_approval", "decide_approval"]);
    expect((await deciding(getApproval, { approval_id: id })).you).toMatchObject({ can_decide: true });
  });

  it("says to those who may only read that they can't decide it, and is not listed as theirs", async () => {
    const { as, you, decide, id } = await asked({});
    expect(await you("vera")).toEqual({
      can_decide: false,
      assigned: false,
      reason: expect.stringContaining('does not have the scope "approve"') as string,
    });
    const decidable = async (name: string) =>
      (await as(name)(listApprovals, { for_me: "decidable" })).items.map((approval) => approval.id);
    expect(await decidable("vera")).toEqual([]);
    expect(await decidable("ben")).toEqual([id]);
    await expect(decide("vera")).rejects.toMatchObject({ code: "missing_scope" });
  });
});

describe("an approval that two people decide", () => {
  const TWO = { assignees: ["ben@example.com", "cai@example.com", "ann@example.com"], required: 2 };

  it("does not count decisions for a plan that has changed, says so, and lets people decide again", async () => {
    const { decide, setPlan, as, id, you, clock } = await asked(TWO);
    expect(await decide("ben")).toMatchObject({ status: "pending", required: 2 });
    await expect(decide("ben")).rejects.toMatchObject(refusal("each person decides once. 1 of 2"));
    clock.advance(1_000);
    setPlan("another");
    expect((await as("ann")(getApproval, { approval_id: id })).decisions).toMatchObject([{ outdated: true }]);
    expect(await you("ben")).toMatchObject({ can_decide: true });
    await expect(decide("cai", { plan_digest: planDigest(["one"]) })).rejects.toMatchObject({
      code: "approval_plan_changed",
    });
    expect(await decide("cai")).toMatchObject({ status: "pending" });
    clock.advance(1_000);
    const done = await decide("ben");
    expect(done).toMatchObject({ status: "approved" });
    expect(done.decisions!.map(({ by, outdated = false }) => [by, outdated])).toEqual([
      ["ben@example.com", true],
      ["cai@example.com", false],
      ["ben@example.com", false],
    ]);
  });

  it("reports its step again with each decision to those who follow the run", async () => {
    const { decide, services, find } = await asked(TWO);
    const { runId } = await find();
    const { seq } = (await services.read.runs.find(runId))!;
    const changed = services.engine.waitForChange(runId, seq, {
      ms: DAY,
      signal: new AbortController().signal,
    });
    await decide("ben");
    await changed;
    const steps = await services.read.runs.steps(runId, { sinceSeq: seq });
    expect(steps).toMatchObject([{ stepId: "ask", state: "waiting" }]);
  });

  it("records each decision and delegation in the audit log", async () => {
    const { decide, delegate, services, id } = await asked(TWO);
    await decide("ben");
    await delegate("cai", "dan").catch(() => undefined);
    await decide("cai", { decision: "decline", comment: "No." });
    const entries = await services.read.audit.page({ filter: { target: id }, before: null, limit: 10 });
    expect(entries.map(({ owner, operation, details }) => ({ owner, operation, details }))).toEqual([
      {
        owner: "cai@example.com",
        operation: "decide_approval",
        details: { decision: "decline", status: "declined" },
      },
      {
        owner: "ben@example.com",
        operation: "decide_approval",
        details: { decision: "approve", status: "pending" },
      },
    ]);
  });
});

describe("addresses that differ in case or tag only", () => {
  const TAGGED: Readonly<Record<string, UserRole>> = { "ben+2": "editor", "dan+2": "admin" };

  it("are one person, who decides once and in one place", async () => {
    const assignees = ["ben@example.com", "ben+2@example.com", "cai@example.com", "vera+x@example.com"];
    const { decide, you, to, delegate } = await asked({ assignees, required: 2 }, TAGGED);
    expect(await to()).toEqual([...assignees]);
    await expect(delegate("ben", "ben+2")).rejects.toMatchObject({ code: "invalid_input" });
    expect(await decide("ben")).toMatchObject({ status: "pending" });
    expect(await you("ben+2")).toMatchObject({ can_decide: false, assigned: true });
    await expect(decide("ben+2")).rejects.toMatchObject({ code: "approval_decided" });
    expect(await to()).toEqual(["cai@example.com", "vera+x@example.com"]);
    expect(await decide("cai")).toMatchObject({ status: "approved" });
  });

  it("take one place, also when the other one is passed on", async () => {
    const assignees = ["ben@example.com", "ben+2@example.com", "vera+x@example.com"];
    const { decide, delegate } = await asked({ assignees, required: 2 }, TAGGED);
    await delegate("ben+2", "cai");
    await decide("ben");
    await expect(decide("cai")).rejects.toMatchObject({ code: "approval_decided" });
  });

  it("are who started the run, and who wrote what it runs", async () => {
    const { decide, you, to, delegate } = await asked({ assignees: ["editor", "dan+3@example.com"] }, TAGGED);
    expect(await to()).toEqual(["ann", "ben+2", "ben", "cai"].map((name) => `${name}@example.com`));
    await expect(decide("dan+2")).rejects.toMatchObject(refusal("You started the run"));
    expect((await you("dan+2")).can_decide).toBe(false);
    await expect(delegate("ben", "dan+2")).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("give nobody the place of another account", async () => {
    const { decide } = await asked({ assignees: ["ben+2@example.com"] }, TAGGED);
    await expect(decide("ben")).rejects.toMatchObject({ code: "approval_not_yours" });
    expect(await decide("ben+2")).toMatchObject({ status: "approved" });
  });
});

describe("an approval that is passed on", () => {
  const ONE = { assignees: ["ben@example.com"] };

  it("is decided by the other person, and no more by the assignee until it is passed back", async () => {
    const { decide, delegate, find } = await asked(ONE);
    expect(await delegate("ben", "cai", { note: "Please." })).toMatchObject({
      assignees: ["cai@example.com"],
      history: [{ event: "delegated", by: "ben@example.com", to: ["cai@example.com"], note: "Please." }],
    });
    await expect(decide("ben")).rejects.toMatchObject(refusal("You passed"));
    await delegate("cai", "ben");
    await expect(decide("cai")).rejects.toMatchObject({ code: "approval_not_yours" });
    expect(await decide("ben")).toMatchObject({ status: "approved" });
    expect((await find()).decisions).toMatchObject([{ person: "ben@example.com", seat: "ben@example.com" }]);
  });

  it("goes to nobody who may not decide, and comes from nobody who may not", async () => {
    const { delegate } = await asked(ONE);
    await expect(delegate("ben", "vera")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(delegate("ben", "nobody")).rejects.toMatchObject({ code: "invalid_input" });
    // Dan started the run.
    await expect(delegate("ben", "dan")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(delegate("cai", "ann")).rejects.toMatchObject({ code: "approval_not_yours" });
    await expect(delegate("ben", "cai", { from: "ben@example.com" })).rejects.toMatchObject({
      code: "approval_not_yours",
    });
    expect(await delegate("ann", "cai", { from: "ben@example.com" })).toMatchObject({
      assignees: ["cai@example.com"],
    });
    const starter = await asked({ assignees: ["dan@example.com"] });
    await expect(starter.delegate("dan", "cai")).rejects.toMatchObject(refusal("You started the run"));
  });
});

describe("the substitute of an assignee who is away", () => {
  it("decides in their place while the absence lasts, also through another who is away", async () => {
    const { away, decide, you, clock } = await asked({ assignees: ["ann@example.com"] });
    await away("ann", "cai");
    await away("cai", "ben");
    expect(await you("ben")).toEqual({ can_decide: true, assigned: true, for: "ann@example.com" });
    clock.advance(DAY);
    await expect(decide("ben")).rejects.toMatchObject({ code: "approval_not_yours" });
    const again = await asked({ assignees: ["ann@example.com"] });
    await again.away("ann", "cai");
    expect(await again.decide("cai")).toMatchObject({
      decided_by: "cai@example.com",
      decisions: [{ by: "cai@example.com", for: "ann@example.com" }],
    });
  });

  it("can't decide what the assignee may not decide, nor twice with them", async () => {
    const starter = await asked({ assignees: ["dan@example.com", "ann@example.com"] });
    await starter.away("dan", "ben");
    await expect(starter.decide("ben")).rejects.toMatchObject(
      refusal("You stand in for dan@example.com, who may not decide"),
    );
    const both = await asked({ assignees: ["cai@example.com", "ann@example.com"], required: 2 });
    await both.away("cai", "ben");
    await both.decide("cai");
    await expect(both.decide("ben")).rejects.toMatchObject(refusal("cai@example.com approved"));
  });

  it("gets the mail too, and nobody gets one whose place is taken, or who may not decide", async () => {
    const { away, decide, to } = await asked({
      assignees: ["ann@example.com", "cai@example.com"],
      required: 2,
    });
    await away("ann", "ben");
    const [ann, cai] = ["ann@example.com", "cai@example.com"];
    expect(await to()).toEqual([ann, cai, "ben@example.com for ann@example.com"]);
    await decide("ann");
    expect(await to()).toEqual([cai]);
    await away("cai", "vera");
    expect(await to()).toEqual([cai]);
  });
});

describe("an absence that an admin sets for somebody else", () => {
  it("works like their own, is in the audit log of both, and is refused to others", async () => {
    const { as, decide, services, clock } = await asked({ assignees: ["cai@example.com"] });
    const until = iso(clock.now() + DAY);
    const forCai = { until, substitute: "ben@example.com", person: "cai@example.com" };
    await expect(as("ben")(setAbsence, forCai)).rejects.toMatchObject({ code: "missing_scope" });
    await expect(as("ben")(endAbsence, { person: "cai@example.com" })).rejects.toMatchObject({
      code: "missing_scope",
    });
    await expect(as("ann")(setAbsence, { ...forCai, person: "no@example.com" })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(as("ann")(setAbsence, { ...forCai, substitute: "cai@example.com" })).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await as("ann")(setAbsence, forCai)).toMatchObject({
      substitute: "ben@example.com",
      active: true,
    });
    await as("ann")(endAbsence, { person: "cai@example.com" });
    await expect(decide("ben")).rejects.toMatchObject({ code: "approval_not_yours" });
    await as("ann")(setAbsence, forCai);
    expect(await decide("ben")).toMatchObject({
      decisions: [{ by: "ben@example.com", for: "cai@example.com" }],
    });
    const entries = await services.read.audit.page({
      filter: { target: "cai@example.com", operation: "set_absence" },
      before: null,
      limit: 10,
    });
    expect(entries.map(({ owner, target }) => [owner, target])).toEqual([
      ["ann@example.com", "cai@example.com"],
      ["ann@example.com", "cai@example.com"],
    ]);
  });
});

describe("the mail about an approval", () => {
  it("goes to those with the role who may decide, and not to who started the run or their substitute", async () => {
    const byRole = await asked({ assignees: ["editor"] });
    expect(await byRole.to()).toEqual(["ann@example.com", "ben@example.com", "cai@example.com"]);
    const named = await asked({ assignees: ["dan@example.com", "vera@example.com", "new@example.com"] });
    await named.away("dan", "ben");
    expect(await named.to()).toEqual(["new@example.com"]);
  });
});
