/** Workflows that one project offers to others: called by their contract, without showing what they do. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { projectWriter } from "../../src/store/projects.ts";
import { getApproval } from "../../tools/approvals/get-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { listRuns } from "../../tools/runs/list-runs.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import type { AppError } from "../../src/core/errors.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { readExposure } from "../../tools/workflows/exposure.ts";
import { getExposure } from "../../tools/workflows/get-exposure.ts";
import { getOffer } from "../../tools/workflows/get-offer.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { listOfferedWorkflows } from "../../tools/workflows/list-offered-workflows.ts";
import { offerWorkflow } from "../../tools/workflows/offer-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { validateWorkflow } from "../../tools/workflows/validate-workflow.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { addProject, memberOf } from "../support/projects.ts";
import { callAs } from "../support/users.ts";

const REVENUE = {
  inputs: { type: "object", properties: { region: { type: "string" } }, required: ["region"] },
  steps: [{ id: "inside", type: "set", values: { total: "${{ size(inputs.region) }}" } }],
  output: { total: "${{ steps.inside.total }}" },
  output_schema: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
};
const CALLER = {
  steps: [{ id: "revenue", type: "workflow", workflow: "finance.revenue", inputs: { region: "north" } }],
  output: { total: "${{ steps.revenue.output.total }}" },
};

/** A project `finance` with the published workflow `finance.revenue`, and a project `sales` that would call it. */
async function world({
  definition = REVENUE,
  offered = true,
  config = {},
}: { definition?: Readonly<Record<string, unknown>>; offered?: boolean; config?: object } = {}) {
  const instance = await testInstance({ config });
  for (const id of ["finance", "sales", "legal"]) await addProject(instance, id);
  const finance = callAs(instance, memberOf(["finance"]));
  const sales = callAs(instance, memberOf(["sales"]));
  const adminOf = (project: string) =>
    callAs(instance, memberOf([project], { scopes: Scope.options, owner: `admin.${project}@example.com` }));
  const legal = callAs(instance, memberOf(["legal"]));
  await finance(createWorkflow, { name: "Revenue", description: "Of a region.", definition });
  await finance(publishWorkflow, { workflow_id: "finance.revenue" });
  if (offered)
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.revenue", projects: ["sales"] });
  return { instance, finance, sales, legal, adminOf };
}

function emptyDatabase(): string {
  const path = join(temporaryDirectory(), "vault.db");
  new DatabaseSync(path).close();
  return path;
}

type Caller = ReturnType<typeof callAs>;

const errorsOf = async (
  call: ReturnType<typeof callAs>,
  definition: Record<string, unknown>,
): Promise<{ path: string; code: string; message: string }[]> =>
  (await call(validateWorkflow, { definition })).errors;

describe("offer_workflow", () => {
  it("needs the scope admin, as allow_exposure does, also to take an offer back", async () => {
    const { finance, adminOf } = await world();
    const workflow_id = "finance.revenue";
    for (const projects of [["*"], []])
      await expect(finance(offerWorkflow, { workflow_id, projects })).rejects.toMatchObject({
        code: "missing_scope",
      });
    expect(await finance(getOffer, { workflow_id })).toMatchObject({ projects: ["sales"] });
    await adminOf("finance")(offerWorkflow, { workflow_id, projects: [] });
    expect(await finance(getOffer, { workflow_id })).toMatchObject({ projects: [] });
  });
});

describe("an offered workflow", () => {
  it("has the id of its project before its own, and the same name may be used in every project", async () => {
    const { sales } = await world();
    expect(await sales(createWorkflow, { name: "Revenue" })).toMatchObject({
      id: "sales.revenue",
      project: "sales",
    });
  });

  it("is called by the contract, and shows neither its steps nor its run", async () => {
    const { instance, finance, sales } = await world();
    expect(await errorsOf(sales, CALLER)).toEqual([]);
    await expect(sales(getWorkflow, { workflow_id: "finance.revenue" })).rejects.toMatchObject({
      code: "workflow_not_found",
    });
    await sales(createWorkflow, { name: "Report", definition: CALLER });
    await instance.executor();
    const run = await sales(runWorkflow, { workflow_id: "sales.report", wait: 20 });
    expect(run).toMatchObject({ status: "succeeded", output: { total: 5 } });
    const shown = await sales(getRun, { run_id: run.id, detail: "full" });
    expect(shown.steps![0]).not.toHaveProperty("child_run");
    const { run_id: child } = (await instance.read.runs.output({
      runId: run.id,
      stepId: "revenue",
      item: null,
    })) as {
      run_id: string;
    };
    expect(await instance.read.runs.find(child)).toMatchObject({ project: "finance" });
    await expect(sales(getRun, { run_id: child })).rejects.toMatchObject({ code: "run_not_found" });
    expect(await finance(getRun, { run_id: child })).toMatchObject({ status: "succeeded" });
  });

  it("does not exist for a project that it is not offered to, nor for one before the offer or after it", async () => {
    const { sales, legal, adminOf } = await world({ offered: false });
    const unknown = [
      expect.objectContaining({ path: "steps[0].workflow", code: "unknown_workflow" }) as unknown,
    ];
    const missing = { ...CALLER, steps: [{ ...CALLER.steps[0], workflow: "finance.missing" }], output: {} };
    const [before] = await errorsOf(sales, { ...CALLER, output: {} });
    expect([before]).toEqual(unknown);
    const [never] = await errorsOf(sales, missing);
    expect(before!.message.replaceAll("finance.revenue", "x")).toBe(
      never!.message.replaceAll("finance.missing", "x"),
    );
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.revenue", projects: ["sales"] });
    expect(await errorsOf(sales, CALLER)).toEqual([]);
    expect(await errorsOf(legal, { ...CALLER, output: {} })).toEqual(unknown);
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.revenue", projects: ["*"] });
    expect(await errorsOf(legal, CALLER)).toEqual([]);
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.revenue", projects: [] });
    expect(await errorsOf(sales, { ...CALLER, output: {} })).toEqual(unknown);
  });

  it("is not called any more once the offer is taken back, even by a run that has started", async () => {
    const definition = {
      ...CALLER,
      steps: [{ id: "pause", type: "wait", for: "1s" }, CALLER.steps[0]!],
    };
    const { instance, sales, adminOf } = await world();
    await sales(createWorkflow, { name: "Report", definition });
    const { id } = await sales(runWorkflow, { workflow_id: "sales.report" });
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.revenue", projects: [] });
    await instance.executor();
    await expect
      .poll(async () => sales(getRun, { run_id: id }))
      .toMatchObject({ status: "failed", error: { code: "child_failed" } });
  });

  it("tells its callers that it failed, and not why", async () => {
    const { instance, finance, sales } = await world({
      definition: {
        steps: [{ id: "secret_step", type: "assert", that: "1 == 2", message: "the inside" }],
      },
    });
    await sales(createWorkflow, {
      name: "Report",
      definition: { steps: [{ id: "call", type: "workflow", workflow: "finance.revenue" }] },
    });
    await instance.executor();
    const run = await sales(runWorkflow, { workflow_id: "sales.report", wait: 20 });
    expect(run.status).toBe("failed");
    const text = JSON.stringify(await sales(getRun, { run_id: run.id, detail: "full" }));
    expect(text).not.toMatch(/the inside|secret_step/);
    expect(text).toContain('belongs to the project \\"finance\\"');
    expect(JSON.stringify(await finance(listApprovals))).toContain("items");
  });

  it("is called in a published version only, whatever a check has found before", async () => {
    const { instance, finance, sales } = await world();
    await sales(createWorkflow, { name: "Report", definition: CALLER });
    await instance.executor();
    const run = () => sales(runWorkflow, { workflow_id: "sales.report", wait: 20 });
    expect(await run()).toMatchObject({ status: "succeeded", output: { total: 5 } });
    const draft = { ...REVENUE, output: { total: 42 } };
    await finance(updateWorkflow, { workflow_id: "finance.revenue", definition: draft });
    await finance(unpublishWorkflow, { workflow_id: "finance.revenue" });
    expect(await run()).toMatchObject({ status: "failed", error: { code: "child_failed" } });
    await finance(publishWorkflow, { workflow_id: "finance.revenue", version: 1 });
    expect(await run()).toMatchObject({ status: "succeeded", output: { total: 5 } });
  });

  it.each([
    ["runs of an hour", { runs_per_hour: 1 }],
    ["unfinished runs", { unfinished_runs: 1 }],
    ["stored bytes", { stored_bytes: 1 }],
  ])("tells its callers that its project has reached a limit, and not which: %s", async (_what, limits) => {
    const { instance, finance, sales } = await world({
      definition: { steps: [{ id: "inside", type: "set", values: { total: 1 } }] },
    });
    await finance(createWorkflow, {
      name: "Waits",
      definition: { steps: [{ id: "pause", type: "wait", for: "30d" }] },
    });
    const call = { id: "call", type: "workflow", workflow: "finance.revenue" };
    const fails = { id: "never", type: "assert", that: "1 == 2", message: "No." };
    await sales(createWorkflow, { name: "Step", definition: { steps: [call] } });
    await sales(createWorkflow, {
      name: "Handler",
      definition: { steps: [fails], on_failure: "finance.revenue" },
    });
    await instance.store.transaction((trx) => projectWriter(trx).update("finance", { limits }));
    // The only run that each of the limits lets start.
    if (!("stored_bytes" in limits)) await finance(runWorkflow, { workflow_id: "finance.waits", wait: 0 });
    await instance.executor();
    const called = await sales(runWorkflow, { workflow_id: "sales.step", wait: 20 });
    const hidden = '"finance.revenue" can\'t run now: its project "finance" has reached a limit.';
    expect(called).toMatchObject({ status: "failed", error: { code: "limit_reached" } });
    expect(called.error!.message).toContain(hidden);
    const { id } = await sales(runWorkflow, { workflow_id: "sales.handler", wait: 20 });
    const handled = await eventually(async () => {
      const run = await sales(getRun, { run_id: id });
      return run.on_failure?.error ? run : undefined;
    }, "the refusal of on_failure");
    expect(handled.on_failure!.error).toMatchObject({
      code: "too_many_runs",
      message: expect.stringContaining(hidden) as unknown,
    });
    const answers = JSON.stringify([
      called,
      handled,
      await sales(getRun, { run_id: called.id, detail: "full" }),
    ]);
    expect(answers).not.toMatch(
      /runs_per_hour|unfinished_runs|stored_bytes|maximum|has used|runs of|storage/,
    );
    // Its own project learns which limit it is.
    await expect(finance(runWorkflow, { workflow_id: "finance.revenue" })).rejects.toMatchObject({
      message: expect.stringContaining(`${Object.keys(limits)[0]} of the project`) as unknown,
    });
  });

  it("tells its callers that it can't run, and not why", async () => {
    const config = { databases: [{ name: "vault", type: "sqlite", dataset: emptyDatabase() }] };
    const { instance, finance, sales } = await world({
      definition: { steps: [{ id: "rows", type: "sql", database: "vault", query: "SELECT 1 AS n" }] },
      config,
    });
    const call = { id: "call", type: "workflow", workflow: "finance.revenue" };
    const fails = { id: "never", type: "assert", that: "1 == 2", message: "No." };
    await sales(createWorkflow, { name: "Step", definition: { steps: [call] } });
    await sales(createWorkflow, {
      name: "Handler",
      definition: { steps: [fails], on_failure: "finance.revenue" },
    });
    await instance.store.transaction((trx) =>
      projectWriter(trx).update("finance", { connections: "granted" }),
    );
    await instance.executor({ config });
    const handled = await sales(runWorkflow, { workflow_id: "sales.handler", wait: 20 });
    const called = await sales(runWorkflow, { workflow_id: "sales.step", wait: 20 });
    expect(called.error!.message).toContain('can\'t run now. It belongs to the project "finance"');
    await expect
      .poll(async () => (await sales(getRun, { run_id: handled.id })).on_failure?.error)
      .toMatchObject({ code: "workflow_not_runnable" });
    const answers = [called, await sales(getRun, { run_id: handled.id })];
    expect(JSON.stringify(answers)).not.toMatch(/vault|steps\[0\]/);
    await expect(finance(runWorkflow, { workflow_id: "finance.revenue" })).rejects.toMatchObject({
      code: "workflow_not_runnable",
    });
  });

  it("shows its approvals to its own project only, and the plan of a caller's approval without its steps", async () => {
    const asking = {
      ...REVENUE,
      steps: [{ id: "ask", type: "approval", message: "Go on?" }, ...REVENUE.steps],
    };
    const { instance, finance, sales } = await world({ definition: asking });
    await sales(createWorkflow, {
      name: "Report",
      definition: {
        steps: [{ id: "sure", type: "approval", message: "Sure?" }, CALLER.steps[0]!],
      },
    });
    await instance.executor();
    const { id } = await sales(runWorkflow, { workflow_id: "sales.report", wait: 20 });
    const decider = callAs(instance, memberOf(["sales"], { owner: "decider@example.com" }));
    const own = await decider(listApprovals, { status: "pending" });
    expect(own.items.map(({ step_id: step }) => step)).toEqual(["sure"]);
    const { plan } = await decider(getApproval, { approval_id: own.items[0]!.id });
    expect(plan!.workflows).toContainEqual(
      expect.objectContaining({ workflow_id: "finance.revenue", role: "called", foreign: true, steps: [] }),
    );
    await decider(decideApproval, { approval_id: own.items[0]!.id, decision: "approve" });
    await expect.poll(async () => (await finance(listApprovals, { status: "pending" })).items.length).toBe(1);
    expect((await decider(listApprovals, { status: "pending" })).items).toEqual([]);
    const [asked] = (await finance(listApprovals, { status: "pending" })).items;
    const shown = await finance(getApproval, { approval_id: asked!.id });
    expect(shown.plan!.workflows.find(({ role }) => role === "parent")).toMatchObject({
      foreign: true,
      steps: [],
    });
    await expect(decider(getApproval, { approval_id: asked!.id })).rejects.toMatchObject({
      code: "approval_not_found",
    });
    expect(await sales(getRun, { run_id: id })).toMatchObject({ status: "running" });
  });

  it("hides in the plans of its approvals who calls it, but for the id of that run, unless one can see the caller", async () => {
    const ask = { id: "ask", type: "approval", message: "Go on?" };
    const { instance, finance, sales } = await world({
      definition: { ...REVENUE, steps: [ask, ...REVENUE.steps] },
    });
    await sales(createWorkflow, { name: "Report", definition: CALLER });
    const call = { id: "call", type: "workflow", workflow: "sales.report" };
    await sales(createWorkflow, { name: "Top", definition: { steps: [call] } });
    const { queue } = await instance.executor();
    const { id: top } = await sales(runWorkflow, { workflow_id: "sales.top", wait: 0 });
    queue.wake();
    await queue.waitUntilIdle();
    const [asked] = (await finance(listApprovals)).items;
    const parentsFor = async (caller: Caller) =>
      (await caller(getApproval, { approval_id: asked!.id })).plan!.workflows.filter(
        ({ role }) => role === "parent",
      );
    const called = (await sales(listRuns)).items.find(({ id }) => id !== top)!;
    const hidden = {
      workflow_id: null,
      version: null,
      role: "parent",
      run_id: called.id,
      foreign: true,
      steps: [],
    };
    expect(await parentsFor(finance)).toEqual([hidden]);
    const both = callAs(instance, memberOf(["finance", "sales"]));
    expect(await parentsFor(both)).toMatchObject([
      { workflow_id: "sales.report", version: 1, run_id: called.id, foreign: true, steps: [] },
      { workflow_id: "sales.top", version: 1, run_id: top, foreign: true, steps: [] },
    ]);
    const digests = await Promise.all(
      [finance, both].map(
        async (caller) => (await caller(getApproval, { approval_id: asked!.id })).plan!.digest,
      ),
    );
    expect(new Set(digests).size).toBe(1);
    const decider = callAs(instance, memberOf(["finance"], { owner: "decider@example.com" }));
    const decided = { approval_id: asked!.id, decision: "approve", plan_digest: digests[0]! };
    expect(await decider(decideApproval, decided)).toMatchObject({ status: "approved" });
  });

  it("shows in plans neither what it calls itself, nor what a caller of another project calls besides", async () => {
    const nested = { steps: [{ id: "inside", type: "workflow", workflow: "finance.ledger" }] };
    const { instance, finance, sales, adminOf } = await world({ offered: false });
    await finance(createWorkflow, {
      name: "Ledger",
      definition: { steps: [{ id: "one", type: "set", values: { x: 1 } }] },
    });
    await finance(publishWorkflow, { workflow_id: "finance.ledger" });
    await finance(createWorkflow, { name: "Close", definition: nested });
    await finance(publishWorkflow, { workflow_id: "finance.close" });
    await adminOf("finance")(offerWorkflow, { workflow_id: "finance.close", projects: ["sales"] });
    const ask = { id: "ask", type: "approval", message: "Sure?" };
    await sales(createWorkflow, {
      name: "Ask",
      definition: { steps: [ask, { id: "close", type: "workflow", workflow: "finance.close" }] },
    });
    await sales(publishWorkflow, { workflow_id: "sales.ask" });
    await adminOf("sales")(offerWorkflow, { workflow_id: "sales.ask", projects: ["finance"] });
    await finance(createWorkflow, {
      name: "Month",
      definition: {
        steps: [
          { id: "ask", type: "workflow", workflow: "sales.ask" },
          { id: "book", type: "workflow", workflow: "finance.ledger", needs: ["ask"] },
        ],
      },
    });
    await instance.executor();
    await sales(runWorkflow, { workflow_id: "sales.ask", wait: 0 });
    await finance(runWorkflow, { workflow_id: "finance.month", wait: 0 });
    await expect.poll(async () => (await sales(listApprovals, {})).items.length).toBe(2);
    for (const { id } of (await sales(listApprovals, {})).items) {
      const { plan } = await sales(getApproval, { approval_id: id });
      expect(JSON.stringify(plan)).not.toContain("ledger");
      expect(plan!.workflows.map(({ workflow_id: called }) => called)).toContain("finance.close");
    }
    await instance.store.transaction((trx) => projectWriter(trx).update("sales", { review: true }));
    await sales(updateWorkflow, {
      workflow_id: "sales.ask",
      definition: { steps: [{ id: "close", type: "workflow", workflow: "finance.close" }] },
    });
    const { review } = await sales(publishWorkflow, { workflow_id: "sales.ask" });
    const shown = await sales(getReview, { review_id: review!.id });
    expect(JSON.stringify(shown.plan)).toContain("finance.close");
    expect(JSON.stringify(shown)).not.toContain("ledger");
  });

  it("is checked against callers that its publisher can't see", async () => {
    const { finance, sales } = await world();
    await sales(createWorkflow, { name: "Report", definition: CALLER });
    await sales(publishWorkflow, { workflow_id: "sales.report" });
    await finance(updateWorkflow, {
      workflow_id: "finance.revenue",
      definition: { ...REVENUE, output_schema: { type: "object", properties: {} }, output: {} },
    });
    const refused = finance(publishWorkflow, { workflow_id: "finance.revenue" });
    await expect(refused).rejects.toMatchObject({ code: "callers_would_break" });
    const error = await refused.catch(({ message, details }: Error & { details: unknown }) => ({
      message,
      details,
    }));
    expect(JSON.stringify(error)).toContain("1 in other projects");
    expect(JSON.stringify(error)).not.toContain("sales");
    await finance(publishWorkflow, { workflow_id: "finance.revenue", break_callers: ["*"] });
  });

  it("is taken away from published callers of other projects only if they may break", async () => {
    const { instance, sales, adminOf } = await world();
    const finance = adminOf("finance");
    await sales(createWorkflow, { name: "Report", definition: CALLER });
    await sales(publishWorkflow, { workflow_id: "sales.report" });
    const both = callAs(instance, memberOf(["finance", "sales"], { scopes: Scope.options }));
    const workflow_id = "finance.revenue";
    const taken: [string, (by: Caller) => Promise<unknown>][] = [
      ["workflow_archived", (by) => by(archiveWorkflow, { workflow_id })],
      ["not_published", (by) => by(unpublishWorkflow, { workflow_id })],
      ["not_offered", (by) => by(offerWorkflow, { workflow_id, projects: ["legal"] })],
    ];
    for (const [code, take] of taken) {
      const hidden = await take(finance).then(
        () => undefined,
        (error: unknown) => error as AppError,
      );
      expect(hidden).toMatchObject({
        code: "callers_would_break",
        details: { errors: [{ path: "break_callers", allowed: ["*"] }] },
      });
      expect(hidden!.message).toContain('1 in other projects ("*")');
      expect(JSON.stringify([hidden!.message, hidden!.details])).not.toContain("sales");
      await expect(take(both)).rejects.toMatchObject({
        code: "callers_would_break",
        details: {
          errors: [{ allowed: ["sales.report"] }, { path: "sales.report.steps[0].workflow", code }],
        },
      });
    }
    expect(await finance(getWorkflow, { workflow_id })).toMatchObject({ status: "published" });
    expect(await finance(getOffer, { workflow_id })).toMatchObject({ projects: ["sales"] });
    expect(await finance(offerWorkflow, { workflow_id, projects: ["legal", "sales"] })).toMatchObject({
      projects: ["legal", "sales"],
    });
    await finance(offerWorkflow, { workflow_id, projects: [], break_callers: ["*"] });
    // They are broken already.
    expect(await finance(archiveWorkflow, { workflow_id })).toMatchObject({ status: "archived" });
  });

  it("is named in the consent to a tool that calls it, not shown, and the consent holds for agents", async () => {
    const { instance, sales } = await world({
      definition: { steps: [{ id: "rows", type: "sql", database: "scratch", query: "SELECT 1 AS total" }] },
    });
    const definition = {
      steps: [{ id: "call", type: "workflow", workflow: "finance.revenue" }],
      expose_as_tool: true,
    };
    await sales(createWorkflow, { name: "Report", definition });
    const admin = callAs(instance, memberOf(["sales"], { scopes: Scope.options }));
    expect(await admin(publishWorkflow, { workflow_id: "sales.report" })).toMatchObject({
      exposure: { state: "allowed" },
    });
    expect(await sales(getExposure, { workflow_id: "sales.report" })).toMatchObject({
      state: "allowed",
      effects: ["workflow finance.revenue of another project"],
    });
    // What everybody can see of it is what agents get.
    expect(await readExposure(instance.read.workflows, "sales.report")).toMatchObject({ state: "allowed" });
  });

  it("is listed for the projects that may call it, by its contract", async () => {
    const { finance, sales, legal, adminOf } = await world();
    expect(await sales(listOfferedWorkflows)).toEqual({
      items: [
        {
          id: "finance.revenue",
          name: "Revenue",
          description: "Of a region.",
          version: 1,
          inputs: REVENUE.inputs,
          output_schema: REVENUE.output_schema,
        },
      ],
      total: 1,
      next_cursor: null,
    });
    expect(await legal(listOfferedWorkflows)).toMatchObject({ items: [], total: 0 });
    expect(await finance(getOffer, { workflow_id: "finance.revenue" })).toEqual({
      workflow_id: "finance.revenue",
      projects: ["sales"],
      unseen: ["sales"],
    });
    await expect(sales(getOffer, { workflow_id: "finance.revenue" })).rejects.toMatchObject({
      code: "workflow_not_found",
    });
    await expect(
      adminOf("sales")(offerWorkflow, { workflow_id: "finance.revenue", projects: ["*"] }),
    ).rejects.toMatchObject({
      code: "workflow_not_found",
    });
  });
});
