import { describe, expect, it } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createConnections } from "../../src/connections/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { callOf } from "../support/call-context.ts";
import { childProgram } from "../support/child-program.ts";
import { createSqliteFile } from "../support/databases.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { stepErrorOf } from "../support/mock-http-server.ts";

const KEY = "vendor-key-1234";

/** A database whose table contains a key of the configuration. */
function databasesWithKey() {
  const directory = temporaryDirectory();
  const dataset = createSqliteFile(
    directory,
    `CREATE TABLE notes (id INTEGER, text TEXT); INSERT INTO notes VALUES (1, 'the key ${KEY}'), (2, 'none')`,
    "notes.db",
  );
  const config = Config.parse({
    databases: [{ name: "notes", type: "sqlite", dataset }],
    models: [{ name: "m", vendor: "openai", model_ref: "x", key_var: "KEY" }],
  });
  return createConnections(config, fixedSecrets({ KEY }), {
    stateDir: temporaryDirectory(),
    version: "0",
    now: Date.now,
    childProgram: childProgram(),
  });
}

const query = {
  database: "notes",
  params: {},
  write: false,
  maxRows: 10,
  maxBytes: 10_000,
  keepTruncated: false,
};

describe("secrets in what a database returns", () => {
  it("are masked in rows and samples, and other rows stay as they are", async () => {
    const { databases, close } = databasesWithKey();
    const { rows } = await databases.query(
      { ...query, query: "SELECT text FROM notes ORDER BY id" },
      callOf(),
    );
    expect(rows).toEqual([{ text: "the key ***" }, { text: "none" }]);
    expect(
      JSON.stringify(await databases.describe("notes", { samples: 2, limit: 10 }, callOf())),
    ).not.toContain(KEY);
    await close();
  });

  it("are masked in errors", async () => {
    const { databases, close } = databasesWithKey();
    const error = await stepErrorOf(
      databases.query({ ...query, query: `SELECT "${KEY}" FROM notes WHERE nope = 1` }, callOf()),
    );
    expect(error.message).not.toContain(KEY);
    await close();
  });
});
