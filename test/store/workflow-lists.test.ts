import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldText, isSameText } from "../../schemas/fold-text.ts";
import type { Workflow, WorkflowStatus } from "../../schemas/workflow.ts";
import type { ListPosition } from "../../src/core/model.ts";
import type { WorkflowFilter, WorkflowReader, WorkflowSort } from "../../src/core/ports.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import { insertWorkflow, testActor, testStore } from "../support/store.ts";

const SORTS: readonly WorkflowSort[] = [
  "created_at",
  "-created_at",
  "updated_at",
  "-updated_at",
  "name",
  "-name",
];
const TAGS = [
  "finance",
  "Finance",
  "a",
  "b",
  ",",
  'a","b',
  'x"b',
  "b\\",
  "\\",
  '"',
  "%",
  "_",
  "été",
  "E\u0301TE\u0301",
  "Größe",
  "日本",
  "𝒳",
];
const WORDS = [
  "weekly",
  "Revenue",
  "ÄRGER",
  "ärger",
  "été",
  "日本",
  "Stra\u1E9Ee",
  "gro\u0308ße",
  "日本語",
  "ОТЧЁТ",
  "𝒳𝒴𝒵",
  "a",
  "%",
  "_",
  "x%y",
  "x_y",
  '"\\{}',
];

const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((one) => one.join(" "));
const status = fc.constantFrom<WorkflowStatus>("draft", "published", "archived");
const workflow = fc.record({
  name: fc.oneof(
    words,
    fc.string({ unit: fc.constantFrom("a", "B", "z", "é", "Z", "\u{1d4b3}", "\uffee"), minLength: 1 }),
  ),
  description: fc.oneof(fc.constant(""), words),
  tags: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 }),
  status,
  /** Milliseconds after the previous workflow: often 0, so that times are equal. */
  later: fc.constantFrom(0, 0, 1),
});
/** Ids of the first workflows of one word or two, which often exist, and one that never does. */
const someIds = fc.uniqueArray(
  fc.constantFrom("weekly", "weekly-2", "revenue", "revenue-weekly", "a", "a-a", "x-y", "x-y-2", "nope"),
  { minLength: 1, maxLength: 4 },
);
const filter: fc.Arbitrary<WorkflowFilter> = fc.record(
  { search: words, tag: fc.constantFrom(...TAGS), status, ids: someIds },
  { requiredKeys: [] },
);
const query = fc.record({ filter, sort: fc.constantFrom(...SORTS), limit: fc.integer({ min: 1, max: 7 }) });

/** The expected list, computed from all rows without SQL. */
function expected(
  all: readonly Workflow[],
  { filter: by, sort }: { filter: WorkflowFilter; sort: WorkflowSort },
) {
  const matching = all.filter((one) => {
    if (by.ids?.includes(one.id) === false) return false;
    const isLeftOut = one.status === "archived" && by.ids === undefined;
    if (by.status === undefined ? isLeftOut : one.status !== by.status) return false;
    if (by.tag !== undefined && !one.tags.some((tag) => isSameText(tag, by.tag!))) return false;
    const places = [one.id, one.name, one.description, ...one.tags].map(foldText);
    return (by.search ?? "").split(" ").every((word) => places.some((text) => text.includes(foldText(word))));
  });
  const field = sort.replace("-", "") as "created_at" | "updated_at" | "name";
  const bytes = (one: Workflow): Buffer => Buffer.from(field === "name" ? foldText(one.name) : one[field]);
  const ordered = matching.toSorted((a, b) => bytes(a).compare(bytes(b)) || (a.id < b.id ? -1 : 1));
  return (sort.startsWith("-") ? ordered.toReversed() : ordered).map((one) => one.id);
}

async function walk(
  read: WorkflowReader,
  { filter: by, sort, limit }: { filter: WorkflowFilter; sort: WorkflowSort; limit: number },
  between: () => Promise<unknown> = async () => undefined,
): Promise<Workflow[]> {
  const seen: Workflow[] = [];
  for (let after: ListPosition | null = null; ;) {
    const { items, next } = await read.page({ filter: by, sort, after, limit, withDefinition: false });
    expect(items.length).toBeLessThanOrEqual(limit);
    // Only the last page may be short.
    expect(next === null || items.length === limit).toBe(true);
    seen.push(...items);
    if (next === null) return seen;
    after = next;
    await between();
  }
}

type Store = Awaited<ReturnType<typeof testStore>>;

/** Replaces all workflows in the store. */
async function fill(
  { store, write, clock }: Store,
  rows: readonly (typeof workflow extends fc.Arbitrary<infer T> ? T : never)[],
) {
  await store.transaction(async (trx) => {
    await trx.deleteFrom("workflow_versions").execute();
    await trx.deleteFrom("workflows").execute();
  });
  return write(async (tx) => {
    const all: Workflow[] = [];
    for (const { status: wanted, later, ...content } of rows) {
      clock.advance(later);
      const made = await insertWorkflow(tx, content);
      const change = { kind: "updated", reason: null, actor: testActor } as const;
      all.push(
        wanted === "draft" ? made : await tx.workflows.addVersion(made, { ...made, status: wanted }, change),
      );
    }
    return all;
  });
}

describe("lists of workflows", () => {
  it("equal a scan of all rows, in every order, filter and page size", async () => {
    const first = await testStore();
    await fc.assert(
      fc.asyncProperty(
        fc.array(workflow, { maxLength: 12 }),
        fc.array(query, { minLength: 4, maxLength: 8 }),
        async (rows, queries) => {
          const all = await fill(first, rows);
          for (const listQuery of queries) {
            const ids = (await walk(first.read, listQuery)).map((one) => one.id);
            expect({ listQuery, ids }).toEqual({ listQuery, ids: expected(all, listQuery) });
            expect(await first.read.count(listQuery.filter)).toBe(ids.length);
          }
        },
      ),
      { numRuns: 120 },
    );
  });

  it("neither lose nor repeat a row while others are added between the pages", async () => {
    const first = await testStore();
    const other = await testStore({ stateDir: first.stateDir, clock: first.clock });
    await fc.assert(
      fc.asyncProperty(
        fc.array(workflow, { minLength: 3, maxLength: 10 }),
        query,
        fc.array(workflow, { maxLength: 6 }),
        async (rows, listQuery, added) => {
          const before = expected(await fill(first, rows), listQuery);
          const late = [...added];
          const seen = await walk(first.read, listQuery, async () => {
            const next = late.pop();
            if (next !== undefined)
              await other.create({ name: next.name, description: next.description, tags: next.tags });
          });
          const ids = seen.map((one) => one.id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => before.includes(id))).toEqual(before);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("of ids contain archived ones too, unless a status is given, and no unknown ones", async () => {
    const { read, create: make, change } = await testStore();
    const [kept, archived] = [await make({ name: "Kept" }), await make({ name: "Archived" })];
    await make({ name: "Another" });
    await change(archived.id, { status: "archived" });
    const found = async (by: WorkflowFilter) =>
      (await walk(read, { filter: by, sort: "name", limit: 1 })).map(({ id }) => id);
    const byIds = { ids: [kept.id, archived.id, "unknown"] };
    expect(await found(byIds)).toEqual([archived.id, kept.id]);
    expect(await found({ ...byIds, status: "draft" })).toEqual([kept.id]);
    expect(await found({ ...byIds, search: "archived" })).toEqual([archived.id]);
    expect(await read.count(byIds)).toBe(2);
  });

  it("contain definitions only on request", async () => {
    const { read, create: make } = await testStore();
    await make({ definition: { steps: [] } });
    const listQuery = { filter: {}, sort: "name", after: null, limit: 5 } as const;
    expect((await read.page({ ...listQuery, withDefinition: true })).items).toMatchObject([
      { definition: { steps: [] } },
    ]);
    expect((await read.page({ ...listQuery, withDefinition: false })).items[0]).not.toHaveProperty(
      "definition",
    );
  });
});

describe("searching", () => {
  it.each([
    ["revenue weekly", true],
    ["WEEKLY", true],
    ["week enue", true],
    ["ÄRGER été", true],
    ["finance board", true],
    ["weekly-rev", true],
    ["  weekly \n revenue\t", true],
    ["a\u0308rger", true],
    ["E\u0301TE\u0301", true],
    ["weekly monthly", false],
    ["50%", false],
    ["w_ekly", false],
    ["weekly'; drop table workflows; --", false],
  ])("for %j finds it: %s", async (search, found) => {
    const { read, create: make } = await testStore();
    await make({ name: "Weekly revenue", description: "For the Board: Ärger und ÉTÉ", tags: ["Finance"] });
    expect(await read.count({ search })).toBe(found ? 1 : 0);
  });

  it.each([
    // https://github.com/Donkie/Spoolman/pull/1078
    ["Червоний", "черв", 1],
    // https://github.com/zed-industries/zed/issues/30503: what is typed is composed, what macOS stored is not.
    ["gro\u0308ssen", "grö", 1],
    // https://github.com/open-webui/open-webui/pull/29186: a wildcard of full width became one of SQL.
    ["Plain", "\uFF05", 0],
    ["100\uFF05", "\uFF05", 1],
    // https://github.com/newsboat/newsboat/issues/585
    ["Ägypten", "ägy", 1],
  ])("of %j for %j finds %i", async (name, search, count) => {
    const { read, create: make } = await testStore();
    await make({ name });
    expect(await read.count({ search })).toBe(count);
  });

  it("finds the same with an index of many workflows as by comparing each", async () => {
    const first = await testStore();
    const { store, read, create: make, change } = first;
    await insertWorkflows(first, { count: 2_500, name: "Common words" });
    const rare = await make({ name: "Rare common words", tags: ["Häufig"] });
    const archived = await make({ name: "Common words, archived" });
    await change(archived.id, { status: "archived" });
    const found = async (by: WorkflowFilter) => [
      (
        await read.page({ filter: by, sort: "-created_at", after: null, limit: 3, withDefinition: false })
      ).items.map(({ id }) => id),
      await read.count(by),
    ];
    // More than are counted, and more than the index returns for a page.
    expect(await found({ search: "common" })).toEqual([[rare.id, "many-002500", "many-002499"], 1_001]);
    expect(await found({ search: "common rare" })).toEqual([[rare.id], 1]);
    expect(await found({ search: "many-00250" })).toEqual([["many-002500"], 1]);
    expect(await found({ search: "common", status: "archived" })).toEqual([[archived.id], 1]);
    expect(await found({ tag: "Häufig" })).toEqual([[rare.id], 1]);
    expect(await found({ tag: "HA\u0308UFIG" })).toEqual([[rare.id], 1]);
    expect(await found({ tag: "haufig" })).toEqual([[], 0]);
    expect(await found({ search: "common zebra" })).toEqual([[], 0]);
    // Few of those that the index finds are in the list.
    await store.transaction((trx) =>
      trx.updateTable("workflows").set({ status: "archived" }).where("id", "not in", [rare.id]).execute(),
    );
    expect(await found({ search: "common" })).toEqual([[rare.id], 1]);
  });

  it("searches the current workflow, not former versions", async () => {
    const { read, create: make, change } = await testStore();
    const { id } = await make({ description: "apples" });
    await change(id, { description: "pears" });
    expect([await read.count({ search: "apples" }), await read.count({ search: "pears" })]).toEqual([0, 1]);
  });
});

describe("filtering by tag", () => {
  it("matches the whole tag, whatever its case and its characters", async () => {
    const { read, write } = await testStore();
    await write(async (tx) => {
      for (const tag of TAGS) await insertWorkflow(tx, { name: `only ${TAGS.indexOf(tag)}`, tags: [tag] });
      await insertWorkflow(tx, { name: "two", tags: ["a", "b"] });
    });
    for (const tag of TAGS) {
      const { items } = await read.page({
        filter: { tag },
        sort: "name",
        after: null,
        limit: 50,
        withDefinition: false,
      });
      const names = items.map((one) => one.name);
      const expectedNames = [
        ...TAGS.flatMap((one, index) => (isSameText(one, tag) ? [`only ${index}`] : [])).toSorted(),
        ...(tag === "a" || tag === "b" ? ["two"] : []),
      ];
      expect({ tag, names }).toEqual({ tag, names: expectedNames });
    }
    expect(await read.count({ tag: "financ" })).toBe(0);
  });

  it("finds no other text that contains the tag, and what an older release wrote by its exact spelling", async () => {
    const { read, store, create: make } = await testStore();
    await make({ name: "Größe", description: "first\nGröße\nlast", tags: ["Maß", "größer"] });
    const { id } = await make({ name: "Kept", tags: ["Été"] });
    expect([await read.count({ tag: "GRÖSSE" }), await read.count({ tag: "e\u0301te\u0301" })]).toEqual([
      0, 1,
    ]);
    await store.transaction((trx) =>
      trx.updateTable("workflows").set({ search_text: "kept\nkept\nété\n" }).where("id", "=", id).execute(),
    );
    expect([await read.count({ tag: "Été" }), await read.count({ tag: "été" })]).toEqual([1, 0]);
    for (const tag of ["Größe", "STRASSE", "E\u0301te\u0301", "ΟΔΟΣ"]) {
      const { id: older } = await make({ name: "Older", tags: [tag] });
      const searchText = `${older}\nolder\n${tag}\n`.toLowerCase();
      await store.transaction((trx) =>
        trx.updateTable("workflows").set({ search_text: searchText }).where("id", "=", older).execute(),
      );
      const listed = await read.page({
        filter: { tag, search: "older" },
        sort: "name",
        after: null,
        limit: 5,
        withDefinition: false,
      });
      expect([tag, await read.count({ tag }), listed.items.map((one) => one.id)]).toEqual([tag, 1, [older]]);
    }
  });
});
