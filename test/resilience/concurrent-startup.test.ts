import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { runCommand, startProgram } from "../support/process.ts";

describe("processes that start at once on an empty state directory", () => {
  it("all succeed, on one schema and one cursor key", async () => {
    const stateDir = join(temporaryDirectory(), "state");
    const [serve, mcp, ...created] = await Promise.all([
      startProgram("serve", stateDir),
      startProgram("mcp-sse", stateDir),
      ...Array.from({ length: 8 }, (_, i) =>
        runCommand(["keys", "create", "--name", `key ${i}`], { MILLRACE_STATE_DIR: stateDir }),
      ),
    ]);
    for (const { code, out, err } of created)
      expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^mill_\w{36}\n$/), err: "" });

    const key = created[0]!.out.trim();
    for (const { out } of created)
      expect((await apiClient(serve.url, out.trim())("GET", "/workflows")).status).toBe(200);
    expect((await fetch(`${mcp.url}/health`)).status).toBe(200);

    const db = new Database(join(stateDir, "millrace.db"), { readonly: true });
    const { keys, migrations, cursors } = db
      .prepare(
        `select (select count(*) from api_keys) as keys, (select json_group_array(id) from migrations) as migrations,
        (select count(*) from settings where name = 'cursor_key') as cursors`,
      )
      .get() as { keys: number; migrations: string; cursors: number };
    expect({ keys, cursors }).toEqual({ keys: 8, cursors: 1 });
    expect(JSON.parse(migrations)).toEqual(MIGRATIONS.map(({ id }) => id));
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    db.close();

    // Each process accepts the other's cursor, because they share the key.
    for (const name of ["A", "B"])
      await apiClient(serve.url, key)("POST", "/workflows", { name, description: "" });
    const first = await apiClient(serve.url, key)("GET", "/workflows?limit=1");
    const next = /<(.+)>; rel="next"/.exec(first.headers.get("link")!)![1]!;
    const other = await startProgram("serve", stateDir);
    expect((await apiClient(other.url, key)("GET", next)).body).toHaveLength(1);
  });
});
