/** Fills a state directory with runs and workflows by SQL: a million take seconds instead of hours. */
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Seed } from "./bench.ts";
import { type Program, startMillrace } from "./program.ts";

/** The id of a workflow with three steps, which `addTemplate` creates. */
export const TEMPLATE_WORKFLOW = "three";

/** Adds a workflow and a run of it to the seed. @returns the id of the run */
export async function addTemplate(seed: Seed): Promise<string> {
  const server: Program = await startMillrace("serve", seed.stateDir);
  const post = async (path: string, body: unknown): Promise<{ id: string }> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { "X-API-Key": seed.key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string };
  };
  const steps = ["a", "b", "c"].map((id) => ({ id, type: "set", values: { x: id } }));
  await post("/workflows", { name: TEMPLATE_WORKFLOW, definition: { steps, output: "${{ steps.c.x }}" } });
  const { id } = await post(`/workflows/${TEMPLATE_WORKFLOW}/runs`, { wait: 10 });
  await server.stop();
  return id;
}

/** Time over which the runs are spread, in days: as in a month of use, whatever their number. */
const SPREAD_DAYS = 30;

/** What to add to a state. */
export interface Growth {
  runs?: number;
  /** How long before now the newest run ended, in days. */
  age?: number;
  workflows?: number;
}

/** SQL for the columns of a generated run; all others are those of the template. `n` is its number, from 1. */
const runColumns = (count: number, age: number): Record<string, string> => {
  const at = `strftime('%Y-%m-%dT%H:%M:%fZ', julianday('now') - ${age} - (${count} - n) * ${SPREAD_DAYS}.0 / ${count})`;
  return {
    id: "printf('run_grown%07d', n)",
    first_run: "printf('run_grown%07d', n)",
    workflow_id: "(select id from grown_ids where number = n % (select count(*) from grown_ids))",
    status: "case when n % 100 < 3 then 'failed' when n % 100 = 3 then 'cancelled' else 'succeeded' end",
    trigger:
      "case n % 10 when 0 then 'mcp' when 1 then 'schedule' when 2 then 'cli' when 3 then 'web' else 'rest' end",
    error: `case when n % 100 < 3 then '{"code":"http_status","message":"GET http://peer answered 503."}' end`,
    created_at: at,
    started_at: at,
    finished_at: at,
  };
};

const WORKFLOW_COLUMNS: Record<string, string> = {
  id: "printf('grown-%06d', n)",
  name: "printf('Grown workflow %06d', n)",
  name_key: "printf('grown workflow %06d', n)",
  tags: `printf('["finance","team-%d"]', n % 1000)`,
  search_text:
    "lower(printf('grown-%06d', n) || char(10) || printf('Grown workflow %06d', n) || char(10) || 'finance' || char(10) || printf('team-%d', n % 1000) || char(10) || t.description)",
  created_at: "strftime('%Y-%m-%dT%H:%M:%fZ', 1780000000 + n, 'unixepoch')",
  updated_at: "strftime('%Y-%m-%dT%H:%M:%fZ', 1780000000 + n, 'unixepoch')",
};

/**
 * Adds rows that are like those that are there. No process may have the state open.
 * @param templateRun the id of a run, which the generated ones are copies of, with its steps
 */
export function growState(stateDir: string, templateRun: string, growth: Growth): void {
  const { runs = 0, age = 0, workflows = 0 } = growth;
  const db = new Database(join(stateDir, "millrace.db"));
  db.pragma("synchronous = OFF");
  db.exec(
    "create temp table grown_ids as select row_number() over (order by id) - 1 as number, id from workflows",
  );
  db.exec("create index temp.grown_numbers on grown_ids (number)");
  const copy = (table: string, where: string, count: number, changed: Record<string, string>): void => {
    const columns = (
      db.pragma(`table_xinfo("${table}")`) as { name: string; hidden: number; pk: number; type: string }[]
    ).filter(({ hidden }) => hidden === 0);
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const values = columns.map(({ name }) => changed[name] ?? `t."${name}"`).join(", ");
    db.prepare(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
       insert into "${table}" (${names}) select ${values} from numbers, "${table}" t where ${where}`,
    ).run();
  };
  db.transaction(() => {
    if (workflows > 0) {
      copy("workflows", "t.id = (select min(id) from workflows)", workflows, WORKFLOW_COLUMNS);
      db.exec(`update counters set value = value + ${workflows} where name like 'workflows%'`);
    }
    if (runs === 0) return;
    copy("runs", `t.id = '${templateRun}'`, runs, runColumns(runs, age));
    for (const table of ["run_steps", "run_attempts"])
      copy(table, `t.run_id = '${templateRun}'`, runs, { run_id: "printf('run_grown%07d', n)" });
  })();
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
