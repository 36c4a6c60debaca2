import { type KyselyPlugin, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { RunStatus, RunTrigger } from "../../schemas/run-status.ts";
import type { ListPosition, RunFilter } from "../../src/core/model.ts";
import { runReader } from "../../src/store/run-reader.ts";
import { MAX_SEARCHED_RUNS, MAX_SEARCHED_VALUE_CHARS } from "../../src/store/run-search.ts";
import { storeJson } from "../../src/store/run-values.ts";
import { testStore } from "../support/store.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21) + second * 1_000).toISOString();

/** SQL for one of `names`, by the number `part`. */
const oneOf = (names: readonly string[], part: string) =>
  sql.raw(
    `case (${part}) % ${names.length} ${names.map((name, index) => `when ${index} then '${name}'`).join(" ")} end`,
  );

interface Stored {
  id: string;
  inputs?: unknown;
  output?: unknown;
  error?: object;
  status?: string;
  project?: string;
}

async function storeWith(runs: readonly Stored[]) {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    await sql`insert into projects (id, name, description, connections, review, created_at, created_by)
      values ('legal', 'Legal', '', '[]', 0, ${at(0)}, 'operator')`.execute(trx);
    for (const [index, run] of runs.entries()) {
      const { id, inputs = {}, output, error, status = "succeeded", project = "default" } = run;
      const column = (value: unknown) => storeJson(trx, id, JSON.stringify(value));
      await sql`
        insert into runs (id, project, workflow_id, version, status, states, seq, admitted, "trigger", priority, depth,
          first_run, owner, key_name, lineage, surface, client, created_at, inputs, output, error, stored_bytes)
        values (${id}, ${project}, null, 0, ${status}, '', 1, 1, 'rest', 0, 0, ${id}, 'operator', 'ci', 'key_1', 'rest',
          'vitest', ${at(index)}, ${await column(inputs)}, ${output === undefined ? null : await column(output)},
          ${error === undefined ? null : JSON.stringify(error)}, 0)`.execute(trx);
      await sql`update runs set definition = '{"steps":[{"id":"a","type":"set"}]}'`.execute(trx);
    }
  });
  const read = runReader(store.read);
  const find = async (search: string, filter: RunFilter = {}, limit = 50) => {
    const { items, next } = await read.page({ filter: { ...filter, search }, after: null, limit });
    return { ids: items.map(({ id }) => id), next };
  };
  return { store, read, find };
}

describe("the search of runs", () => {
  it("finds words of ids, inputs, outputs and errors, in any case and order, newest first", async () => {
    const { find } = await storeWith([
      { id: "run_aaaaaaaaaaaa", inputs: { region: "Nord-Straße" } },
      { id: "run_bbbbbbbbbbbb", output: { text: 'he said "no"\nand left' } },
      {
        id: "run_cccccccccccc",
        status: "failed",
        error: { code: "database_failed", message: "no such column: regoin", step_id: "revenue" },
      },
      { id: "run_dddddddddddd", inputs: { region: "NORD-STRASSE north" }, output: { left: true } },
    ]);
    expect((await find("nord-straße")).ids).toEqual(["run_aaaaaaaaaaaa"]);
    expect((await find("REGION")).ids).toEqual(["run_dddddddddddd", "run_aaaaaaaaaaaa"]);
    expect((await find('"no" said')).ids).toEqual(["run_bbbbbbbbbbbb"]);
    expect((await find("column: such revenue")).ids).toEqual(["run_cccccccccccc"]);
    expect((await find("left north")).ids).toEqual(["run_dddddddddddd"]);
    // The names of an error's fields are in every error.
    expect((await find("step_id")).ids).toEqual([]);
    expect((await find("region", { status: ["failed"] })).ids).toEqual([]);
  });

  it("finds runs by the beginning of an id, and only where the filter and the caller allow them", async () => {
    const { find } = await storeWith([
      { id: "run_AAAA00000001", project: "legal", inputs: { secret_plan: 1 } },
      { id: "run_AAAA00000002" },
      { id: "run_BBBB00000003", inputs: { of: "run_AAAA00000002" } },
    ]);
    expect((await find("run_AAAA")).ids).toEqual(["run_AAAA00000002", "run_AAAA00000001"]);
    const limited = { visibility: { projects: ["default"], workflows: null } };
    expect((await find("run_AAAA", limited)).ids).toEqual(["run_AAAA00000002"]);
    expect((await find("secret_plan", limited)).ids).toEqual([]);
    expect((await find("run_AAAA", { status: ["failed"] })).ids).toEqual([]);
    expect((await find("run_bbbb00000003")).ids).toEqual(["run_BBBB00000003"]);
  });

  it("searches the beginning of large values", async () => {
    const long = "x".repeat(MAX_SEARCHED_VALUE_CHARS);
    const { find } = await storeWith([
      { id: "run_early", output: { text: `needle${long}` } },
      { id: "run_late", output: { text: `${long}needle` } },
    ]);
    expect((await find("needle")).ids).toEqual(["run_early"]);
  });

  it("pages through the matches, each once", async () => {
    const { read } = await storeWith(
      Array.from({ length: 30 }, (_, index) => ({
        id: `run_${String(index).padStart(4, "0")}`,
        inputs: { n: index % 3 === 0 ? "match" : "other" },
      })),
    );
    const ids: string[] = [];
    for (let after: ListPosition | null = null; ;) {
      const { items, next } = await read.page({ filter: { search: "match" }, after, limit: 4 });
      ids.push(...items.map(({ id }) => id));
      if (next === null) break;
      after = next;
    }
    expect(ids).toEqual([27, 24, 21, 18, 15, 12, 9, 6, 3, 0].map((n) => `run_${String(n).padStart(4, "0")}`));
  });

  it("finds the runs of a status and trigger in all pages, and reads few keys of many projects", async () => {
    const { store } = await storeWith([]);
    const projects = 60;
    const runs = 6_000;
    await store.transaction(async (trx) => {
      await sql`
        with recursive n (i) as (select 0 union all select i + 1 from n where i < ${projects - 1})
        insert into projects (id, name, description, connections, review, created_at, created_by)
        select 'p' || i, 'p' || i, '', '[]', 0, ${at(0)}, 'operator' from n`.execute(trx);
      await sql`
        with recursive n (i) as (select 0 union all select i + 1 from n where i < ${runs - 1})
        insert into runs (id, project, version, status, states, seq, admitted, "trigger", priority, depth, first_run,
          owner, key_name, lineage, surface, client, created_at, inputs, stored_bytes)
        select 'run_n' || i, 'p' || (i % case when i < ${sql.lit(runs / 2)} then ${sql.lit(projects)} else 2 end), 0, ${oneOf(RunStatus.options, "i / 7")}, '', 1, 1,
          ${oneOf(RunTrigger.options, "i / 3")}, 0, 0, 'run_n' || i, 'operator', 'ci', 'key_1', 'rest', 'vitest',
          strftime('%Y-%m-%dT%H:%M:%fZ', ${at(0)}, '+' || (i / 2) || ' seconds'),
          case when i % 5 = 0 then '{"word":"needle"}' else '{}' end, 0 from n`.execute(trx);
      await sql`update runs set definition = '{"steps":[{"id":"a","type":"set"}]}'`.execute(trx);
    });
    let rows = 0;
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => {
        rows += result.rows.length;
        return Promise.resolve(result);
      },
    };
    const read = runReader(store.read.withPlugin(counter));
    const all = await store.read
      .selectFrom("runs")
      .select(["id", "project", "status", "trigger", "created_at", "inputs"])
      .execute();
    const filters: RunFilter[] = [
      {},
      { trigger: "rest" },
      { status: ["failed"] },
      // More branches than one statement takes.
      { status: ["failed", "cancelled", "succeeded"] },
    ];
    for (const filter of filters) {
      const expected = all
        .filter(
          ({ status, trigger, inputs }) =>
            inputs.includes("needle") &&
            (filter.status?.includes(status) ?? true) &&
            (filter.trigger === undefined || filter.trigger === trigger),
        )
        .toSorted((a, b) => (a.created_at + a.id < b.created_at + b.id ? 1 : -1))
        .map(({ id }) => id);
      const ids: string[] = [];
      for (let after: ListPosition | null = null; ;) {
        const { items, next } = await read.page({
          filter: { ...filter, search: "needle" },
          after,
          limit: 400,
        });
        ids.push(...items.map(({ id }) => id));
        if (next === null) break;
        after = next;
      }
      expect({ filter, ids }).toEqual({ filter, ids: expected });
    }
    const LIMITED = ["p0", "p1"];
    const counted: [RunFilter, (run: (typeof all)[number]) => boolean][] = [
      [{ trigger: "rest" }, ({ trigger }) => trigger === "rest"],
      [{ visibility: { projects: LIMITED, workflows: null } }, ({ project }) => LIMITED.includes(project)],
    ];
    for (const [filter, isListed] of counted) {
      rows = 0;
      await read.page({ filter: { ...filter, search: "missing" }, after: null, limit: 50 });
      // The key and the texts of each run, and the ids of the projects.
      expect(rows).toBeLessThanOrEqual(2 * all.filter(isListed).length + projects + 2);
    }
  });

  it("reads a value once that many runs have", async () => {
    const inputs = { text: "x".repeat(30_000) };
    const { store } = await storeWith(
      Array.from({ length: 50 }, (_, index) => ({ id: `run_${index}`, inputs })),
    );
    const read: number[] = [];
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => {
        read.push(...result.rows.filter((row) => "start" in row).map(({ id }) => id as number));
        return Promise.resolve(result);
      },
    };
    const { items } = await runReader(store.read.withPlugin(counter)).page({
      filter: { search: "xxx" },
      after: null,
      limit: 60,
    });
    expect(items).toHaveLength(50);
    expect(read).toHaveLength(1);
  });

  it("reads a limited number of runs for a page, and continues there", async () => {
    const { store, read, find } = await storeWith([{ id: "run_oldest", inputs: { word: "needle" } }]);
    await store.transaction((trx) =>
      sql`
        with recursive n (i) as (select 1 union all select i + 1 from n where i <= ${MAX_SEARCHED_RUNS})
        insert into runs (id, project, version, status, states, seq, admitted, "trigger", priority, depth, first_run,
          owner, key_name, lineage, surface, client, created_at, inputs, stored_bytes)
        select 'run_n' || i, 'default', 0, 'succeeded', '', 1, 1, 'rest', 0, 0, 'run_n' || i, 'operator', 'ci', 'key_1',
          'rest', 'vitest', ${at(100)}, '{"word":"hay"}', 0 from n`.execute(trx),
    );
    const first = await find("needle");
    expect(first.ids).toEqual([]);
    const second = await read.page({ filter: { search: "needle" }, after: first.next, limit: 50 });
    expect(second).toMatchObject({ items: [{ id: "run_oldest" }], next: null });
  });
});
