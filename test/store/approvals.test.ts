import { describe, expect, it } from "vitest";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import type { ApprovalFilter } from "../../src/core/approval-ports.ts";
import type { ApprovalRecord, ListPosition, NewRun } from "../../src/core/model.ts";
import { testEngine } from "../support/engine.ts";
import { newRun } from "../support/run-records.ts";

const AT = "2026-11-21T08:00:00.000Z";

const approval = (id: string, fields: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  id,
  project: "default",
  runId: "run_1",
  workflowId: "weekly",
  stepId: "ask",
  item: null,
  status: "pending",
  message: "Send it?",
  form: null,
  assignees: ["ann@example.com"],
  createdAt: AT,
  expiresAt: null,
  decidedAt: null,
  decidedBy: null,
  comment: null,
  answer: null,
  plan: null,
  rules: FIRST_DECIDES,
  decisions: [],
  events: [],
  evidence: null,
  delivery: { byLink: false, chat: [] },
  decidedVia: null,
  ...fields,
});

type Engine = Awaited<ReturnType<typeof testEngine>>;

/** A store with these runs and approvals. */
async function filled(runs: readonly NewRun[], approvals: readonly ApprovalRecord[]): Promise<Engine> {
  const engine = await testEngine();
  for (const name of ["Weekly", "Daily"]) await engine.create({ name });
  await engine.transaction(async (tx) => {
    for (const run of runs) await tx.runs.insert(run);
    for (const { project: _, ...one } of approvals) await tx.approvals.insert(one);
  });
  return engine;
}

const decision = { decidedAt: AT, decidedBy: "ann", comment: null, answer: null } as const;

describe("an approval", () => {
  it("is stored and found whole, by its id and by its step", async () => {
    const full = approval("apr_1", {
      item: 3,
      form: { type: "object" },
      expiresAt: "2026-11-22T08:00:00.000Z",
      plan: ["a", "b"],
      project: "sales",
    });
    const { read } = await filled([newRun("run_1", { project: "sales" })], [full, approval("apr_2")]);
    expect(await read.approvals.find("apr_1")).toEqual(full);
    expect(await read.approvals.findByStep({ runId: "run_1", stepId: "ask", item: 3 })).toEqual(full);
    expect(await read.approvals.findByStep({ runId: "run_1", stepId: "ask", item: null })).toMatchObject({
      id: "apr_2",
      form: null,
      plan: null,
      answer: null,
    });
    for (const ref of [
      { runId: "run_1", stepId: "ask", item: 4 },
      { runId: "run_1", stepId: "other", item: null },
      { runId: "run_2", stepId: "ask", item: null },
    ])
      expect(await read.approvals.findByStep(ref)).toBeUndefined();
    expect(await read.approvals.find("apr_9")).toBeUndefined();
  });

  it("is decided once, and keeps its plan unless the decision has another one", async () => {
    const { read, transaction } = await filled(
      [newRun("run_1")],
      [approval("apr_1", { plan: ["a"] }), approval("apr_2", { item: 1, plan: ["a"] })],
    );
    const answer = { amount: 7 };
    const decide = (id: string, more: object = {}) =>
      transaction((tx) => tx.approvals.decide(id, { status: "approved", ...decision, ...more }));
    expect(await decide("apr_1", { comment: "Fine.", answer })).toBe(true);
    expect(await decide("apr_1", { status: "declined" })).toBe(false);
    expect(await read.approvals.find("apr_1")).toMatchObject({
      status: "approved",
      decidedAt: AT,
      decidedBy: "ann",
      comment: "Fine.",
      answer: { amount: 7 },
      plan: ["a"],
    });
    expect(await decide("apr_2", { plan: ["b"] })).toBe(true);
    expect(await read.approvals.find("apr_2")).toMatchObject({ plan: ["b"], answer: null });
    expect(await decide("apr_9")).toBe(false);
  });

  it("is cancelled with its run while it is pending, and no other one is", async () => {
    const { read, transaction } = await filled(
      [newRun("run_1"), newRun("run_2")],
      [
        approval("apr_1"),
        approval("apr_2", { item: 1, status: "approved" }),
        approval("apr_3", { runId: "run_2" }),
      ],
    );
    await transaction((tx) => tx.approvals.cancelForRun("run_1", "2026-11-21T09:00:00.000Z"));
    const statuses = await Promise.all(
      ["apr_1", "apr_2", "apr_3"].map(async (id) => {
        const { status, decidedAt } = (await read.approvals.find(id))!;
        return [status, decidedAt];
      }),
    );
    expect(statuses).toEqual([
      ["cancelled", "2026-11-21T09:00:00.000Z"],
      ["approved", null],
      ["pending", null],
    ]);
  });

  it("counts for the bytes of its run", async () => {
    const { read, transaction } = await filled([newRun("run_1")], []);
    const before = (await read.runs.find("run_1"))!.storedBytes;
    const form = { type: "object" };
    const { project: _, ...inserted } = approval("apr_1", { message: "m".repeat(100), form });
    await transaction((tx) => tx.approvals.insert(inserted));
    expect((await read.runs.find("run_1"))!.storedBytes - before).toBe(100 + JSON.stringify(form).length);
  });
});

const at = (minute: number): string => `2026-11-21T08:0${minute}:00.000Z`;

describe("the list of approvals", () => {
  it("is filtered by status, run, project and what a caller can find, as is their number; newest first, in pages", async () => {
    const { read } = await filled(
      [
        newRun("run_1"),
        newRun("run_2", { workflowId: "daily" }),
        newRun("run_3", { workflowId: "daily", project: "sales" }),
      ],
      [
        approval("apr_1", { createdAt: at(1) }),
        approval("apr_2", { createdAt: at(2), runId: "run_2", status: "approved" }),
        approval("apr_3", { createdAt: at(2), runId: "run_3" }),
        approval("apr_4", { createdAt: at(3), item: 1 }),
      ],
    );
    const page = async (filter: ApprovalFilter, limit = 10, after: ListPosition | null = null) => {
      const { items, next } = await read.approvals.page({ filter, after, limit });
      return { ids: items.map(({ id }) => id), next };
    };
    const cases: [ApprovalFilter, string[]][] = [
      [{}, ["apr_4", "apr_3", "apr_2", "apr_1"]],
      [{ status: "pending" }, ["apr_4", "apr_3", "apr_1"]],
      [{ runId: "run_1" }, ["apr_4", "apr_1"]],
      [{ project: "sales" }, ["apr_3"]],
      [{ visibility: { projects: ["default"], workflows: null } }, ["apr_4", "apr_2", "apr_1"]],
      [{ visibility: { projects: null, workflows: ["daily"] } }, ["apr_3", "apr_2"]],
      [{ project: "default", visibility: { projects: null, workflows: ["daily"] } }, ["apr_2"]],
      [{ visibility: null }, ["apr_4", "apr_3", "apr_2", "apr_1"]],
      [{ visibility: { projects: [], workflows: null } }, []],
    ];
    for (const [filter, ids] of cases) {
      expect([filter, await page(filter)]).toEqual([filter, { ids, next: null }]);
      expect([filter, await read.approvals.count(filter)]).toEqual([filter, ids.length]);
    }
    const first = await page({}, 2);
    expect(first).toEqual({ ids: ["apr_4", "apr_3"], next: [at(2), "apr_3"] });
    expect(await page({}, 2, first.next)).toEqual({ ids: ["apr_2", "apr_1"], next: null });
    expect(await page({}, 4)).toMatchObject({ next: null });
  });
});

const child = (id: string, item: number | null, depth = 1, runId = "run_1") =>
  newRun(id, { parent: { runId, stepId: runId === "run_1" ? "call" : "deeper", item }, depth });

const decided = (id: string, runId: string, fields: Partial<ApprovalRecord> = {}) =>
  approval(id, { runId, status: "approved", plan: [id], ...fields });

describe("the decisions that an output rests on", () => {
  it("are those of its step, or of one item of it, and of all runs below", async () => {
    const { read } = await filled(
      [newRun("run_1"), child("run_2", 0), child("run_3", 1), child("run_4", null, 2, "run_3")],
      [
        decided("apr_1", "run_1", { stepId: "call" }),
        decided("apr_2", "run_2"),
        decided("apr_3", "run_3", { status: "declined" }),
        decided("apr_4", "run_4", { plan: null }),
        decided("apr_5", "run_4", { item: 1, status: "pending" }),
        decided("apr_6", "run_1", { stepId: "other" }),
        decided("apr_7", "run_1", { stepId: "call", item: 1, status: "cancelled" }),
      ],
    );
    const decisions = async (item?: number | null) =>
      (
        await read.approvals.decisionsOf({
          runId: "run_1",
          stepId: "call",
          ...(item !== undefined && { item }),
        })
      )
        .map(({ plan, depth }) => `${depth} ${plan?.join() ?? "-"}`)
        .toSorted();
    expect(await decisions()).toEqual(["0 apr_1", "1 apr_2", "1 apr_3", "2 -"]);
    expect(await decisions(0)).toEqual(["1 apr_2"]);
    expect(await decisions(1)).toEqual(["1 apr_3", "2 -"]);
    expect(await decisions(null)).toEqual(["0 apr_1"]);
  });
});
