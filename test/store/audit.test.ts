import type { Insertable } from "kysely";
import { describe, expect, it } from "vitest";
import type { AuditFilter } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import { auditReader } from "../../src/store/audit.ts";
import type { Schema } from "../../src/store/schema.ts";
import { testStore } from "../support/store.ts";

type Row = Insertable<Schema["audit_log"]>;

const START = Date.parse("2026-11-21T08:00:00Z");
const entry = (fields: Partial<Row> = {}): Row => ({
  at: iso(START),
  operation: "update_workflow",
  target: "weekly-revenue",
  owner: "ann@example.com",
  key_name: "laptop",
  surface: "rest",
  client: "curl/8",
  request_id: "req_1",
  ...fields,
});

async function open(entries: readonly Row[]) {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    for (let from = 0; from < entries.length; from += 1_000)
      await trx
        .insertInto("audit_log")
        .values(entries.slice(from, from + 1_000))
        .execute();
  });
  const audit = auditReader(store.read);
  const ids = async (filter: AuditFilter, before: number | null = null, limit = 100) =>
    (await audit.page({ filter, before, limit })).map((one) => one.id);
  return { ...audit, ids };
}

describe("the audit log", () => {
  it("is listed newest first, page by page, with each entry as it was written", async () => {
    const { page, ids, count } = await open([
      entry(),
      entry({ target: null, key_name: null, request_id: null }),
      entry(),
    ]);
    expect(await ids({}, null, 2)).toEqual([3, 2]);
    expect(await ids({}, 2, 2)).toEqual([1]);
    expect(await ids({}, 1, 2)).toEqual([]);
    expect(await count({})).toBe(3);
    expect(await page({ filter: {}, before: 3, limit: 1 })).toEqual([
      {
        id: 2,
        at: "2026-11-21T08:00:00.000Z",
        operation: "update_workflow",
        target: null,
        owner: "ann@example.com",
        keyName: null,
        surface: "rest",
        client: "curl/8",
        requestId: null,
        project: "default",
        lineage: null,
        details: null,
        hash: null,
      },
    ]);
  });

  it("is empty at first", async () => {
    const { ids, count } = await open([]);
    expect([await ids({}), await count({})]).toEqual([[], 0]);
  });

  it.each<[string, AuditFilter, number[]]>([
    ["a word of the operation, in any case", { searchTerms: ["CREATE_"] }, [2]],
    ["a word of the target", { searchTerms: ["monthly"] }, [3]],
    ["a word of the owner", { searchTerms: ["ben@"] }, [4]],
    ["a word of the key's name, in any case", { searchTerms: ["nightly"] }, [5]],
    ["a word of the client", { searchTerms: ["firefox"] }, [6]],
    ["every word, in any field", { searchTerms: ["ann@", "firefox"] }, [6]],
    ["a percent sign for itself", { searchTerms: ["100%"] }, [7]],
    ["a hyphen for itself", { searchTerms: ["update-workflow"] }, []],
    ["no word across two fields", { searchTerms: ["workflowweekly"] }, []],
    ["words that are not in one entry", { searchTerms: ["firefox", "ben@"] }, []],
    ["no word in the surface", { searchTerms: ["rest"] }, []],
    ["an owner", { owner: "ben@example.com" }, [4]],
    ["not a part of an owner", { owner: "ben" }, []],
    ["an operation", { operation: "create_workflow" }, [2]],
    ["a target", { target: "monthly-costs" }, [3]],
    ["a surface", { surface: "web" }, [6]],
    ["a start time, inclusive", { since: iso(START + 1) }, [7, 6]],
    ["an end time, exclusive", { until: iso(START + 1) }, [5, 4, 3, 2, 1]],
    [
      "all filters together",
      { since: iso(START + 1), surface: "web", searchTerms: ["ann"], owner: "ann@example.com" },
      [6],
    ],
  ])("is searched by %s", async (_, filter, expected) => {
    const { ids, count } = await open([
      entry(),
      entry({ operation: "create_workflow" }),
      entry({ target: "monthly-costs" }),
      entry({ owner: "ben@example.com" }),
      entry({ key_name: "Nightly" }),
      entry({ client: "Firefox 145", surface: "web", at: iso(START + 1) }),
      entry({ client: "sure 100%", at: iso(START + 2) }),
    ]);
    expect(await ids(filter)).toEqual(expected);
    expect(await count(filter)).toBe(expected.length);
  });

  it("is searched in batches, and yields to the event loop between them", async () => {
    const total = 12_345;
    const { ids, count } = await open(
      Array.from({ length: total }, (_, i) => entry(i % 5_000 === 0 ? { owner: "rare@example.com" } : {})),
    );
    const rare = { searchTerms: ["rare"] };
    let turns = 0;
    const others = setInterval(() => (turns += 1), 0);
    let immediate = true;
    const turn = (): void => {
      turns += 1;
      if (immediate) setImmediate(turn);
    };
    setImmediate(turn);
    expect(await ids(rare)).toEqual([10_001, 5_001, 1]);
    expect(turns).toBeGreaterThanOrEqual(2);
    immediate = false;
    clearInterval(others);
    expect(await ids(rare, null, 2)).toEqual([10_001, 5_001]);
    expect(await ids(rare, 5_001, 2)).toEqual([1]);
    expect(await ids({}, null, 6_000)).toHaveLength(6_000);
    expect([await count(rare), await count({})]).toEqual([3, total]);
  });
});
