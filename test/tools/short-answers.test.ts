/** What an agent reads in one call, and what it can leave out. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { connect, outputOf, problemOf } from "../support/mcp.ts";
import { scriptedMcpServer } from "../support/scripted-mcp-server.ts";

function database(name: string, tables: number, text = "a") {
  const dataset = join(temporaryDirectory(), `${name}.db`);
  const db = new DatabaseSync(dataset);
  for (let index = 0; index < tables; index += 1) {
    const columns = [
      "n integer not null",
      ...Array.from({ length: 20 }, (_, column) => `column_${column} text`),
    ];
    db.exec(`create table t${String(index).padStart(3, "0")} (${columns.join(", ")})`);
  }
  db.prepare("insert into t000 (n, column_0) values (1, ?)").run(text);
  db.close();
  return { name, type: "sqlite", dataset };
}

async function open(databases: object[] = [], more: object = {}) {
  const config = { databases, ...more };
  const instance = await testInstance();
  await instance.executor({ config });
  const [rest, mcp] = [await instance.rest({ config }), await instance.mcp({ config })];
  const { value } = await instance.key();
  const client = await connect("v2 pinned to 2026-07-28", mcp.url, value);
  return {
    client,
    get: apiClient(rest.url, value),
    ask: async (name: string, args = {}) => outputOf(await client.call(name, args)),
  };
}

const steps = (value: number) => ({ steps: [{ id: "a", type: "set", values: { value } }] });
const SCHEDULE = { cron: "0 8 * * *" };

describe("describe_environment", () => {
  it("has the columns of tables as far as they fit, then names, and says what can't be read", async () => {
    const gone = { name: "gone", type: "sqlite", dataset: join(temporaryDirectory(), "gone.db") };
    const { ask, get } = await open([database("large", 90), gone]);
    const { tables } = await ask("describe_environment", { fields: ["tables"] });
    const [large, broken] = tables;
    expect(large.tables[0]).toMatch(/^t000 \(1 rows\): n INTEGER, column_0 TEXT\?, /i);
    expect(large.tables.join("").length).toBeLessThanOrEqual(2_500);
    expect(large.others).toHaveLength(40);
    expect(large.others[0]).toBe(`t${String(large.tables.length).padStart(3, "0")}`);
    expect(large.total).toBe(90);
    expect(broken).toEqual({ database: "gone", tables: [], unreadable: expect.stringMatching(/\S/) });
    // The editor asks often, so REST asks the databases only for those who want it.
    expect((await get("GET", "/environment")).body).not.toHaveProperty("tables");
    expect((await get("GET", "/environment?fields=tables")).body).toEqual({ tables });
  });
});

describe("describe_environment without fields", () => {
  it("has the arguments of tools as far as they fit, and fields names all", async () => {
    const listed = Array.from({ length: 40 }, (_, index) => ({
      name: `find_customers_by_region_${index}`,
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(
          ["region", "segment", "since", "limit"].map((name) => [`${name}_of_customers`, {}]),
        ),
        required: ["region_of_customers"],
      },
    }));
    const servers = await Promise.all(
      ["crm", "erp"].map(async (name) => ({
        name,
        url: (await scriptedMcpServer({ "tools/list": JSON.stringify({ tools: listed }) })).url,
      })),
    );
    const { ask } = await open([], { mcp_servers: servers });
    const { tools } = await ask("describe_environment");
    for (const { tools: shown, others } of tools) {
      expect(shown.join("").length).toBeLessThanOrEqual(1_500);
      expect(shown[0]).toBe(
        "find_customers_by_region_0(region_of_customers*, segment_of_customers, since_of_customers, limit_of_customers)",
      );
      expect(shown.length + others.length).toBe(40);
      expect(others.at(-1)).toBe("find_customers_by_region_39");
    }
    const { tools: all } = await ask("describe_environment", { fields: ["tools"] });
    expect(all).toMatchObject([{ tools: { length: 40 } }, { tools: { length: 40 } }]);
    expect(all[0]).not.toHaveProperty("others");
  });

  it("leaves out limits of which more than half is left, and that there is no limit of uses", async () => {
    const limits = { per_key: { runs_per_hour: 3, unfinished_runs: 2 } };
    const { ask } = await open([database("shop", 1)], { limits });
    const names = async (args = {}) =>
      ((await ask("describe_environment", args))["your_limits"] ?? []).map(
        ({ limit }: { limit: string }) => limit,
      );
    expect(await names()).toEqual([]);
    expect(await names({ fields: ["your_limits"] })).toEqual(expect.arrayContaining(["runs_per_hour"]));
    await ask("create_workflow", { name: "A", definition: steps(1) });
    for (let run = 0; run < 2; run += 1) await ask("run_workflow", { workflow_id: "a" });
    expect(await names()).toEqual(["runs_per_hour"]);
    const [shop] = (await ask("describe_environment"))["databases"];
    expect(Object.keys(shop)).toEqual(["name", "type", "access"]);
    const [whole] = (await ask("describe_environment", { fields: ["databases"] }))["databases"];
    expect(whole).toMatchObject({ concurrency: null });
  });
});

describe("the workflows of describe_environment", () => {
  it("are named while they are few, and counted when they are many", async () => {
    const { ask, get } = await open();
    const workflows = async () => (await ask("describe_environment", { fields: ["workflows"] }))["workflows"];
    expect(await workflows()).toEqual({ total: 0, items: [] });
    for (let index = 0; index < 10; index += 1) await ask("create_workflow", { name: `W ${index}` });
    const ten = await workflows();
    expect([ten.total, ten.items.length, ten.items[0]]).toEqual([10, 10, { id: "w-0", name: "W 0" }]);
    await ask("create_workflow", { name: "W 10" });
    expect(await workflows()).toEqual({ total: 11 });
    expect(await ask("describe_environment")).toMatchObject({ workflows: { total: 11 } });
    // The editor asks often and does not need them.
    expect((await get("GET", "/environment")).body).not.toHaveProperty("workflows");
  });

  it("are left out for a key that may not list workflows", async () => {
    const instance = await testInstance();
    const { url } = await instance.mcp();
    const { value } = await instance.key({ limits: { tools: ["describe_environment"] } });
    const client = await connect("v2 pinned to 2026-07-28", url, value);
    expect(outputOf(await client.call("describe_environment"))).not.toHaveProperty("workflows");
  });
});

describe("describe_database", () => {
  it("names the tables that do not fit into an answer over MCP, and cuts long texts of samples with their length", async () => {
    const { ask, get } = await open([database("large", 90, "x".repeat(5_000))]);
    const { tables, others } = await ask("describe_database", { database: "large", samples: true });
    expect(JSON.stringify(tables).length).toBeLessThan(12_100);
    expect(tables.length + others.length).toBe(90);
    expect(tables[0].sample[0].column_0).toBe(`${"x".repeat(200)}… (5000 characters)`);
    const { body } = await get("GET", "/environment/databases/large");
    expect([body.tables.length, body.others]).toEqual([90, undefined]);
  });
});

describe("fields", () => {
  it("select the fields of an answer, or of the items of a list, besides the id", async () => {
    const { ask } = await open();
    await ask("create_workflow", { name: "A", definition: steps(1) });
    expect(await ask("get_workflow", { workflow_id: "a", fields: ["version"] })).toEqual({
      id: "a",
      version: 1,
    });
    expect(await ask("list_workflows", { fields: "name,tags" })).toEqual({
      items: [{ id: "a", name: "A", tags: [] }],
      total: 1,
      next_cursor: null,
    });
  });

  it("with an unknown name refuse nothing: the answer warns about it, with the allowed names", async () => {
    const { ask, client } = await open();
    await ask("create_workflow", { name: "A", definition: steps(1) });
    const published = await ask("publish_workflow", {
      workflow_id: "a",
      fields: ["published_version", "isues", 5],
    });
    expect(published).toEqual({
      id: "a",
      published_version: 1,
      warnings: [
        {
          path: "fields",
          code: "not_allowed",
          message: "has names that are no fields of this answer: isues, 5",
          allowed: expect.arrayContaining(["published_version", "warnings"]),
        },
      ],
    });
    const listed = await ask("list_workflows", { fields: "name,statsu" });
    expect(listed).toMatchObject({
      items: [{ id: "a", name: "A" }],
      warnings: [{ path: "fields", did_you_mean: "status" }],
    });
    expect(Object.keys(listed["items"][0])).toEqual(["id", "name"]);
    // An unknown argument is refused as before: it could be meant to change something.
    const refused = problemOf(await client.call("publish_workflow", { workflow_id: "a", feilds: ["id"] }));
    expect(refused).toMatchObject({ code: "invalid_input", errors: [{ path: "feilds" }] });
  });
});

describe("the items of lists over MCP", () => {
  it("have what an agent chooses by, and the answer says how to get the rest; REST returns all", async () => {
    const { ask, get } = await open();
    const description = `${"Sums the orders of a region. ".repeat(6)}Ends here.`;
    await ask("create_workflow", { name: "A", description, tags: ["x"], definition: steps(1) });
    const { items, next, total } = await ask("list_workflows");
    expect([items, total]).toEqual([
      [{ id: "a", name: "A", description: `${description.slice(0, 100)}…`, status: "draft" }],
      1,
    ]);
    expect(next).toBe(
      "fields brings what is cut or left out: description, tags, version, created_at, updated_at, created_by.",
    );
    const named = await ask("list_workflows", { fields: ["description", "version"] });
    expect(named).toEqual({ items: [{ id: "a", description, version: 1 }], total: 1, next_cursor: null });
    // What the call asks for is in the answer.
    expect((await ask("list_workflows", { include: ["last_run"] }))["items"][0]).toMatchObject({
      last_run: null,
    });
    expect(await ask("list_workflows", { search: "nothing" })).not.toHaveProperty("next");
    const { body } = await get("GET", "/workflows");
    expect(body).toMatchObject([{ description, version: 1, tags: ["x"] }]);
  });

  it("say of a run what the call has not named: its workflow, version, status, time and error", async () => {
    const { ask, get } = await open();
    await ask("create_workflow", { name: "A", definition: steps(1) });
    await ask("create_workflow", {
      name: "B",
      definition: { steps: [{ id: "b", type: "assert", that: "false", message: "No orders." }] },
    });
    await ask("run_workflow", { workflow_id: "a" });
    await ask("run_workflow", { workflow_id: "b" });
    const { items, next } = await ask("list_runs");
    const [id, created_at] = [expect.any(String) as string, expect.any(String) as string];
    const error = { code: "assert_failed", message: "No orders.", step_id: "b" };
    expect(items).toEqual([
      {
        id,
        workflow_id: "b",
        version: 1,
        status: "failed",
        created_at,
        error: expect.objectContaining(error),
      },
      { id, workflow_id: "a", version: 1, status: "succeeded", created_at },
    ]);
    expect(next).toBe("fields brings what is cut or left out: trigger, started_at, finished_at.");
    const ofOne = await ask("list_runs", { workflow_id: "a", values: ["output.value"] });
    expect(ofOne["items"]).toEqual([
      { id, version: 1, status: "succeeded", created_at, values: { "output.value": 1 } },
    ]);
    expect((await ask("list_runs", { fields: ["error", "trigger"] }))["items"][1]).toEqual({
      id,
      error: null,
      trigger: "mcp",
    });
    expect((await get("GET", "/runs?workflow_id=a")).body[0]).toMatchObject({
      workflow_id: "a",
      error: null,
    });
  });
});

describe("the definition in answers over MCP", () => {
  it("is left out where the caller sent it or nothing changed it, unless fields names it; REST returns it", async () => {
    const { ask, get } = await open();
    await ask("create_workflow", { name: "A", definition: steps(1) });
    const [workflow_id, definition] = ["a", steps(2)];
    expect(await ask("update_workflow", { workflow_id, definition })).toMatchObject({
      version: 2,
      issues: [],
    });
    for (const [name, args] of [
      ["update_workflow", { definition: steps(3) }],
      ["update_workflow", { name: "B" }],
      ["update_workflow", { name: "B", patch: null }],
      ["publish_workflow", {}],
    ] as const) {
      const answer = await ask(name, { workflow_id, ...args });
      expect([name, args, Object.keys(answer)]).toEqual([
        name,
        args,
        expect.arrayContaining(["id", "version"]),
      ]);
      expect([name, args, answer]).toEqual([
        name,
        args,
        expect.not.objectContaining({ definition: expect.anything() }),
      ]);
    }
    const shown = { id: "a", definition: steps(3) };
    expect(await ask("publish_workflow", { workflow_id, fields: ["definition"] })).toEqual(shown);
    const { body } = await get("PATCH", "/workflows/a", { definition: steps(5) });
    expect(body).toMatchObject({ definition: steps(5) });
  });
});

/** Steps of which each reads the one before it. */
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `step_${index}`,
    type: "set",
    description: `Adds what part ${index} of the report says.`,
    values: {
      text: `Row ${index} of the report for the team`,
      value: index === 0 ? "1" : `\${{ steps.step_${index - 1}.value }}`,
    },
  }));

describe("an edit of one step", () => {
  it.each([15, 30, 120])("of %i sends at most 400 characters and reads at most 2 KB", async (count) => {
    const { client, ask } = await open();
    const created = await ask("create_workflow", { name: "A", definition: { steps: many(count) } });
    expect(created).not.toHaveProperty("definition");
    const [reading, changing] = [
      { workflow_id: "a", steps: ["step_7"] },
      { workflow_id: "a", patch: [{ op: "update_step", id: "step_7", set: { values: { value: "2" } } }] },
    ];
    const read = await client.call("get_workflow", reading);
    expect(outputOf(read)).toMatchObject({ version: 1, steps: [many(8)[7]] });
    expect(outputOf(read)).not.toHaveProperty("definition");
    const changed = await client.call("update_workflow", changing);
    expect(outputOf(changed)).toMatchObject({
      version: 2,
      status: "draft",
      issues: [],
      changed: ["steps.step_7"],
    });
    expect(JSON.stringify([reading, changing]).length).toBeLessThanOrEqual(400);
    expect(read.content[0]!.text.length + changed.content[0]!.text.length).toBeLessThanOrEqual(2_048);
  });

  it("names the parts that a patch has changed, on each surface, also where references and the order did", async () => {
    const { ask, get } = await open();
    const definition = { steps: many(4), output: "${{ steps.step_3.value }}" };
    await ask("create_workflow", { name: "A", definition });
    const patched = async (...patch: object[]) =>
      (await ask("update_workflow", { workflow_id: "a", patch }))["changed"];
    expect(await patched({ op: "rename_step", id: "step_3", to: "last" })).toEqual([
      "output",
      "steps.step_3",
      "steps.last",
    ]);
    expect(await patched({ op: "remove_step", id: "last" }, { op: "update_top", unset: ["output"] })).toEqual(
      ["output", "steps.last"],
    );
    expect(await patched({ op: "move_step", id: "step_0", after: "step_1" })).toEqual(["steps"]);
    expect(
      await patched({ op: "update_step", id: "step_0", set: { description: many(1)[0]!.description } }),
    ).toEqual([]);
    const { body } = await get("PATCH", "/workflows/a", {
      patch: [{ op: "add_step", step: { id: "new", type: "set", values: {} } }],
    });
    expect(body).toMatchObject({ changed: ["steps.new"], definition: { steps: { length: 4 } } });
    // A definition that was sent as a whole is known.
    expect((await get("PATCH", "/workflows/a", { definition })).body).not.toHaveProperty("changed");
  });

  it("reads single steps on each surface, and names the ids where one is wrong", async () => {
    const { ask, get, client } = await open();
    await ask("create_workflow", { name: "A", definition: { steps: many(3) } });
    expect((await get("GET", "/workflows/a?steps=step_2,step_0")).body.steps).toEqual([
      many(3)[2],
      many(3)[0],
    ]);
    const wrong = problemOf(
      await client.call("get_workflow", { workflow_id: "a", steps: ["step2", "step_1"] }),
    );
    expect(wrong).toMatchObject({
      code: "invalid_input",
      errors: [
        {
          path: "steps[0]",
          code: "unknown_step",
          allowed: ["step_0", "step_1", "step_2"],
          did_you_mean: "step_2",
        },
      ],
    });
    await ask("create_workflow", { name: "Empty" });
    const empty = problemOf(await client.call("get_workflow", { workflow_id: "empty", steps: "a" }));
    expect(empty).toMatchObject({
      errors: [{ path: "steps[0]", code: "unknown_step", allowed: [] }],
    });
  });
});

describe("a workflow with a newer draft", () => {
  it("shows the published definition beside it, its versions with their reasons, and the next times", async () => {
    const { ask } = await open();
    await ask("create_workflow", { name: "A", definition: { ...steps(1), schedule: SCHEDULE } });
    const published = await ask("publish_workflow", { workflow_id: "a" });
    expect(published["next_runs"]).toHaveLength(5);
    expect(published["next_runs"][0]).toMatch(/T08:00:00\+00:00$/);
    expect(await ask("get_workflow", { workflow_id: "a" })).not.toHaveProperty("published_definition");

    const saved = await ask("update_workflow", { workflow_id: "a", definition: steps(2), reason: "Two" });
    expect(saved["next"]).toBe("Version 2 is a draft; version 1 stays live until publish_workflow.");
    const include = ["versions", "schedule"];
    expect(await ask("get_workflow", { workflow_id: "a", version: 1, include })).toMatchObject({
      version: 2,
      definition: steps(2),
      published_definition: { ...steps(1), schedule: SCHEDULE },
      requested_version: { version: 1, change: "created", definition: { schedule: SCHEDULE } },
      versions: [
        { version: 2, reason: "Two", key_name: "test" },
        { version: 1, reason: null },
      ],
      schedule: {
        version: 1,
        next_runs: published["next_runs"].map((time: string) => new Date(time).toISOString()),
      },
    });
  });
});

describe("validate_workflow and plan_workflow", () => {
  it("return only the fields that are named, and a preview that a model can read", async () => {
    const { ask } = await open();
    const definition = steps(1);
    expect(await ask("validate_workflow", { definition, fields: ["valid"] })).toEqual({ valid: true });
    const long = { steps: [{ id: "a", type: "set", values: { list: "${{ range(3000) }}" } }] };
    const { preview } = await ask("validate_workflow", { definition: long, mocks: {} });
    expect(preview).toMatchObject({ truncated: true, lists: { "steps.a.values.list": 3_000 } });
    expect(preview.preview.length).toBeLessThanOrEqual(4_000);
    await ask("create_workflow", { name: "One", definition });
    const plan = await ask("plan_workflow", { workflow_id: "one", fields: ["words"] });
    expect(Object.keys(plan)).toEqual(["words"]);
  });
});
