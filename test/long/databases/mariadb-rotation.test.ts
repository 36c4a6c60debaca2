import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { createDatabases } from "../../../src/connections/databases/index.ts";
import { callOf } from "../../support/call-context.ts";
import { type MariaDb, startMariaDb } from "../../support/mariadb.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";
import { secretFiles } from "../../support/secrets.ts";

let server: MariaDb;
beforeAll(async () => {
  server = await startMariaDb("CREATE TABLE t (a INT);");
}, 60_000);
afterAll(() => server.stop());

const SECOND = "second-s3cret";

describe("the password of a MariaDB login", () => {
  it("can be replaced while connections are open: no statement fails", async () => {
    const files = secretFiles({ SHOP_PASSWORD: server.password });
    const databases = createDatabases(
      Config.parse({
        databases: [{ name: "shop", type: "mariadb", dataset: server.url, password_var: "SHOP_PASSWORD" }],
      }),
      files.secrets,
      { stateDir: "/nonexistent/state" },
    );
    onTestFinished(() => databases.close());
    const query = async (text: string) => {
      const limits = { write: false, maxRows: 10, maxBytes: 10_000, keepTruncated: true };
      return (await databases.query({ database: "shop", query: text, params: {}, ...limits }, callOf())).rows;
    };
    const [first] = await query("SELECT CONNECTION_ID() AS id");
    await server.run(`ALTER USER reports@'%' IDENTIFIED BY '${SECOND}'`);
    // The open connection needs no password, and a second one is refused.
    expect(await query("SELECT CONNECTION_ID() AS id")).toEqual([first]);
    const both = () =>
      Promise.all([query("SELECT SLEEP(0.3) AS a"), query("SELECT CONNECTION_ID() AS id")] as const);
    expect((await stepErrorOf(both())).code).toBe("environment");
    files.replace("SHOP_PASSWORD", SECOND);
    const [, [second]] = await both();
    expect(second).not.toEqual(first);
    expect(files.secrets.formerValues("SHOP_PASSWORD")).toEqual([server.password]);
  });
});
