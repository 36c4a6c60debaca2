import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";
import { runCommand } from "../support/process.ts";
import { mcpHttpServer } from "../support/mcp-server-http.ts";

/** An instance with the project finance, and a configuration with a model, a database with roles, and an MCP server. */
async function open() {
  const { cli, directory, stateDir } = await testCli();
  const { url } = await mcpHttpServer();
  const file = join(directory, "config.yaml");
  writeFileSync(
    file,
    `databases:
  - { name: shop, type: sqlite, dataset: ${join(directory, "shop.db")} }
  - name: warehouse
    type: postgresql
    dataset: postgresql://reports@127.0.0.1:9/none
    roles: [{ name: finance, user: finance }]
models:
  - { name: writer, vendor: openai, model_ref: m, key_var: MISSING }
mcp_servers:
  - { name: crm, url: "${url}" }
  - { name: gone, url: "http://127.0.0.1:9/mcp" }
`,
  );
  await cli("projects", "create", "Finance");
  const grants = (...args: string[]) =>
    runCommand(["grants", ...args], {
      MILLRACE_STATE_DIR: stateDir,
      MILLRACE_CONFIG: file,
      MILLRACE_ALLOW_LOCAL: "1",
    });
  return { cli, grants };
}

describe("millrace grants", () => {
  it("adds, lists and removes what a project may use", async () => {
    const { grants } = await open();
    expect((await grants("list", "finance")).out).toBe("Nothing is granted.\n");
    expect(await grants("add", "finance", "database", "shop", "--access", "read-only")).toMatchObject({
      code: 0,
      out: "finance may use the database shop (read-only) from the next step on.\n",
      err: "",
    });
    expect(await grants("add", "finance", "database", "warehouse", "--role", "finance")).toMatchObject({
      out: "finance may use the database warehouse (role finance) from the next step on.\n",
    });
    expect(await grants("add", "finance", "model", "writer")).toMatchObject({
      out: "finance may use the model writer from the next step on.\n",
    });
    expect((await grants("list", "finance")).out).toMatch(
      /^KIND +NAME +OPTIONS +GRANTED +BY\ndatabase +shop +read-only .* operator\ndatabase +warehouse +role finance .* operator\nmodel +writer +.* operator\n$/,
    );
    const listed = JSON.parse((await grants("list", "finance", "--json")).out) as object[];
    expect(listed).toEqual([
      expect.objectContaining({
        kind: "database",
        name: "shop",
        access: "read-only",
        granted_by: "operator",
      }),
      expect.objectContaining({ kind: "database", name: "warehouse", role: "finance" }),
      expect.objectContaining({ kind: "model", name: "writer" }),
    ]);
    expect(await grants("remove", "finance", "model", "writer")).toMatchObject({
      code: 0,
      out: "finance is not granted the model writer from the next step on.\n",
    });
    expect((await grants("list", "finance")).out).not.toContain("writer");
    const again = await grants("remove", "finance", "model", "writer");
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("writer")]);
  });

  it("says that the default project may use everything", async () => {
    const { grants } = await open();
    expect(await grants("list", "default")).toMatchObject({
      code: 0,
      out: "Nothing is granted.\n",
      err: "default may use everything, because its connections is all.\n",
    });
  });

  it("says what is wrong with names and options, by the names of the options", async () => {
    const { grants } = await open();
    const refused = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await grants("add", ...args);
      expect([code, out]).toEqual([1, ""]);
      return err;
    };
    expect(await refused("finance", "database", "shpo")).toContain("Did you mean shop?");
    expect(await refused("finance", "databse", "shop")).toContain("Did you mean database?");
    expect(await refused("financ", "database", "shop")).toContain('There is no project "financ"');
    expect(await refused("finance", "database", "warehouse", "--role", "finnance")).toContain(
      "--role is not one of the roles of the database warehouse, got finnance. Did you mean finance?",
    );
    expect(await refused("finance", "model", "writer", "--tool", "add")).toContain(
      "--tool is only for the kind mcp_server, not for model",
    );
  });

  it("warns of tools that the MCP server does not list, and grants them", async () => {
    const { grants } = await open();
    const misspelt = await grants(
      "add",
      "finance",
      "mcp_server",
      "crm",
      "--tool",
      "add",
      "fnid",
      "launch_rocket",
    );
    expect(misspelt).toMatchObject({
      code: 0,
      out: "finance may use the mcp_server crm (tools add, fnid, launch_rocket) from the next step on.\n",
    });
    expect(misspelt.err).toMatch(
      /^Warning: --tool is not a tool that crm lists now, got fnid\. Write find, .*\nWarning: --tool is not a tool that crm lists now, got launch_rocket\. Check its name: .*\n$/,
    );
    expect((await grants("add", "finance", "mcp_server", "crm", "--tool", "add", "find")).err).toBe("");
    const unreachable = await grants("add", "finance", "mcp_server", "gone", "--tool", "add");
    expect(unreachable.code).toBe(0);
    expect(unreachable.err).toMatch(/^Warning: --tool could not be compared with the tools of gone: .*\n$/);
  });
});
