import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createConnections } from "../../../src/connections/index.ts";
import { limitConnections, NOTHING } from "../../../src/core/connection-view.ts";
import type { Connections } from "../../../src/core/connections.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { callOf } from "../../support/call-context.ts";
import { PASSWORD, type Postgres, startPostgres } from "../../support/postgres.ts";

let server: Postgres;
let owner: Client;

beforeAll(async () => {
  server = await startPostgres();
  owner = await server.connect();
  await owner.query(`
    CREATE TABLE sales (id int); INSERT INTO sales VALUES (1);
    CREATE TABLE salaries (id int); INSERT INTO salaries VALUES (2);
    CREATE ROLE "sales team" LOGIN PASSWORD 'sales password'; GRANT SELECT, INSERT ON sales TO "sales team";
    CREATE ROLE hr LOGIN PASSWORD 'the hr password'; GRANT SELECT ON salaries TO hr;`);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const ENV = { SHOP: PASSWORD, SALES_PASSWORD: "sales password", HR_PASSWORD: "the hr password" };
const ROLES = [
  { name: "sales", user: "sales team", password_var: "SALES_PASSWORD" },
  { name: "people", user: "hr", password_var: "HR_PASSWORD" },
];

function open(more: object = {}, env: Record<string, string> = ENV) {
  const config = Config.parse({
    databases: [
      {
        name: "shop",
        type: "postgresql",
        dataset: server.url(),
        access: "read-write",
        password_var: "SHOP",
        roles: ROLES,
        ...more,
      },
    ],
    defaults: { database: "shop" },
  });
  const all = createConnections(config, fixedSecrets(env), {
    stateDir: "/nonexistent",
    version: "0",
    now: () => 0,
  });
  onTestFinished(() => all.close());
  const as = (role?: string, readOnly = false): Connections =>
    limitConnections(all, {
      ...NOTHING,
      databases: new Map([["shop", { ...(role !== undefined && { role }), ...(readOnly && { readOnly }) }]]),
    });
  return { all, as };
}

const run = async ({ databases }: Connections, query: string, write = false) =>
  (
    await databases.query(
      { database: "shop", query, params: {}, write, maxRows: 10, maxBytes: 10_000, keepTruncated: true },
      callOf(),
    )
  ).rows;
const asked = (connections: Connections, query: string) =>
  connections.databases.prepare({ database: "shop", query, params: [], write: false }, callOf());

describe("a database that is granted with a role", () => {
  it("is used with the login of that role, and each project reads only its tables", async () => {
    const { all, as } = open();
    const [sales, people] = [as("sales"), as("people")];
    const who = "select session_user::text as login, current_user::text as name";
    expect(await run(all, who)).toEqual([{ login: "postgres", name: "postgres" }]);
    expect(await run(sales, who)).toEqual([{ login: "sales team", name: "sales team" }]);
    expect(await run(people, who)).toEqual([{ login: "hr", name: "hr" }]);
    expect(await run(sales, "select * from sales")).toEqual([{ id: 1 }]);
    expect(await run(people, "select * from salaries")).toEqual([{ id: 2 }]);
    await expect(run(sales, "select * from salaries")).rejects.toMatchObject({
      message: expect.stringContaining("permission denied for table salaries"),
    });
    await expect(run(people, "select * from sales")).rejects.toMatchObject({
      message: expect.stringContaining("permission denied for table sales"),
    });
  });

  it("can't leave its role from SQL, because it never was another one", async () => {
    const sales = open().as("sales");
    for (const text of ["reset role", "set role postgres", "set session authorization default", "reset all"])
      await expect(run(sales, text, true)).rejects.toMatchObject({ code: "database_read_only" });
    const set = "select set_config('role', 'postgres', false) as role";
    await expect(run(sales, set)).rejects.toMatchObject({
      message: expect.stringContaining("permission denied"),
    });
    const none =
      "select set_config('role', 'none', false), set_config('session_authorization', 'default', false)";
    await run(sales, none).catch(() => undefined);
    expect(await run(sales, "select current_user::text as name")).toEqual([{ name: "sales team" }]);
  });

  it("checks and describes with that login too", async () => {
    const { as } = open();
    expect(await asked(as("sales"), "select id from sales")).toMatchObject({ columns: [{ name: "id" }] });
    // PostgreSQL checks permissions when a statement runs, and shows its catalogue to every login.
    expect(await asked(as("people"), "select id from nothing")).toMatchObject({
      issues: [{ path: ["query"] }],
    });
    const tables = async (role: string) =>
      (await as(role).databases.describe("shop", { samples: 1, limit: 10 }, callOf())).map(
        ({ name }) => name,
      );
    expect(await tables("sales")).toEqual(["sales"]);
    expect(await tables("people")).toEqual(["salaries"]);
  });

  it("writes only where the configuration and the grant allow it", async () => {
    const { as } = open();
    await run(as("sales"), "insert into sales values (7)", true);
    expect(await run(as("sales"), "select id from sales where id = 7")).toEqual([{ id: 7 }]);
    await expect(run(as("sales", true), "insert into sales values (8)", true)).rejects.toMatchObject({
      code: "database_read_only",
    });
    await expect(
      run(open({ access: "read-only" }).as("sales"), "insert into sales values (8)", true),
    ).rejects.toMatchObject({
      code: "database_read_only",
    });
  });

  it("is another target of cached outputs than the database with its own login", () => {
    const { all, as } = open();
    const targets = [all, as("sales"), as("people")].map((one) =>
      JSON.stringify(one.targetOf("database:shop")),
    );
    expect(new Set(targets).size).toBe(3);
    expect(JSON.stringify(all.configurationOf("database:shop"))).not.toContain("sales");
    expect(as("sales").configurationOf("database:shop")).toMatchObject({
      role: { name: "sales", user: "sales team" },
    });
    expect(as().targetOf("database:shop")).toEqual(all.targetOf("database:shop"));
  });

  it("never uses the database's own password, nor another login when its variable is not set", async () => {
    const { as } = open({}, { SHOP: PASSWORD });
    expect(as("sales").databases.list()).toMatchObject([
      { name: "shop", unavailableReason: expect.stringContaining("SALES_PASSWORD") },
    ]);
    await expect(run(as("sales"), "select 1")).rejects.toMatchObject({ code: "environment" });
    const without = open({ roles: [{ name: "sales", user: "sales team" }] });
    await expect(run(without.as("sales"), "select 1")).rejects.toThrow(/password/i);
  });

  it("can't be used when its role is no longer configured, with a reason", async () => {
    const { as } = open();
    expect(as("auditor").databases.list()).toMatchObject([
      { name: "shop", unavailableReason: expect.stringContaining("roles must contain auditor") },
    ]);
    await expect(run(as("auditor"), "select 1")).rejects.toMatchObject({ code: "environment" });
  });

  it("takes its login before one that the URL names as a parameter", async () => {
    const dataset = `${server.url()}?user=postgres&password=${encodeURIComponent(PASSWORD)}`;
    const { as } = open({ dataset });
    expect(await run(as("people"), "select current_user::text as name")).toEqual([{ name: "hr" }]);
  });

  it("masks the passwords of all roles in what statements return", async () => {
    const { all, as } = open();
    for (const connections of [all, as("sales")])
      expect(await run(connections, "select 'x the hr password y' as a, 'sales password' as b")).toEqual([
        {
          a: expect.not.stringContaining("the hr password"),
          b: expect.not.stringContaining("sales password"),
        },
      ]);
  });

  it("shares the places of the database: the roles together run no more statements than it allows", async () => {
    const { all, as } = open({ concurrency: 2 });
    const views = [all, as("sales"), as("people")];
    await Promise.all(views.map((one) => run(one, "select 1")));
    const statements = views.flatMap((one, at) =>
      [1, 2].map((n) =>
        one.databases.query(
          {
            database: "shop",
            query:
              "select pg_sleep(0.1), (select count(*) from pg_stat_activity where state = 'active' and application_name = 'millrace' and query like '%pg_sleep%')::int as n",
            params: {},
            write: false,
            maxRows: 1,
            maxBytes: 100,
            keepTruncated: true,
          },
          callOf(undefined, `${at} ${n}`),
        ),
      ),
    );
    const counts = (await Promise.all(statements)).map(({ rows }) => rows[0]!["n"] as number);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });
});
