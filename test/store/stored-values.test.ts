import type { Kysely } from "kysely";
import { describe, expect, it } from "vitest";
import { encodeJson } from "../../src/core/encoded-json.ts";
import { DAY } from "../../src/core/clock.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { purgeExpired } from "../../src/store/purge.ts";
import type { Schema } from "../../src/store/schema.ts";
import { storedBytes, storedBytesErrors, recountStoredBytes } from "../../src/store/stored-bytes.ts";
import { runToEnd, testEngine, type TestEngine } from "../support/engine.ts";
import { createOldState } from "../support/old-state.ts";
import { testStore } from "../support/store.ts";
import { SET_BY_HAND } from "../support/run-records.ts";

const KIB = 1024;
const LARGE = "word ".repeat(1_000);
const INPUTS = { type: "object", properties: { words: { type: "string" } } };
/** Its one step has the large input as its own input and as its output. */
const COPIES = { inputs: INPUTS, steps: [{ id: "copy", type: "set", values: { w: "${{ inputs.words }}" } }] };

const definition = (text: string) => ({ steps: [{ id: "a", type: "set", values: { text } }] });

const values = ({ store }: Pick<TestEngine, "store">) =>
  store.read.selectFrom("run_values").select(["id", "body"]).execute();
const references = async ({ rows }: Pick<TestEngine, "rows">) => rows("value_refs");
const purge = ({ store, clock }: TestEngine) =>
  purgeExpired(store, clock, { runs: 90 * DAY, audit: 400 * DAY, deliveries: 30 * DAY });

describe("equal values", () => {
  it("are stored once for all items of a fan-out", async () => {
    const engine = await testEngine();
    const { id, status } = await runToEnd(
      engine,
      {
        inputs: INPUTS,
        steps: [
          {
            id: "each",
            type: "set",
            for_each: "range(200)",
            values: { w: "${{ inputs.words }}" },
          },
        ],
        output: "${{ steps.each.items.map(i, size(i.w)).sum() }}",
      },
      { inputs: { words: LARGE } },
    );
    expect(status).toBe("succeeded");
    expect(await engine.read.runs.runOutput(id)).toBe(200 * LARGE.length);
    const outputs = await engine.read.runs.itemOutputs({ runId: id, stepId: "each" });
    expect(outputs).toHaveLength(200);
    expect(new Set(outputs.map(({ output }) => output?.["w"]))).toEqual(new Set([LARGE]));
    const large = (await values(engine)).filter(({ body }) => body.includes(LARGE));
    // The inputs of the run, the input and the output of each item.
    expect(large.length).toBeLessThanOrEqual(3);
  });

  it("are stored once for runs of different owners, and count in full for each", async () => {
    const engine = await testEngine();
    const actor = (owner: string) => ({
      actor: { owner, keyName: "ci", lineage: `key_${owner}`, surface: "rest" as const, client: "vitest" },
      inputs: { words: LARGE },
    });
    const first = await runToEnd(engine, COPIES, actor("ann@example.com"));
    const stored = await values(engine);
    const second = await runToEnd(engine, COPIES, actor("bob@example.com"));
    expect(await values(engine)).toEqual(stored);
    const [ann, bob] = [
      await storedBytes(engine.store.read, "ann@example.com"),
      await storedBytes(engine.store.read, "bob@example.com"),
    ];
    expect(ann).toBe(bob);
    // What it has as inputs of the run, input of the attempt and output of the step.
    expect(ann).toBeGreaterThan(3 * LARGE.length);
    for (const { id } of [first, second]) {
      expect(await engine.read.runs.inputs(id)).toEqual({ words: LARGE });
      expect(await engine.read.runs.output({ runId: id, stepId: "copy", item: null })).toEqual({ w: LARGE });
      const at = { runId: id, what: "attempt_input", stepId: "copy", item: null, attempt: 1 } as const;
      const text = await engine.read.runs.valueText(at, { from: 0, chars: 1_000_000 });
      expect(JSON.parse(text!.text)).toEqual({ values: { w: LARGE } });
    }
  });

  it("are deleted with the last run that has them, and their bytes no longer count", async () => {
    const engine = await testEngine();
    const { clock, store } = engine;
    await runToEnd(engine, COPIES, { inputs: { words: LARGE } });
    const own = await storedBytes(store.read, "key_1");
    clock.advance(60 * DAY);
    await runToEnd(engine, COPIES, { inputs: { words: LARGE } });
    const before = await values(engine);
    clock.advance(60 * DAY);
    await purge(engine);
    expect(await values(engine)).toEqual(before);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    const left = await storedBytes(store.read, "key_1");
    clock.advance(60 * DAY);
    await purge(engine);
    expect(await values(engine)).toEqual([]);
    expect(await references(engine)).toBe(0);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    // Only the versions of the two workflows are left.
    expect(await storedBytes(store.read, "key_1")).toBeLessThan(KIB);
    expect(left).toBeLessThan(own + KIB);
  });

  it("are purged in batches, also when one run has many", async () => {
    const engine = await testEngine();
    const { clock, store, transaction } = engine;
    const { id } = await runToEnd(engine, { steps: [{ id: "a", type: "set", values: { n: 1 } }] });
    await transaction(async (tx) => {
      for (let item = 0; item < 25; item += 1)
        await tx.runs.saveStep(
          { runId: id, stepId: "a", item },
          { seq: 9, state: "succeeded", output: encodeJson({ text: `${item} ${LARGE}` }) },
        );
    });
    expect(await values(engine)).toHaveLength(25);
    clock.advance(100 * DAY);
    let batches = 0;
    while (await transaction((tx) => tx.runs.purge(engine.now(), engine.now(), 10))) batches += 1;
    expect(batches).toBeGreaterThanOrEqual(2);
    expect(await values(engine)).toEqual([]);
    expect(await storedBytesErrors(store.read)).toEqual([]);
  });
});

/** The bytes of a subject in the history of states. */
async function historyBytes(db: Kysely<Schema>, subject: string): Promise<number> {
  const rows = await db
    .selectFrom("state_changes")
    .select("stored_bytes")
    .where("subject", "=", subject)
    .execute();
  return rows.reduce((sum, row) => sum + row.stored_bytes, 0);
}

describe("the state of a workflow", () => {
  it("counts for those who wrote it last", async () => {
    const { define, store, transaction, now } = await testEngine();
    const id = await define(definition("x"));
    const write = (revision: number, subject: string, text: string) =>
      transaction((tx) =>
        tx.workflowStates.replace(
          id,
          revision,
          { values: { text }, updatedAt: now(), updatedBy: "ann", change: SET_BY_HAND },
          subject,
        ),
      );
    const before = await storedBytes(store.read, "key_1");
    expect(await write(1, "key_1", LARGE)).toBe(true);
    expect(await write(1, "key_1", "lost")).toBe(false);
    const history = (subject: string) => historyBytes(store.read, subject);
    expect(await storedBytes(store.read, "key_1")).toBe(
      before + LARGE.length + '{"text":""}'.length + (await history("key_1")),
    );
    expect(await write(2, "bob@example.com", "é")).toBe(true);
    expect(await storedBytes(store.read, "key_1")).toBe(before + (await history("key_1")));
    expect(await history("key_1")).toBeGreaterThan(100);
    expect(await storedBytes(store.read, "bob@example.com")).toBe(
      '{"text":"é"}'.length + 1 + (await history("bob@example.com")),
    );
    expect(await storedBytesErrors(store.read)).toEqual([]);
    await store.transaction(recountStoredBytes);
    expect(await storedBytes(store.read, "bob@example.com")).toBe(
      '{"text":"é"}'.length + 1 + (await history("bob@example.com")),
    );
  });
});

describe("equal definitions", () => {
  it("are stored once for all versions, and count in full for their authors", async () => {
    const engine = await testEngine();
    const { store, read } = engine;
    const large = definition("x".repeat(100 * KIB));
    const id = await engine.define(large);
    for (let times = 0; times < 20; times += 1) await engine.change(id, { name: `Name ${times}` });
    expect(await values(engine)).toHaveLength(1);
    expect(await storedBytes(store.read, "key_1")).toBeGreaterThan(21 * 100 * KIB);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    for (const version of [1, 7, 21]) {
      expect(await read.runs.versionDefinition(id, version)).toEqual(large);
      expect((await read.workflows.findVersion(id, version))?.definition).toEqual(large);
    }
    expect((await read.workflows.find(id))?.definition).toEqual(large);
    const versions = await read.workflows.versions({ id, before: null, limit: 3, withDefinition: true });
    expect(versions.map((version) => version.definition)).toEqual([large, large, large]);
    const page = { filter: {}, sort: "name", after: null, limit: 5, withDefinition: true } as const;
    expect((await read.workflows.page(page)).items[0]?.definition).toEqual(large);
  });

  it("of small size stay with their version", async () => {
    const engine = await testEngine();
    const id = await engine.define(definition("small"));
    expect(await values(engine)).toEqual([]);
    expect((await engine.read.workflows.find(id))?.definition).toEqual(definition("small"));
  });

  it("that look like a reference are read as what they are", async () => {
    const { create, read } = await testStore();
    for (const forged of [{ stored_value: 1 }, { " ": 1, stored_value: 1 }]) {
      const { id } = await create({ name: "Forged", definition: forged });
      expect((await read.find(id))?.definition).toEqual(forged);
    }
  });

  it("of retries with a patch are stored once", async () => {
    const engine = await testEngine();
    const id = await engine.define(definition("small"));
    const patched = definition("y".repeat(20 * KIB));
    const ids = [];
    for (let times = 0; times < 3; times += 1) ids.push(await engine.start(id, { definition: patched }));
    expect(await values(engine)).toHaveLength(1);
    expect((await engine.find(ids[2]!)).definition).toEqual(patched);
    expect(await storedBytes(engine.store.read, "key_1")).toBeGreaterThan(60 * KIB);
  });
});

describe("the counts of stored bytes", () => {
  it("equal what is stored, and can be computed again", async () => {
    const engine = await testEngine();
    const { store } = engine;
    await runToEnd(engine, COPIES, { inputs: { words: "été 世界" } });
    expect(await storedBytesErrors(store.read)).toEqual([]);
    const counted = await storedBytes(store.read, "key_1");
    await store.transaction((trx) =>
      trx.updateTable("stored_bytes").set({ bytes: 0 }).where("subject", "=", "key_1").execute(),
    );
    expect(await storedBytesErrors(store.read)).toEqual([{ subject: "key_1", missing: counted }]);
    await store.transaction(recountStoredBytes);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    expect(await storedBytes(store.read, "key_1")).toBe(counted);
  });

  it("are rolled back with the transaction that stored them", async () => {
    const engine = await testEngine();
    const id = await engine.start(await engine.define(COPIES));
    const before = await storedBytes(engine.store.read, "key_1");
    const failing = engine.transaction(async (tx) => {
      await tx.runs.update(id, { seq: 9, output: LARGE });
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    expect(await storedBytes(engine.store.read, "key_1")).toBe(before);
  });

  it("include what a state of an earlier release has", async () => {
    const { store } = await testStore({ stateDir: createOldState(2) });
    expect(MIGRATIONS.at(-1)!.id).toBeGreaterThan(2);
    expect(await storedBytesErrors(store.read)).toEqual([]);
    const runs = await store.read.selectFrom("runs").select("stored_bytes").execute();
    expect(runs.length).toBeGreaterThan(0);
    expect(Math.min(...runs.map((run) => run.stored_bytes))).toBeGreaterThan(0);
    const counts = await store.read.selectFrom("stored_bytes").selectAll().execute();
    expect(counts.length).toBeGreaterThan(0);
  });
});
