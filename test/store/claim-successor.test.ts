import { CompiledQuery } from "kysely";
import { expect, it, vi } from "vitest";
import { claimSuccessor } from "../../src/store/claim-jobs.ts";
import { testStore } from "../support/store.ts";

it("searches the jobs of the run only, however many others are ready", async () => {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    const queries = vi.spyOn(trx, "executeQuery");
    await claimSuccessor(trx, "exe_1", { runId: "run_1", priority: 0 });
    const { sql, parameters } = queries.mock.calls[0]![0] as CompiledQuery;
    const plan = await trx.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    );
    expect(plan.rows.map(({ detail }) => detail)).toContain("SEARCH jobs USING INDEX jobs_by_run (run_id=?)");
  });
});
