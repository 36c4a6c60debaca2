import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { restoreWorkflow } from "../../tools/workflows/restore-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { fakeClock } from "../support/clock.ts";
import { testInstance } from "../support/instance.ts";
import { insertWorkflow, testActor, testStore } from "../support/store.ts";

const history = { before: null, limit: 100, withDefinition: true };

describe("versions", () => {
  it("record the content, the author, the time, the client and the reason", async () => {
    const { clock, read, write } = await testStore();
    const made = await write((tx) => insertWorkflow(tx, { name: "A", definition: { steps: [1] } }));
    clock.advance(MINUTE);
    await write((tx) =>
      tx.workflows.addVersion(
        made,
        { ...made, name: "B", tags: ["x"] },
        {
          kind: "updated",
          reason: "The board asked",
          actor: {
            principal: { ...testActor.principal, owner: "ada@example.com", keyName: "laptop" },
            client: { surface: "mcp", name: "inspector/2.12" },
          },
        },
      ),
    );
    expect(await read.versions({ id: made.id, ...history })).toEqual([
      {
        workflow_id: "a",
        version: 2,
        change: "updated",
        name: "B",
        description: "",
        tags: ["x"],
        definition: { steps: [1] },
        reason: "The board asked",
        created_at: "2026-11-21T08:01:00.000Z",
        created_by: "ada@example.com",
        key_name: "laptop",
        surface: "mcp",
        client: "inspector/2.12",
      },
      {
        workflow_id: "a",
        version: 1,
        change: "created",
        name: "A",
        description: "",
        tags: [],
        definition: { steps: [1] },
        reason: null,
        created_at: "2026-11-21T08:00:00.000Z",
        created_by: "operator",
        key_name: "ci",
        surface: "rest",
        client: "vitest",
      },
    ]);
    expect(await read.find("a")).toMatchObject({
      name: "B",
      version: 2,
      created_by: "operator",
      created_at: "2026-11-21T08:00:00.000Z",
      updated_at: "2026-11-21T08:01:00.000Z",
    });
  });

  it("never change, have unique numbers, and the newest is the workflow", async () => {
    const { read, create: make, change } = await testStore();
    const field = fc.record(
      {
        name: fc.string({ minLength: 1, maxLength: 20 }),
        description: fc.string(),
        tags: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 3 }),
        definition: fc.option(
          fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 6 }), async (changes) => {
        const { id } = await make();
        const seen: unknown[] = [await read.findVersion(id, 1)];
        for (const fields of changes) {
          // Through JSON, as every request is: JSON has no -0.
          await change(id, JSON.parse(JSON.stringify(fields)));
          seen.unshift(await read.findVersion(id, seen.length + 1));
        }
        expect(await read.versions({ id, ...history })).toEqual(seen);
        const { name, description, tags, definition, version } = (await read.find(id))!;
        expect(seen[0]).toMatchObject({ name, description, tags, definition, version: seen.length });
        expect(version).toBe(seen.length);
      }),
      { numRuns: 60 },
    );
  });

  it("are listed page by page, newest first, and without definitions by default", async () => {
    const { read, create: make, change } = await testStore();
    const { id } = await make();
    for (let i = 2; i <= 5; i += 1) await change(id, { description: String(i) });
    const page = await read.versions({ id, before: 5, limit: 2, withDefinition: false });
    expect(page.map((one) => one.version)).toEqual([4, 3]);
    expect(page[0]).not.toHaveProperty("definition");
  });

  it("of an unknown workflow are empty", async () => {
    const { read } = await testStore();
    expect(await read.versions({ id: "nothing", ...history })).toEqual([]);
    expect(await read.findVersion("nothing", 1)).toBeUndefined();
    expect(await read.find("nothing")).toBeUndefined();
  });
});

/** A workflow, with the services and the call for operations on it. */
async function open() {
  const instance = await testInstance({ clock: fakeClock() });
  const { services } = instance;
  const call = { actor: testActor, requestId: "req_1", signal: new AbortController().signal };
  await services.write({ operation: "t", actor: testActor, requestId: "r" }, (tx) =>
    insertWorkflow(tx, { name: "A", tags: ["x"], definition: { a: 1, b: { c: [1] } } }),
  );
  return { services, call };
}

describe("a change that changes nothing", () => {
  it.each<[string, object]>([
    ["no field", {}],
    ["the same name", { name: "A" }],
    [
      "the same values in all fields",
      { name: "A", description: "", tags: ["x"], definition: { a: 1, b: { c: [1] } } },
    ],
    ["the same definition with its keys in another order", { definition: { b: { c: [1] }, a: 1 } }],
    ["a reason alone", { reason: "because" }],
  ])("creates no version: %s", async (_, fields) => {
    const { services, call } = await open();
    const revision = await services.read.workflows.revision();
    expect(await invoke(services, updateWorkflow, { workflow_id: "a", ...fields }, call)).toHaveProperty(
      "version",
      1,
    );
    expect(await services.read.workflows.versions({ id: "a", ...history })).toHaveLength(1);
    expect(await services.read.workflows.revision()).toBe(revision);
  });

  it.each<[string, object]>([
    ["another order of tags' letters", { tags: ["X"] }],
    ["a removed definition", { definition: null }],
    ["a deep difference", { definition: { a: 1, b: { c: ["1"] } } }],
  ])("is not one with %s", async (_, fields) => {
    const { services, call } = await open();
    expect(await invoke(services, updateWorkflow, { workflow_id: "a", ...fields }, call)).toHaveProperty(
      "version",
      2,
    );
  });

  it("archives and restores once", async () => {
    const { services, call } = await open();
    const act = (tool: typeof archiveWorkflow | typeof restoreWorkflow) =>
      invoke(services, tool, { workflow_id: "a" }, call);
    expect(await act(restoreWorkflow)).toMatchObject({ version: 1, status: "draft" });
    expect(await act(archiveWorkflow)).toMatchObject({ version: 2, status: "archived" });
    expect(await act(archiveWorkflow)).toMatchObject({ version: 2, status: "archived" });
    expect(await act(restoreWorkflow)).toMatchObject({ version: 3, status: "draft" });
    const changes = (await services.read.workflows.versions({ id: "a", ...history })).map(
      (one) => one.change,
    );
    expect(changes).toEqual(["restored", "archived", "created"]);
  });
});
