import { describe, expect, it } from "vitest";
import { DAY, iso } from "../../src/core/clock.ts";
import { storedBytes, storedBytesErrors } from "../../src/store/stored-bytes.ts";
import { newBacktest } from "../support/backtest-records.ts";
import { newBulkAction } from "../support/bulk-action-records.ts";
import { TEST_ACTOR, testEngine, type TestEngine } from "../support/engine.ts";

const definition = (text: string) => ({ steps: [{ id: "a", type: "set", values: { text } }] });

/** A workflow with ten versions of different definitions, which are 60 days old. */
async function open() {
  const engine = await testEngine();
  const id = await engine.define(definition("version 1"));
  for (let version = 2; version <= 10; version += 1)
    await engine.redefine(id, definition(`version ${version}`));
  engine.clock.advance(60 * DAY);
  const rule = { workflowId: id, keep: 3, before: iso(engine.clock.now() - 30 * DAY) };
  const prune = (changes: Partial<typeof rule> = {}) =>
    engine.write((tx) => tx.workflows.pruneVersions({ ...rule, ...changes }));
  return { engine, id, rule, prune };
}

const withDefinition = async ({ read }: TestEngine, id: string): Promise<number[]> =>
  (await read.workflows.versions({ id, before: null, limit: 100, withDefinition: true }))
    .filter(({ definition: found }) => found !== null)
    .map(({ version }) => version)
    .toSorted((a, b) => a - b);

describe("pruning", () => {
  it("deletes the definitions of old versions, keeps their history, and frees their bytes", async () => {
    const { engine, id, rule, prune } = await open();
    const { store, read } = engine;
    const before = await storedBytes(store.read, "key_1");
    expect(await read.workflows.prunable({ ...rule, workflowId: undefined })).toEqual([
      { workflowId: id, versions: [1, 2, 3, 4, 5, 6, 7], bytes: expect.any(Number) },
    ]);
    const { versions, bytes } = await prune();
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(bytes).toBe(7 * JSON.stringify(definition("version 1")).length);
    expect(await withDefinition(engine, id)).toEqual([8, 9, 10]);
    expect(await storedBytes(store.read, "key_1")).toBe(before - bytes);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    const third = await read.workflows.findVersion(id, 3);
    expect(third).toMatchObject({
      version: 3,
      change: "updated",
      created_by: "operator",
      key_name: "ci",
      definition: null,
      pruned_at: engine.now(),
    });
    expect(await read.workflows.findVersion(id, 8)).not.toHaveProperty("pruned_at");
    expect(await prune()).toMatchObject({ versions: [] });
  });

  it("keeps young versions, and always the newest", async () => {
    const { engine, id, prune } = await open();
    expect(await prune({ before: iso(engine.clock.now() - 90 * DAY) })).toMatchObject({ versions: [] });
    expect(await prune({ keep: 10 })).toMatchObject({ versions: [] });
    await prune({ keep: 0 });
    expect(await withDefinition(engine, id)).toEqual([10]);
  });

  it("keeps the published version, and those of schedules, running backtests and bulk actions, runs and pins", async () => {
    const { engine, id, prune } = await open();
    await engine.write(async (tx) =>
      tx.workflows.publish((await tx.workflows.find(id))!, { version: 2, status: "published" }),
    );
    await engine.transaction((tx) =>
      tx.schedules.save({
        workflowId: id,
        version: 3,
        cron: "0 * * * *",
        timezone: "UTC",
        overlap: "skip",
        paused: true,
        nextAt: null,
        lastAt: null,
        skipped: null,
        actor: TEST_ACTOR,
      }),
    );
    await engine.transaction(async (tx) => {
      await tx.backtests.insert(newBacktest("bt_1", { workflowId: id, version: 6 }), []);
      const ended = { workflowId: id, version: 7, status: "finished", finishedAt: engine.now() } as const;
      await tx.backtests.insert(newBacktest("bt_2", ended), []);
      await tx.bulkActions.insert(newBulkAction("blk_1", { workflowId: id, version: 1 }), []);
      await tx.bulkActions.insert(newBulkAction("blk_2", ended), []);
    });
    const run = await engine.start(id, { version: 4 });
    const parent = await engine.define({ steps: [{ id: "call", type: "workflow", workflow: id }] }, "Parent");
    const calling = await engine.start(parent);
    // The published version is pinned; the run of version 4 pins nothing.
    expect((await engine.find(calling)).pins).toEqual({ [id]: 2 });
    await engine.store.transaction((trx) =>
      trx
        .updateTable("runs")
        .set({ pins: JSON.stringify({ [id]: 5 }) })
        .where("id", "=", calling)
        .execute(),
    );
    await prune();
    expect(await withDefinition(engine, id)).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 10]);
    // A run that has ended still shows its definition, and can be retried.
    await engine.stop(run);
    await prune();
    expect(await withDefinition(engine, id)).toContain(4);
  });

  it("deletes a shared definition with its last version", async () => {
    const engine = await testEngine();
    const large = definition("x".repeat(20_000));
    const id = await engine.define(large);
    await engine.change(id, { name: "Renamed" });
    await engine.redefine(id, definition("small"));
    engine.clock.advance(60 * DAY);
    const rule = { workflowId: id, before: engine.now() };
    await engine.write((tx) => tx.workflows.pruneVersions({ ...rule, keep: 2 }));
    expect(await engine.rows("run_values")).toBe(1);
    expect((await engine.read.workflows.findVersion(id, 2))?.definition).toEqual(large);
    await engine.write((tx) => tx.workflows.pruneVersions({ ...rule, keep: 1 }));
    expect([await engine.rows("run_values"), await engine.rows("value_refs")]).toEqual([0, 0]);
    expect(await storedBytesErrors(engine.store.read)).toEqual([]);
  });

  it("refuses to run a pruned version, and says why", async () => {
    const { engine, id, prune } = await open();
    await prune();
    await expect(engine.start(id, { version: 3 })).rejects.toMatchObject({
      code: "workflow_not_runnable",
      message: `Version 3 of "${id}" has no definition, so there is nothing to run. The operator has pruned it, or it never had one: run another version.`,
    });
    // A run that was prepared just before finds no definition either.
    const ref = { id: "run_1", workflowId: id, version: 4, definition: null };
    await expect(engine.engine.context.definitionCache.get(ref, engine.read.runs)).rejects.toMatchObject({
      code: "workflow_not_runnable",
    });
  });
});
