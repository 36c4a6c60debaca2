import { describe, expect, it } from "vitest";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import { iso } from "../../src/core/clock.ts";
import { insertWorkflow, testStore } from "../support/store.ts";
import { runToEnd, testEngine } from "../support/engine.ts";

describe("the project of an audit entry", () => {
  it("is that of the workflow, run, approval or review, else the default one", async () => {
    const engine = await testEngine();
    const { store, write } = engine;
    const { id: run, queue } = await runToEnd(engine, {
      steps: [{ id: "said", type: "set", values: { a: 1 } }],
    });
    await queue.stop(0);
    await write(async (tx) => {
      await tx.approvals.insert({
        id: "apr_1",
        runId: run,
        workflowId: "test",
        stepId: "said",
        item: null,
        status: "approved",
        message: "Continue?",
        form: null,
        assignees: [],
        createdAt: iso(0),
        expiresAt: null,
        decidedAt: null,
        decidedBy: null,
        comment: null,
        answer: null,
        plan: null,
        rules: FIRST_DECIDES,
        evidence: null,
        delivery: { byLink: false, chat: [] },
        decidedVia: null,
      });
    });
    await store.transaction(async (trx) => {
      await trx.updateTable("workflows").set({ project: "sales" }).where("id", "=", "test").execute();
      // A workflow that was moved since: its earlier runs stay where they ran.
      await trx.updateTable("runs").set({ project: "finance" }).where("id", "=", run).execute();
      await trx
        .insertInto("reviews")
        .values({
          id: "rev_1",
          project: "legal",
          workflow_id: "test",
          version: 1,
          digest: "d",
          status: "pending",
          plan: "[]",
          requested_at: iso(0),
          requested_by: "ann@example.com",
          key_name: "ci",
          lineage: "key_1",
          subject: "ann@example.com",
        })
        .execute();
    });
    const targets = ["test", run, "apr_1", "rev_1", "key_1", "ann@example.com", "unknown"];
    await write(async (tx) => {
      for (const target of targets) await tx.recordAudit(target);
      await tx.recordAudit("test", "moved", { project: "default" });
    });
    const entries = await store.read
      .selectFrom("audit_log")
      .select(["target", "project"])
      .orderBy("id", "desc")
      .limit(8)
      .execute();
    expect(entries.toReversed().map(({ target, project }) => `${target}: ${project}`)).toEqual([
      "test: sales",
      `${run}: finance`,
      "apr_1: finance",
      "rev_1: legal",
      "key_1: default",
      "ann@example.com: default",
      "unknown: default",
      "test: default",
    ]);
  });

  it("is that of a workflow which the same transaction makes", async () => {
    const { store, write } = await testStore();
    await write((tx) => insertWorkflow(tx));
    expect(await store.read.selectFrom("audit_log").select("project").execute()).toEqual([
      { project: "default" },
    ]);
  });
});
