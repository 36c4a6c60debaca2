import Database from "better-sqlite3";
import * as fc from "fast-check";
import { Kysely, sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { ListPosition, RunFilter } from "../../src/core/model.ts";
import { countRuns, newestRuns } from "../../src/store/run-lists.ts";
import { runReader } from "../../src/store/run-reader.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sqliteDialect } from "../../src/store/sqlite-driver.ts";
import { testStore } from "../support/store.ts";

const PROJECTS = ["default", "legal", "sales"];
const WORKFLOWS = ["a", "b", null];

interface Stored {
  id: string;
  project: string;
  workflowId: string | null;
  status: RunStatus;
  trigger: RunTrigger;
  /** The workflow of the run that a replay runs again. */
  source: string;
  isTrial: boolean;
  retryOf: string | null;
  createdAt: string;
}

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21) + second * 1_000).toISOString();

const stored = fc.record({
  project: fc.constantFrom(...PROJECTS),
  workflowId: fc.constantFrom(...WORKFLOWS),
  status: fc.constantFrom(...RunStatus.options),
  trigger: fc.constantFrom(...RunTrigger.options),
  source: fc.constantFrom("a", "b"),
  isTrial: fc.boolean(),
  retryOf: fc.constantFrom(null, null, "run_000", "run_001"),
  /** Few seconds, so that many times are equal. */
  createdAt: fc.integer({ min: 0, max: 4 }).map(at),
});

const filter: fc.Arbitrary<RunFilter> = fc.record(
  {
    project: fc.constantFrom(...PROJECTS, "gone"),
    workflowId: fc.constantFrom("a", "b"),
    status: fc.array(fc.constantFrom(...RunStatus.options), { minLength: 1, maxLength: 7 }),
    trigger: fc.constantFrom(...RunTrigger.options),
    isTrial: fc.boolean(),
    retryOf: fc.constantFrom("run_000", "run_001"),
    since: fc.integer({ min: 0, max: 4 }).map(at),
    until: fc.integer({ min: 0, max: 5 }).map(at),
    visibility: fc.option(
      fc.record({
        projects: fc.option(fc.subarray(PROJECTS)),
        workflows: fc.option(fc.subarray(["a", "b"])),
      }),
    ),
  },
  { requiredKeys: [] },
);

/** Whether a run is in a list, computed without SQL. */
const isListed = (run: Stored, by: RunFilter): boolean =>
  (by.project === undefined || run.project === by.project) &&
  (by.workflowId === undefined || run.workflowId === by.workflowId) &&
  (by.status === undefined || by.status.includes(run.status)) &&
  (by.trigger === undefined ? run.trigger !== "backtest" : run.trigger === by.trigger) &&
  (by.isTrial === undefined || run.isTrial === by.isTrial) &&
  (by.retryOf === undefined || run.retryOf === by.retryOf) &&
  (by.since === undefined || run.createdAt >= by.since) &&
  (by.until === undefined || run.createdAt < by.until) &&
  (by.visibility?.projects ?? PROJECTS).includes(run.project) &&
  ((by.visibility?.workflows ?? WORKFLOWS) as readonly (string | null)[]).includes(run.workflowId) &&
  (run.trigger !== "backtest" || (by.visibility?.workflows ?? WORKFLOWS).includes(run.source));

async function listedStore() {
  const opened = await testStore();
  await opened.store.transaction(async (trx) => {
    for (const id of PROJECTS.slice(1))
      await sql`insert into projects (id, name, description, connections, review, created_at, created_by)
        values (${id}, ${id}, '', '[]', 0, ${at(0)}, 'operator')`.execute(trx);
  });
  for (const name of ["a", "b"]) await opened.create({ name });
  return opened;
}

async function fill(
  { store }: Awaited<ReturnType<typeof testStore>>,
  runs: readonly Stored[],
): Promise<void> {
  await store.transaction(async (trx) => {
    await trx.deleteFrom("runs").execute();
    for (const run of runs)
      await sql`
        insert into runs (id, project, workflow_id, version, status, states, seq, admitted, "trigger", priority, depth,
          first_run, owner, key_name, lineage, surface, client, created_at, inputs, stored_bytes, trial, retry_of, replay)
        values (${run.id}, ${run.project}, ${run.workflowId}, 1, ${run.status}, '', 1, 1, ${run.trigger}, 0, 0,
          ${run.id}, 'operator', 'ci', 'key_1', 'rest', 'vitest', ${run.createdAt}, '{}', 0, ${run.isTrial ? "{}" : null}, ${run.retryOf},
          ${run.trigger === "backtest" ? JSON.stringify({ workflowId: run.source }) : null})`.execute(trx);
  });
}

/** The plans of the queries of a list and of its count. */
async function plansOf(file: string, by: RunFilter): Promise<string[]> {
  const db = new Database(file);
  const queries: { sql: string; parameters: readonly unknown[] }[] = [];
  const logged = new Kysely<Schema>({
    dialect: sqliteDialect(db, { exclusive: false, assertInPlace: () => {}, onFailure: () => {} }),
    log: ({ query }) => void queries.push(query),
  });
  onTestFinished(() => logged.destroy());
  await newestRuns(logged, { filter: by, after: [at(3), "run_1"], limit: 51 });
  await countRuns(logged, by);
  return queries.flatMap(({ sql: text, parameters }) =>
    (db.prepare(`explain query plan ${text}`).all(parameters) as { detail: string }[]).map(
      ({ detail }) => detail,
    ),
  );
}

/** A plan with one of the indexes that have no replays, or in which each trigger has a range of its own. */
const WITHOUT_REPLAYS =
  /USING (COVERING )?INDEX runs_(listed|listed_by_project|listed_by_workflow|trials|retries|by_status|by_workflow_status)\b/;

const LIMITED = { projects: ["legal", "sales"], workflows: null };
const optional = (one: RunFilter): RunFilter[] => [{}, one];

describe("lists of runs", () => {
  it("equal a scan of all rows, in every combination of filters and page size", async () => {
    const opened = await listedStore();
    const read = runReader(opened.store.read);
    await fc.assert(
      fc.asyncProperty(
        fc.array(stored, { maxLength: 25 }),
        fc.array(fc.tuple(filter, fc.integer({ min: 1, max: 6 })), { minLength: 5, maxLength: 10 }),
        async (rows, queries) => {
          const runs = rows.map((row, index) => ({ ...row, id: `run_${String(index).padStart(3, "0")}` }));
          await fill(opened, runs);
          for (const [by, limit] of queries) {
            const expected = runs
              .filter((run) => isListed(run, by))
              .toSorted((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? 1 : -1))
              .map(({ id }) => id);
            const ids: string[] = [];
            for (let after: ListPosition | null = null; ;) {
              const { items, next } = await read.page({ filter: by, after, limit });
              expect(next === null || items.length === limit).toBe(true);
              ids.push(...items.map(({ id }) => id));
              if (next === null) break;
              after = next;
            }
            expect({ by, ids }).toEqual({ by, ids: expected });
            expect(await read.count(by)).toBe(expected.length);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("read an index in order, without reading or sorting other rows", async () => {
    const { store } = await listedStore();
    const parts: RunFilter[][] = [
      optional({ project: "legal" }),
      optional({ workflowId: "a" }),
      [{}, { status: ["failed"] }, { status: ["failed", "cancelled"] }],
      optional({ trigger: "mcp" }),
      optional({ visibility: LIMITED }),
      optional({ since: at(1) }),
    ];
    const filters = parts.reduce(
      (all, part) => all.flatMap((one) => part.map((other) => Object.assign({}, one, other))),
      [{}],
    );
    const trials: RunFilter[] = [
      { isTrial: true },
      { trigger: "backtest" },
      { trigger: "backtest", isTrial: true, workflowId: "a" },
      { trigger: "backtest", visibility: { projects: ["legal"], workflows: ["a", "b"] } },
      { retryOf: "run_1", until: at(4) },
      { isTrial: false, status: ["failed"], since: at(1) },
    ];
    for (const by of [...filters, ...trials]) {
      const plans = await plansOf(store.directory.databaseFile, by);
      const ofRuns = plans.filter((detail) => /\bruns\b/.test(detail));
      expect(ofRuns.length).toBeGreaterThan(0);
      for (const detail of ofRuns)
        expect({ by, detail }).toEqual({
          by,
          detail: expect.stringMatching(WITHOUT_REPLAYS) as string,
        });
      // Runs of the same moment may be sorted by their ids.
      const sorts = plans.filter((detail) => /TEMP B-TREE FOR (?!LAST TERM)/.test(detail));
      expect({ by, sorts }).toEqual({ by, sorts: [] });
    }
  });
});
