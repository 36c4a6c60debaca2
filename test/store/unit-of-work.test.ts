import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/core/clock.ts";
import type { AppError } from "../../src/core/errors.ts";
import type { Schema } from "../../src/store/schema.ts";
import { purgeExpired } from "../../src/store/purge.ts";
import { fakeClock } from "../support/clock.ts";
import { insertWorkflow, JOURNAL_MODES, testActor, testStore } from "../support/store.ts";

const TABLES: readonly (keyof Schema)[] = ["workflows", "workflow_versions", "idempotency_keys", "audit_log"];
const by = (lineage: string) => ({ ...testActor, principal: { ...testActor.principal, lineage } });

describe.each(JOURNAL_MODES)("a unit of work on a %s", (_, local) => {
  it("commits effect, history, counter, idempotency record and audit entry together", async () => {
    const { write, rows, read } = await testStore({ local });
    await write((tx) => insertWorkflow(tx), { idempotency: { key: "k", input: {} } });
    expect(await Promise.all(TABLES.map(rows))).toEqual([1, 1, 1, 1]);
    expect(await read.revision()).toBe(1);
  });

  it("rolls back an effect that throws, and continues to work", async () => {
    const { write, rows, read } = await testStore({ local });
    const boom = new Error("boom");
    const failing = write(
      async (tx) => {
        const made = await insertWorkflow(tx);
        await tx.workflows.addVersion(
          made,
          { ...made, name: "B" },
          { kind: "updated", reason: null, actor: testActor },
        );
        throw boom;
      },
      { idempotency: { key: "k", input: {} } },
    );
    await expect(failing).rejects.toBe(boom);
    expect(await Promise.all(TABLES.map(rows))).toEqual([0, 0, 0, 0]);
    expect(await read.revision()).toBe(0);
    expect(await write((tx) => insertWorkflow(tx), { idempotency: { key: "k", input: {} } })).toHaveProperty(
      "id",
      "weekly-revenue",
    );
  });
});

const values = ({ store }: Awaited<ReturnType<typeof testStore>>) =>
  store.read.selectFrom("run_values").select("id").execute();

describe("the result of a request with an idempotency key", () => {
  const definition = { steps: [{ id: "a", type: "set", values: { text: "word ".repeat(4_000) } }] };
  it("stores a large definition once for all requests, and returns it again", async () => {
    const opened = await testStore();
    const publish = (key: string, changes: number) =>
      opened.write(() => Promise.resolve({ id: "w", definition, changes }), {
        idempotency: { key, input: {} },
      });
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => publish(`k${index}`, index)));
    expect(await values(opened)).toHaveLength(1);
    expect(await publish("k7", 99)).toEqual(results[7]);
    expect(JSON.stringify(await publish("k7", 99))).toBe(JSON.stringify(results[7]));
    const { length } = (await opened.store.read.selectFrom("idempotency_keys").select("result").execute())
      .map(({ result }) => result)
      .join("");
    expect(length).toBeLessThan(20 * 200);
  });

  it("is deleted after a day, with the value that nothing else uses", async () => {
    const clock = fakeClock();
    const opened = await testStore({ clock });
    const write = (key: string) =>
      opened.write(() => Promise.resolve({ definition }), { idempotency: { key, input: {} } });
    await write("first");
    clock.advance(DAY);
    await write("second");
    expect(await values(opened)).toHaveLength(1);
    clock.advance(DAY);
    await purgeExpired(opened.store, clock, { runs: 90 * DAY, audit: 400 * DAY, deliveries: 30 * DAY });
    expect(await values(opened)).toEqual([]);
    expect(await opened.rows("idempotency_keys")).toBe(0);
  });
});

describe("a unit of work", () => {
  it("hides uncommitted changes from others", async () => {
    const { write, read, stateDir, clock } = await testStore();
    const other = await testStore({ stateDir, clock });
    await write(async (tx) => {
      const { id } = await insertWorkflow(tx);
      expect(await tx.workflows.find(id)).toBeDefined();
      expect([await read.find(id), await other.read.find(id)]).toEqual([undefined, undefined]);
    });
    expect(await other.read.count({})).toBe(1);
  });

  it("runs units one after another within a process", async () => {
    const { write } = await testStore();
    const order: string[] = [];
    const work = (name: string) =>
      write(async (tx) => {
        order.push(`${name} begins`);
        await insertWorkflow(tx);
        await new Promise((done) => setImmediate(done));
        order.push(`${name} ends`);
      });
    await Promise.all([work("a"), work("b"), work("c")]);
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("records in the audit log who did what, through which client", async () => {
    const { write, store } = await testStore();
    const { id } = await write((tx) => insertWorkflow(tx), {
      operation: "create_workflow",
      requestId: "req_7",
    });
    // A read changes nothing, so it leaves no entry.
    await write((tx) => tx.workflows.find(id), { operation: "update_workflow" });
    expect(await store.read.selectFrom("audit_log").selectAll().execute()).toEqual([
      {
        id: 1,
        at: "2026-11-21T08:00:00.000Z",
        operation: "create_workflow",
        target: id,
        owner: "operator",
        key_name: "ci",
        surface: "rest",
        client: "vitest",
        request_id: "req_7",
        project: "default",
        lineage: "key_1",
        details: '{"archived":false,"change":"created","published":"none","version":1}',
        search_text: null,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
  });
});

describe("an idempotency key", () => {
  it("returns the first response to every repetition within a day", async () => {
    const { write, clock } = await testStore();
    const request = fc.record({
      key: fc.constantFrom("k1", "k2"),
      operation: fc.constantFrom("create", "restore"),
      lineage: fc.constantFrom("key_1", "key_2"),
      input: fc.constantFrom({ name: "a" }, { name: "b" }),
      fails: fc.boolean(),
      later: fc.constantFrom(0, HOUR, 12 * HOUR, DAY - 1, DAY),
    });
    let effects = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 15 }), async (requests) => {
        clock.advance(2 * DAY);
        const first = new Map<string, { input: string; result: number; at: number }>();
        for (const { key, operation, lineage, input, fails, later } of requests) {
          clock.advance(later);
          const before = effects;
          const answer = await write(
            async () => {
              if (fails) throw new Error("boom");
              return { effect: (effects += 1) };
            },
            { operation, actor: by(lineage), idempotency: { key, input } },
          ).catch((error: Error | AppError) => ("code" in error ? error.code : error.message));

          const slot = JSON.stringify([lineage, operation, key]);
          const known = first.get(slot);
          let expected: unknown = "boom";
          if (known !== undefined && clock.now() - known.at < DAY) {
            const same = known.input === JSON.stringify(input);
            expected = same ? { effect: known.result } : "idempotency_key_reused";
          } else if (!fails) {
            expected = { effect: before + 1 };
            first.set(slot, { input: JSON.stringify(input), result: effects, at: clock.now() });
          }
          expect(answer).toEqual(expected);
          // An effect happens for the first answer, and for no repetition of it.
          expect(effects - before).toBe(
            first.get(slot)?.result === effects && known !== first.get(slot) ? 1 : 0,
          );
        }
      }),
      { numRuns: 80 },
    );
  });

  it("lets one of several concurrent requests through, and gives all of them its response", async () => {
    const first = await testStore();
    const second = await testStore({ stateDir: first.stateDir, clock: first.clock });
    const idempotency = { key: "k", input: { name: "a" } };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        [first, second][i % 2]!.write((tx) => insertWorkflow(tx), { idempotency }),
      ),
    );
    expect(new Set(answers.map((one) => one.id))).toEqual(new Set(["weekly-revenue"]));
    expect([await first.rows("workflows"), await first.rows("audit_log")]).toEqual([1, 1]);
  });

  it("is purged after a day, a few with every write", async () => {
    const { write, rows, clock } = await testStore();
    for (let i = 0; i < 120; i += 1) {
      await write(async () => "old", { idempotency: { key: `k${i}`, input: {} } });
      clock.advance(1);
    }
    clock.advance(DAY);
    const remaining = [];
    // The newest of the expired records has not been purged yet when its key is used again.
    for (const key of ["k119", "another", "a third"]) {
      expect(await write(async () => "new", { idempotency: { key, input: { other: true } } })).toBe("new");
      remaining.push(await rows("idempotency_keys"));
    }
    expect(remaining).toEqual([70, 21, 3]);
  });
});
