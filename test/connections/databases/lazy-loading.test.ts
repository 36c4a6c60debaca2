import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const INDEX = new URL("../../../src/connections/databases/index.ts", import.meta.url).href;
const SOURCE = `
  import { createRequire } from "node:module";
  import { createDatabases } from ${JSON.stringify(INDEX)};
  const { cache } = createRequire(${JSON.stringify(INDEX)});
  const loaded = () =>
    ["pg", "mysql2"].filter((name) => Object.keys(cache).some((path) => path.includes("/node_modules/" + name + "/")));
  const entry = (name, type, url) => ({ name, type, dataset: url, access: "read-only" });
  const databases = createDatabases(
    { databases: [entry("p", "postgresql", "postgresql://a@127.0.0.1:1/b"), entry("m", "mysql", "mysql://a@127.0.0.1:1/b")] },
    {},
    { stateDir: "/nonexistent" },
  );
  databases.list();
  const outcomeOf = async (database) => {
    const request = { database, query: "SELECT 1", params: {}, write: false, maxRows: 1, maxBytes: 99 };
    return databases.query(request, { owner: "ada", signal: new AbortController().signal }).then(() => "answered", ({ code }) => code);
  };
  const seen = [loaded()];
  for (const name of ["p", "m"]) seen.push(await outcomeOf(name), loaded());
  await databases.close();
  console.log(JSON.stringify(seen));
`;

describe("the client library of a database server", () => {
  it("is loaded at the first query of such a database, and not before", () => {
    const text = execFileSync(process.execPath, ["--input-type=module", "--eval", SOURCE], {
      encoding: "utf8",
    });
    expect(JSON.parse(text)).toEqual([
      [],
      "database_unavailable",
      ["pg"],
      "database_unavailable",
      ["pg", "mysql2"],
    ]);
  });
});
