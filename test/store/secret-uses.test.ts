import { describe, expect, it } from "vitest";
import { auditReader } from "../../src/store/audit.ts";
import { verifyAuditLog } from "../../src/store/verify-audit-chain.ts";
import { runToEnd, testEngine } from "../support/engine.ts";

describe("the use of secrets", () => {
  it("is recorded for the run and its starter, with step, attempt, secret and host", async () => {
    const engine = await testEngine();
    const { id: runId, queue } = await runToEnd(engine, {
      steps: [{ id: "said", type: "set", values: { a: 1 } }],
    });
    await queue.stop(0);
    const { store, write } = engine;
    await store.transaction((trx) =>
      trx.updateTable("runs").set({ project: "finance" }).where("id", "=", runId).execute(),
    );
    const audit = auditReader(store.read);
    const before = await audit.count({});
    await write(async (tx) => {
      await tx.secretUses.record({ runId, stepId: "said", item: 2, attempt: 3 }, [
        { secret: "team_hook", host: "hooks.example.com" },
        { secret: "shop_key", host: "shop.example.com:8443" },
      ]);
      await tx.secretUses.record({ runId, stepId: "said", item: null, attempt: 1 }, []);
    });
    expect(await audit.count({})).toBe(before + 2);
    const [second, first] = await audit.page({ filter: { operation: "use_secret" }, before: null, limit: 9 });
    const run = (await engine.read.runs.find(runId))!;
    expect(first).toMatchObject({
      target: "secret:team_hook",
      project: "finance",
      ...run.actor,
      requestId: null,
      details: { host: "hooks.example.com", run_id: runId, step_id: "said", item: 2, attempt: 3 },
    });
    expect(second).toMatchObject({
      target: "secret:shop_key",
      details: { host: "shop.example.com:8443" },
    });
    expect(await verifyAuditLog(store.read)).toMatchObject({ broken: undefined });
  });
});
