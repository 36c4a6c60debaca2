import { describe, expect, it } from "vitest";
import { createProject } from "../../tools/projects/create-project.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { HOUR } from "../../src/core/clock.ts";
import { createSqliteFile } from "../support/databases.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";
import { callAs, signedInUser } from "../support/users.ts";

const SETS = { steps: [{ id: "set", type: "set", values: { n: 1 } }] };
const WAITS = { steps: [{ id: "wait", type: "wait", for: "10d" }] };
const ASKS = { steps: [{ id: "ask", type: "sql", query: "SELECT * FROM orders" }] };
const NO_DEFAULTS = {
  runs_per_hour: null,
  unfinished_runs: null,
  stored_bytes: null,
  mails_per_hour: null,
  mails_to_address_per_hour: null,
};

async function open(limits: object, perKey: object = {}) {
  const clock = fakeClock();
  const dataset = createSqliteFile(
    temporaryDirectory(),
    "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2), (3)",
  );
  const config = {
    databases: [{ name: "shop", type: "sqlite", dataset }],
    defaults: { database: "shop" },
    limits: { per_key: { ...NO_DEFAULTS, ...perKey } },
  };
  const instance = await testInstance({ clock, config });
  await instance.executor({ config });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const admin = callAs(instance, root.principal);
  await admin(createProject, { name: "Finance", connections: "all", limits });
  await admin(createProject, { name: "Sales", connections: "all" });
  const { url } = await instance.rest({ config });
  const keyOf = async (...projects: string[]) =>
    apiClient(url, (await instance.key({ name: "ci", projects })).value);
  const [one, other, sales] = [await keyOf("finance"), await keyOf("finance"), await keyOf("sales")];
  return {
    instance,
    clock,
    one,
    other,
    sales,
    limit: (change: object, project = "finance") => admin(updateProject, { project, limits: change }),
    async define(call: typeof one, definition: object): Promise<string> {
      const { body } = await call("POST", "/workflows", { name: "Test", definition });
      expect(body.issues).toEqual([]);
      return body.id as string;
    },
    start: (call: typeof one, id: string, wait = 0) => call("POST", `/workflows/${id}/runs`, { wait }),
    counts: async () =>
      (await instance.store.read.selectFrom("usage_counts").select(["holder", "kind", "used"]).execute()).map(
        ({ holder, kind, used }) => `${holder} ${kind}: ${used}`,
      ),
  };
}

describe("the limits of a project", () => {
  it("count the runs of all its keys together, and name the project", async () => {
    const { one, other, sales, define, start, clock, counts } = await open({ runs_per_hour: 2 });
    const id = await define(one, SETS);
    expect([(await start(one, id)).status, (await start(other, id)).status]).toEqual([202, 202]);
    const refused = await start(one, id);
    expect(expectProblem(refused, "too_many_runs").detail).toBe(
      'The project "finance" has used all of its 2 runs of this hour (runs_per_hour of the project); more are available ' +
        "from 2026-11-21T09:00:00.000Z. The run was not started. Start it again then, or ask the operator for a higher limit.",
    );
    expect((await start(sales, await define(sales, SETS))).status).toBe(202);
    // Only what is limited is counted.
    expect(await counts()).toEqual(["project:finance runs: 2"]);
    clock.advance(HOUR);
    expect((await start(one, id)).status).toBe(202);
  });

  it("count nothing for an owner of what the project refuses", async () => {
    const { instance, one, define, start, counts } = await open({ runs_per_hour: 2 }, { runs_per_hour: 50 });
    const inner = await define(one, SETS);
    const outer = await define(one, {
      steps: [
        { id: "a", type: "workflow", workflow: inner },
        { id: "b", type: "workflow", workflow: inner, needs: ["a"] },
      ],
    });
    const { status, body } = await start(one, outer, 20);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "failed", error: { code: "limit_reached", step_id: "b" } });
    const lineages = (await instance.keys.list()).map(({ lineage }) => lineage);
    const [ofOwner, ...others] = (await counts()).toSorted();
    expect(others).toEqual(["project:finance runs: 2"]);
    expect(lineages.map((lineage) => `${lineage} runs: 2`)).toContain(ofOwner);
  });

  it("hold unfinished runs, beside the limit of each owner", async () => {
    const { one, other, sales, define, start, limit } = await open(
      { unfinished_runs: 3 },
      { unfinished_runs: 2 },
    );
    const id = await define(one, WAITS);
    expect([(await start(one, id)).status, (await start(one, id)).status]).toEqual([202, 202]);
    expect(expectProblem(await start(one, id), "too_many_runs").detail).toContain(
      '2 runs of "ci" of operator are unfinished, which is the maximum (limits.per_key.unfinished_runs)',
    );
    expect((await start(other, id)).status).toBe(202);
    expect(expectProblem(await start(other, id), "too_many_runs").detail).toContain(
      '3 runs of the project "finance" are unfinished, which is the maximum (unfinished_runs of the project)',
    );
    expect((await start(sales, await define(sales, WAITS))).status).toBe(202);
    await limit({ unfinished_runs: 4 });
    expect((await start(other, id)).status).toBe(202);
  });

  it("stop steps that read more rows than are left, and show what is left", async () => {
    const { one, sales, define, start, counts } = await open({ rows_per_day: 5 });
    const id = await define(one, ASKS);
    expect((await start(one, id, 20)).body).toMatchObject({ status: "succeeded" });
    const { body } = await one("GET", "/environment");
    expect(body["your_limits"]).toEqual([
      { limit: "rows_per_day", project: "finance", most: 5, left: 2, resets_at: "2026-11-22T00:00:00.000Z" },
    ]);
    expect((await sales("GET", "/environment")).body["your_limits"]).toBeUndefined();
    expect((await start(one, id, 20)).body).toMatchObject({ status: "succeeded" });
    expect((await start(one, id, 20)).body).toMatchObject({
      status: "failed",
      error: {
        code: "limit_reached",
        message: expect.stringContaining(
          'The project "finance" has used all of its 5 rows of this day (rows_per_day of the project)',
        ),
      },
    });
    expect(await counts()).toEqual(["project:finance rows: 6"]);
  });

  it("limit what is stored, exactly from the moment that the limit is set", async () => {
    const { instance, one, sales, define, start, limit } = await open({});
    const id = await define(one, SETS);
    expect((await start(one, id, 20)).body).toMatchObject({ status: "succeeded" });
    const stored = await instance.read.usage.storedBytes("project:finance");
    expect(stored).toBeGreaterThan(10);
    await limit({ stored_bytes: stored + 1 });
    expect((await start(one, id, 20)).status).toBe(200);
    expect(expectProblem(await start(one, id), "storage_limit_reached").detail).toContain(
      `What the project "finance" stores has `,
    );
    expect((await one("POST", "/workflows", { name: "More", description: "more" })).body).toMatchObject({
      code: "storage_limit_reached",
    });
    await define(sales, SETS);
    // The default project has what the others do not have.
    const all = await instance.store.read
      .selectFrom("stored_bytes")
      .select((eb) => eb.fn.sum<number>("bytes").as("bytes"))
      .where("subject", "not like", "project:%")
      .executeTakeFirstOrThrow();
    const [inFinance, inSales] = [
      await instance.read.usage.storedBytes("project:finance"),
      await instance.read.usage.storedBytes("project:sales"),
    ];
    expect(inSales).toBeGreaterThan(0);
    expect(await instance.read.usage.storedBytes("project:default")).toBe(all.bytes - inFinance - inSales);
    await limit({ stored_bytes: 1 }, "default");
    const everywhere = apiClient(
      (await instance.rest()).url,
      (await instance.key({ projects: ["default"] })).value,
    );
    expect((await everywhere("POST", "/workflows", { name: "In the default one" })).status).toBe(201);
  });
});
