import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WorkflowName } from "../../schemas/workflow.ts";
import { insertWorkflow, testActor, testStore } from "../support/store.ts";
import { startTimer } from "../support/expect-cost.ts";

const name = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 100 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }),
    fc.constantFrom(
      "Foo",
      "foo 2",
      "FOO-2",
      "Foo 3",
      "日本語",
      "🦄",
      "--",
      "validate",
      "new",
      "a".repeat(200),
      "Straße & Co",
    ),
  )
  .filter((one) => WorkflowName.safeParse(one).success);

describe("workflow ids", () => {
  it("are short, readable and unique, whatever the name", async () => {
    const { write, read } = await testStore();
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 8 }), async (names) => {
        const made = await write(async (tx) => {
          const all = [];
          for (const one of names) all.push(await insertWorkflow(tx, { name: one }));
          return all;
        });
        for (const [index, workflow] of made.entries()) {
          expect(workflow.id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
          expect(workflow.id.length).toBeLessThanOrEqual(80);
          expect(workflow.id).not.toBe("validate");
          expect(seen.has(workflow.id)).toBe(false);
          seen.add(workflow.id);
          expect(workflow.name).toBe(names[index]);
        }
      }),
      { numRuns: 150 },
    );
    expect(await read.count({})).toBe(seen.size);
  });

  it.each([
    ["Weekly revenue", "weekly-revenue"],
    ["  Größe & Maß  ", "groesse-and-mass"],
    ["weeklyRevenue", "weekly-revenue"],
    ["My MySQL report", "my-mysql-report"],
    ["PostgreSQL sync to OpenAI", "postgresql-sync-to-openai"],
    ["--", "workflow"],
    ["../../etc/passwd", "etc-passwd"],
    ["%2e%2e/?x=1#y", "2e-2e-x-1-y"],
    ["Validate", "validate-2"],
    ["New", "new-2"],
    ["a".repeat(200), "a".repeat(60)],
    [`${"a".repeat(59)} b`, "a".repeat(59)],
  ])("of %j are %s", async (given, id) => {
    const { create: make } = await testStore();
    expect((await make({ name: given })).id).toBe(id);
  });

  it("are never reused, neither after archiving nor after renaming", async () => {
    const { create: make, change } = await testStore();
    const first = await make({ name: "Report" });
    await change(first.id, { status: "archived" });
    const second = await make({ name: "Report" });
    await change(second.id, { name: "Something else" });
    expect([first.id, second.id, (await make({ name: "Report" })).id]).toEqual([
      "report",
      "report-2",
      "report-3",
    ]);
  });

  it.each([
    [
      ["Foo", "Foo 2", "Foo", "Foo"],
      ["foo", "foo-2", "foo-3", "foo-4"],
    ],
    [
      ["Foo 2", "Foo", "Foo", "Foo 2"],
      ["foo-2", "foo", "foo-3", "foo-2-2"],
    ],
    [
      ["Foo", "Foo 3", "Foo", "Foo"],
      ["foo", "foo-3", "foo-2", "foo-4"],
    ],
    [
      ["validate", "validate", "validate 2"],
      ["validate-2", "validate-3", "validate-2-2"],
    ],
  ])("of equal names are distinct: %j become %j", async (names, ids) => {
    const { create: make } = await testStore();
    const made = [];
    for (const one of names) made.push((await make({ name: one })).id);
    expect(made).toEqual(ids);
  });

  it("are found quickly after a thousand workflows of the same name", async () => {
    const { write } = await testStore();
    const expectElapsed = startTimer();
    const ids = await write(async (tx) => {
      const all = [];
      for (let i = 0; i < 1_000; i += 1) all.push((await insertWorkflow(tx, { name: "Report" })).id);
      return all;
    });
    // Trying every used id in turn would need half a million queries.
    expectElapsed(10_000);
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.at(-1)).toBe("report-1000");
  });

  it("are those that a file requests, unless they are used", async () => {
    const { write, rows } = await testStore();
    const content = { name: "Weekly revenue", description: "", tags: [], definition: null };
    const change = { kind: "created", reason: null, actor: testActor } as const;
    const insert = (id: string) => write((tx) => tx.workflows.insert(content, change, { id }));
    expect(await insert("revenue-2026")).toMatchObject({ id: "revenue-2026", name: "Weekly revenue" });
    for (const taken of ["revenue-2026", "validate"])
      await expect(insert(taken)).rejects.toMatchObject({ code: "workflow_id_taken" });
    expect(await rows("workflows")).toBe(1);
  });
});
