import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createDatabases } from "../../../src/connections/databases/index.ts";
import { callOf } from "../../support/call-context.ts";
import { eventually } from "../../support/eventually.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { secretFiles } from "../../support/secrets.ts";

let server: Postgres;
let owner: Client;
beforeAll(async () => {
  server = await startPostgres();
  owner = await server.connect();
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const FIRST = "first-s3cret";
const SECOND = "second-s3cret";
const setPassword = (password: string) => owner.query(`ALTER ROLE reports PASSWORD '${password}'`);

/** A database whose login has a password in a file, which nobody has seen to change yet. */
async function setUp() {
  await owner.query("DROP ROLE IF EXISTS reports");
  await owner.query(`CREATE ROLE reports LOGIN PASSWORD '${FIRST}'`);
  const files = secretFiles({ REPORTS_PASSWORD: FIRST });
  const databases = createDatabases(
    Config.parse({
      databases: [
        {
          name: "shop",
          type: "postgresql",
          dataset: server.url("postgres", "reports"),
          password_var: "REPORTS_PASSWORD",
        },
      ],
    }),
    files.secrets,
    { stateDir: "/nonexistent/state" },
  );
  onTestFinished(() => databases.close());
  const query = async (text: string) => {
    const limits = { write: false, maxRows: 10, maxBytes: 10_000, keepTruncated: true };
    return (await databases.query({ database: "shop", query: text, params: {}, ...limits }, callOf())).rows;
  };
  return { files, query };
}

const sleeping = () =>
  eventually(async () => {
    const { rows } = await owner.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'reports' AND state = 'active'",
    );
    return rows[0]!.n === 1 || undefined;
  }, "the long query");

describe("the password of a database login", () => {
  it("can be replaced while connections are open: no query fails", async () => {
    const { files, query } = await setUp();
    const [{ pid }] = (await query("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    await setPassword(SECOND);
    files.replace("REPORTS_PASSWORD", SECOND);
    // The open connection needs no password.
    expect(await query("SELECT pg_backend_pid() AS pid")).toEqual([{ pid }]);
    // While it is in use, a new one is refused with the former password, and made with the new one.
    const long = query("SELECT pg_sleep(1) IS NULL AS done, pg_backend_pid() AS pid");
    await sleeping();
    const [other] = (await query("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    expect(other.pid).not.toBe(pid);
    expect(await long).toEqual([{ done: false, pid }]);
    expect(files.secrets.formerValues("REPORTS_PASSWORD")).toEqual([FIRST]);
  });

  it("that is refused and not replaced is an error that names no password, until it is replaced", async () => {
    const { files, query } = await setUp();
    await setPassword(SECOND);
    const error = await stepErrorOf(query("SELECT 1"));
    expect(error.code).toBe("environment");
    expect(error.message).not.toContain("s3cret");
    files.replace("REPORTS_PASSWORD", SECOND);
    expect(await query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("is read again once for each refused connection, however many are refused", async () => {
    const { files, query } = await setUp();
    await setPassword("a third one");
    const queries = await Promise.allSettled(Array.from({ length: 20 }, () => query("SELECT 1")));
    expect(queries.every(({ status }) => status === "rejected")).toBe(true);
    await setPassword(FIRST);
    expect(await query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect(files.secrets.formerValues("REPORTS_PASSWORD")).toEqual([]);
  });
});
