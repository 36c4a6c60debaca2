import { describe, expect, it } from "vitest";
import { addGrant } from "../../tools/projects/add-grant.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { deleteProject } from "../../tools/projects/delete-project.ts";
import { setProjectMember } from "../../tools/projects/set-project-member.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { listSchedules } from "../../tools/schedules/list-schedules.ts";
import { getTriggers } from "../../tools/triggers/get-triggers.ts";
import { setWorkflowState } from "../../tools/workflow-state/set-workflow-state.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { moveWorkflow } from "../../tools/workflows/move-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { Scope } from "../../schemas/actor.ts";
import { projectWriter } from "../../src/store/projects.ts";
import { offerWorkflow } from "../../tools/workflows/offer-workflow.ts";
import { DAY } from "../../src/core/clock.ts";
import { recountStoredBytes, storedBytes, storedBytesErrors } from "../../src/store/stored-bytes.ts";
import { apiClient } from "../support/http.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { eventually } from "../support/eventually.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { addUser, callAs, keyPrincipal, signedInUser, signIn } from "../support/users.ts";

const NIGHTLY = {
  steps: [{ id: "pause", type: "wait", for: "30d" }],
  schedule: { cron: "0 3 * * *", timezone: "UTC", overlap: "skip" },
  state: { last_id: { type: "integer", default: 0 } },
};

async function open(config: object = {}, env: Record<string, string> = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock, config, env });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const call = callAs(instance, root.principal);
  await call(createProject, { name: "Finance" });
  await call(createProject, { name: "Sales" });
  return { instance, clock, call };
}

const bytesOf = async ({ store }: TestInstance) => ({
  default: await storedBytes(store.read, "project:default"),
  finance: await storedBytes(store.read, "project:finance"),
  sales: await storedBytes(store.read, "project:sales"),
  owner: await storedBytes(store.read, "root@example.com"),
});

describe("move_workflow", () => {
  it("moves versions, schedule and state; earlier runs stay, and scheduled ones start in the other project", async () => {
    const { instance, clock, call } = await open();
    const { id } = await call(createWorkflow, { name: "Nightly", definition: NIGHTLY });
    await call(updateWorkflow, { workflow_id: id, description: "Every night" });
    await call(publishWorkflow, { workflow_id: id });
    await call(setWorkflowState, { workflow_id: id, values: { last_id: 7 } });
    const before = await call(runWorkflow, { workflow_id: id, wait: 0 });
    await instance.store.transaction((trx) =>
      trx
        .insertInto("reviews")
        .values({
          id: "rev_1",
          project: "default",
          workflow_id: id,
          version: 2,
          digest: "d",
          status: "pending",
          plan: "{}",
          requested_at: "2026-11-21T08:00:00.000Z",
          requested_by: "ann@example.com",
          key_name: "ci",
          lineage: "key_1",
          subject: "ann@example.com",
        })
        .execute(),
    );
    const moved = await call(moveWorkflow, { workflow_id: id, project: "finance" });
    // Nobody of the old project decides about it any more.
    expect(await instance.store.read.selectFrom("reviews").select("status").execute()).toEqual([
      { status: "outdated" },
    ]);
    expect(moved).toMatchObject({ id: "nightly", project: "finance", version: 2, published_version: 2 });
    expect((await call(getRun, { run_id: before.id })).project).toBeUndefined();
    const { items: schedules } = await call(listSchedules, { project: "finance" });
    expect(schedules.map(({ workflow_id }) => workflow_id)).toEqual([id]);
    await call(cancelRun, { run_id: before.id });

    const executor = await instance.executor();
    clock.advance(DAY);
    expect(await executor.startDueRuns()).toBe(1);
    const { items } = await call(listRuns, { workflow_id: id });
    expect(items.map(({ project = "default", trigger }) => `${project}: ${trigger}`)).toEqual([
      "finance: schedule",
      "default: web",
    ]);
    // A project with a run of its own stays, also without workflows.
    await call(moveWorkflow, { workflow_id: id, project: "default" });
    await expect(call(deleteProject, { project: "finance" })).rejects.toMatchObject({
      message: expect.stringContaining("0 workflows (archived ones included) and 1 run,"),
    });
    const entries = await instance.read.audit.page({
      filter: { operation: "move_workflow" },
      before: null,
      limit: 10,
    });
    expect(entries.map(({ project, details }) => [project, details])).toEqual([
      ["default", { change: "changed", project_before: "finance", project: "default" }],
      ["finance", { to: "default" }],
      ["finance", { change: "changed", project_before: "default", project: "finance" }],
      ["default", { to: "finance" }],
    ]);
  });

  it("closes its state to runs that stay in the former project", async () => {
    const { instance, call } = await open();
    const { id } = await call(createWorkflow, {
      name: "Count",
      definition: {
        concurrency: 1,
        state: { last_id: { type: "integer", default: 0 } },
        steps: [{ id: "ask", type: "approval", message: "Go on?" }],
        output: { seen: "${{ state.last_id }}" },
        commit: { last_id: "${{ 666 }}" },
      },
    });
    await call(publishWorkflow, { workflow_id: id });
    await instance.executor();
    const started = [
      await call(runWorkflow, { workflow_id: id, wait: 1 }),
      await call(runWorkflow, { workflow_id: id, wait: 0 }),
    ];
    await call(moveWorkflow, { workflow_id: id, project: "finance" });
    await instance.store.transaction((trx) =>
      trx
        .insertInto("workflow_states")
        .values({
          workflow_id: id,
          subject: "root@example.com",
          stored_bytes: 13,
          revision: 1,
          body: JSON.stringify({ last_id: 42 }),
          updated_at: "",
          updated_by: "root@example.com",
        })
        .execute(),
    );
    const decider = callAs(instance, keyPrincipal());
    for (const { id: run } of started) {
      const approval = await eventually(
        async () => (await call(listApprovals, { run_id: run })).items[0],
        "the approval",
      );
      expect((await call(getRun, { run_id: run })).state).toEqual({ last_id: 0 });
      await decider(decideApproval, { approval_id: approval.id, decision: "approve" });
      await expect
        .poll(() => call(getRun, { run_id: run }))
        .toMatchObject({ status: "failed", error: { code: "state_conflict" } });
    }
    expect((await instance.read.workflowStates.find(id))!.values).toEqual({ last_id: 42 });
  });

  it("lets runs that stay in the former project delay none in the other one", async () => {
    // A job that no executor has claimed yet is a day old after the clock has moved.
    const { instance, clock, call } = await open({ limits: { queue_age: "30d" } });
    const { id } = await call(createWorkflow, {
      name: "Nightly",
      definition: { ...NIGHTLY, concurrency: 1 },
    });
    await call(publishWorkflow, { workflow_id: id });
    const executor = await instance.executor();
    const active = (run_id: string) => instance.read.runs.find(run_id).then((run) => run!.admitted);
    clock.advance(DAY);
    expect(await executor.startDueRuns()).toBe(1);
    const [scheduled] = (await call(listRuns, { workflow_id: id })).items;
    const behind = await call(runWorkflow, { workflow_id: id, wait: 0 });
    expect([await active(scheduled!.id), await active(behind.id)]).toEqual([true, false]);
    await call(moveWorkflow, { workflow_id: id, project: "finance" });
    // `overlap: skip` skips no run because of one in the former project.
    clock.advance(DAY);
    expect(await executor.startDueRuns()).toBe(1);
    const [moved] = (await call(listRuns, { workflow_id: id, project: "finance" })).items;
    const next = await call(runWorkflow, { workflow_id: id, wait: 0 });
    expect([await active(moved!.id), await active(next.id)]).toEqual([true, false]);
    // Each project admits its own queued runs.
    await call(cancelRun, { run_id: moved!.id });
    await eventually(
      async () => ((await active(next.id)) ? true : undefined),
      "the queued run of the project",
    );
    expect(await active(behind.id)).toBe(false);
    await call(cancelRun, { run_id: scheduled!.id });
    await eventually(
      async () => ((await active(behind.id)) ? true : undefined),
      "the queued run left behind",
    );
  });

  it("lets a retry reuse no output of the former project", async () => {
    const { instance, call } = await open();
    const { id } = await call(createWorkflow, {
      name: "Fetch",
      definition: {
        steps: [
          { id: "rows", type: "sql", database: "scratch", query: "SELECT 42 AS n" },
          { id: "never", type: "assert", that: "1 == 2", message: "No." },
        ],
      },
    });
    await instance.executor();
    const reused = async (run_id: string) =>
      (await instance.read.runs.step({ runId: run_id, stepId: "rows", item: null }))!.reusedFrom;
    const retry = (run_id: string) => call(retryRun, { run_id, wait: 20 });
    const first = await call(runWorkflow, { workflow_id: id, wait: 20 });
    const here = await retry(first.id);
    expect(await reused(here.id)).toBe(first.id);
    await call(moveWorkflow, { workflow_id: id, project: "finance" });
    const there = await retry(here.id);
    expect(there).toMatchObject({ project: "finance", status: "failed", error: { step_id: "never" } });
    expect(await reused(there.id)).toBeNull();
    const again = await retry(there.id);
    expect(await reused(again.id)).toBe(there.id);
  });

  it("hides the workflow from a retry by somebody who sees only the former project, also with a changed definition", async () => {
    const { instance, call } = await open();
    const user = await addUser(instance, { email: "ann@example.com", role: "member" });
    await call(setProjectMember, { project: "sales", email: user.email, role: "editor" });
    const ann = await signIn(instance, user);
    const never = { id: "never", type: "assert", that: "1 == 2", message: "No." };
    const { id } = await call(createWorkflow, {
      name: "Weekly",
      project: "sales",
      definition: { steps: [never] },
    });
    await instance.executor();
    const run = await call(runWorkflow, { workflow_id: id, wait: 20 });
    await call(moveWorkflow, { workflow_id: id, project: "finance" });
    const change = { op: "update_step", id: "never" };
    const patches = [undefined, [{ ...change, set: { that: "true" } }], [{ ...change, set: { that: "(" } }]];
    for (const patch of patches)
      await expect(
        callAs(instance, ann.principal)(retryRun, { run_id: run.id, ...(patch && { patch }) }),
      ).rejects.toMatchObject({ code: "workflow_not_found" });
  });

  it("moves the bytes of versions and state, which stay those of their owner", async () => {
    const { instance, call } = await open();
    const { id } = await call(createWorkflow, { name: "Nightly", definition: NIGHTLY, project: "sales" });
    await call(publishWorkflow, { workflow_id: id });
    await call(setWorkflowState, { workflow_id: id, values: { last_id: 7 } });
    const start = await bytesOf(instance);
    expect(start).toEqual({ default: 0, finance: 0, sales: start.owner, owner: start.owner });
    expect(start.owner).toBeGreaterThan(100);
    await call(moveWorkflow, { workflow_id: id, project: "finance" });
    expect(await bytesOf(instance)).toEqual({ ...start, sales: 0, finance: start.owner });
    await call(runWorkflow, { workflow_id: id, wait: 0, inputs: {} });
    const withRun = await bytesOf(instance);
    await call(moveWorkflow, { workflow_id: id, project: "default" });
    const end = await bytesOf(instance);
    // The run stays in the project.
    expect(end).toEqual({ ...withRun, finance: withRun.finance - start.owner, default: start.owner });
    expect(end.finance).toBeGreaterThan(0);
    expect(await storedBytesErrors(instance.store.read)).toEqual([]);
    await instance.store.transaction((trx) => recountStoredBytes(trx));
    expect(await bytesOf(instance)).toEqual(end);
  });

  it("publishes and moves a workflow with a signed webhook only where its secret is granted", async () => {
    const { call } = await open(
      { secrets: [{ name: "github-hook", key_var: "HOOK_SECRET", hosts: [] }] },
      { HOOK_SECRET: "ring-the-bell" },
    );
    const signature = { scheme: "github", secret: "github-hook" };
    const definition = {
      triggers: [{ id: "pushed", type: "webhook", signature }],
      steps: [{ id: "a", type: "set", values: { n: 1 } }],
    };
    const issue = { path: "triggers[0].signature.secret", code: "unknown_signature_secret" };
    const inSales = await call(createWorkflow, { name: "There", definition, project: "sales" });
    expect(inSales.issues).toEqual([expect.objectContaining(issue)]);
    await expect(call(publishWorkflow, { workflow_id: inSales.id })).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: { errors: [expect.objectContaining(issue)] },
    });
    const { id } = await call(createWorkflow, { name: "Here", definition });
    await call(publishWorkflow, { workflow_id: id });
    const [before] = (await call(getTriggers, { workflow_id: id })).items;
    await expect(call(moveWorkflow, { workflow_id: id, project: "finance" })).rejects.toMatchObject({
      code: "workflow_not_runnable",
      message: expect.stringContaining('can\'t run in the project "finance": triggers[0].signature.secret'),
      details: { errors: [expect.objectContaining(issue)] },
    });
    await call(addGrant, { project: "finance", kind: "secret", name: "github-hook" });
    expect((await call(moveWorkflow, { workflow_id: id, project: "finance" })).project).toBe("finance");
    // Senders keep the URL.
    expect((await call(getTriggers, { workflow_id: id })).items).toMatchObject([{ url: before!.url }]);
  });

  it("names the callers that would lose it, and moves it after them", async () => {
    const { call } = await open();
    const { id } = await call(createWorkflow, {
      name: "Base",
      definition: { steps: [{ id: "a", type: "set", values: { n: 1 } }] },
    });
    await call(publishWorkflow, { workflow_id: id });
    const calling = { steps: [{ id: "c", type: "workflow", workflow: id }] };
    const caller = await call(createWorkflow, { name: "Caller", definition: calling });
    await expect(call(moveWorkflow, { workflow_id: id, project: "finance" })).rejects.toMatchObject({
      code: "callers_would_break",
      message: expect.stringContaining(
        'Nothing was moved: moving "base" to the project "finance" would break a workflow that runs it: ' +
          'caller (steps[0].workflow runs "base", which would not be offered to its project)',
      ),
      details: {
        errors: [{ path: "break_callers", allowed: ["caller"] }, { path: "caller.steps[0].workflow" }],
      },
    });
    await call(publishWorkflow, { workflow_id: caller.id });
    await expect(call(moveWorkflow, { workflow_id: caller.id, project: "finance" })).rejects.toMatchObject({
      code: "workflow_not_runnable",
      details: { errors: [expect.objectContaining({ path: "steps[0].workflow" })] },
    });
    await call(moveWorkflow, { workflow_id: caller.id, project: "finance", force: true });
    expect((await call(moveWorkflow, { workflow_id: id, project: "finance" })).project).toBe("finance");
    expect((await call(runWorkflow, { workflow_id: caller.id, wait: 0 })).project).toBe("finance");
  });

  it("counts the callers that the admin can't see, which may break only by consent", async () => {
    const { instance, call } = await open();
    await instance.store.transaction((trx) => projectWriter(trx).update("finance", { review: true }));
    const { id } = await call(createWorkflow, {
      name: "Base",
      definition: { steps: [{ id: "a", type: "set", values: { n: 1 } }] },
    });
    await call(publishWorkflow, { workflow_id: id });
    await call(offerWorkflow, { workflow_id: id, projects: ["sales"] });
    const calling = { steps: [{ id: "c", type: "workflow", workflow: id }] };
    await call(createWorkflow, { name: "Report", project: "sales", definition: calling });
    await call(publishWorkflow, { workflow_id: "sales.report" });
    // As an admin of two projects who wrote what is published.
    const { principal } = await signedInUser(instance, { email: "ann@example.com", role: "member" });
    const scopes = new Set(Scope.options);
    const projects = new Map([
      ["default", scopes],
      ["finance", scopes],
    ]);
    const owner = "root@example.com";
    const admin = callAs(instance, {
      ...principal,
      owner,
      scopes,
      access: { everywhere: null, projects, keyLimits: null },
    });
    const refused = admin(moveWorkflow, { workflow_id: id, project: "finance", force: true });
    await expect(refused).rejects.toMatchObject({
      code: "callers_would_break",
      message: expect.stringContaining('1 in other projects ("*")'),
      details: { errors: [{ path: "break_callers", allowed: ["*"] }] },
    });
    const moved = await admin(moveWorkflow, { workflow_id: id, project: "finance", break_callers: ["*"] });
    expect(moved).toMatchObject({ status: "draft", unpublished: { version: 1 } });
  });

  it("needs an admin of both projects, and tells nothing of others", async () => {
    const { instance, call } = await open();
    const { url } = await instance.rest();
    const user = await addUser(instance, { email: "ann@example.com", role: "member" });
    const { cookie } = await signIn(instance, user);
    const request = (id: string, project: string) =>
      apiClient(url)(
        "POST",
        `/workflows/${id}/move`,
        { project },
        { Cookie: cookie, "Sec-Fetch-Site": "same-origin" },
      );
    await call(setProjectMember, { project: "finance", email: user.email, role: "admin" });
    await call(setProjectMember, { project: "sales", email: user.email, role: "editor" });
    for (const project of ["default", "finance", "sales"])
      await call(createWorkflow, { name: "Weekly", project });
    const codeOf = async (id: string, project: string) => (await request(id, project)).body.code as unknown;
    expect(await codeOf("finance.weekly", "sales")).toBe("missing_scope");
    expect(await codeOf("sales.weekly", "finance")).toBe("missing_scope");
    expect(await codeOf("finance.weekly", "default")).toBe("project_not_found");
    expect(await codeOf("weekly", "finance")).toBe("workflow_not_found");
    await call(setProjectMember, { project: "sales", email: user.email, role: "admin" });
    expect((await request("finance.weekly", "sales")).body).toMatchObject({
      id: "finance.weekly",
      project: "sales",
    });
  });
});
