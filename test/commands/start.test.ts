import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import type { Io } from "../../src/commands/io.ts";
import { createSamples } from "../../src/commands/samples.ts";
import { testCli } from "../support/command-line.ts";
import { apiClient } from "../support/http.ts";

const nothing = (): void => {};

/** Runs the first step of `start` in this process. */
function samples(stateDir: string, env: Record<string, string> = {}) {
  const variables = { MILLRACE_STATE_DIR: stateDir, ...env };
  const io: Io = {
    out: nothing,
    err: nothing,
    terminal: false,
    errTerminal: false,
    env: variables,
    onExit: nothing,
  };
  return createSamples(io, readEnvironment(variables));
}

const OWN = "name: Own\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";

describe("the first start", () => {
  it("creates a sample database and workflows that run at once, and prints how to run them", async () => {
    const { begin, cli, stateDir } = await testCli();
    const { child, ended, text } = await begin(
      ["start", "--port", "0", "--mcp-port", "0"],
      /Press Ctrl-C to stop both servers/,
      {
        MILLRACE_BASE_URL: "http://flows.example.com/web",
        MILLRACE_MCP_URL: "http://flows.example.com/agents",
      },
    );
    // On this machine, with the paths that pages and clients know.
    expect(text()).toMatch(/Web {4}http:\/\/127\.0\.0\.1:\d+\/web\/ui\//);
    expect(text()).toMatch(/MCP {4}http:\/\/127\.0\.0\.1:\d+\/agents\/mcp/);
    expect(readdirSync(join(stateDir, "samples"))).toEqual(["shop.db"]);
    // In another terminal, which does not have the variables of this one.
    const there = `MILLRACE_STATE_DIR=${stateDir} npx millrace`;
    expect(text()).toContain(`${there} run weekly-revenue --watch`);
    expect(text()).toContain(`Create your admin account: ${there} users setup-link`);
    expect(text().replaceAll(there, "")).not.toContain("npx millrace");
    const base = /-d '\{"wait": 30\}' (http:\S+)\/workflows\/weekly-revenue\/runs/.exec(text())![1]!;
    const call = apiClient(base, (await cli("keys", "create", "--name", "test")).out.trim());
    for (const id of ["weekly-revenue", "lost-customers", "plan-and-sales"]) {
      const { body } = await call("POST", `/workflows/${id}/runs`, { wait: 30 });
      expect(body).toMatchObject({ workflow_id: id, status: "succeeded" });
    }
    const { body } = await call("GET", "/workflows");
    const listed = (body as { id: string; status: string }[]).map(({ id, status }) => [id, status] as const);
    expect(Object.fromEntries(listed)).toEqual({
      "lost-customers": "published",
      "plan-and-sales": "published",
      // The status stays until a model is configured.
      "revenue-in-words": "draft",
      "weekly-revenue": "published",
    });
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  it("does not change an existing configuration", async () => {
    const { stateDir } = await testCli();
    const config = join(stateDir, "config.yaml");
    writeFileSync(config, "limits: {}\n");
    expect(await samples(stateDir)).toBe(false);
    expect(readFileSync(config, "utf8")).toBe("limits: {}\n");
    const named = await testCli();
    expect(await samples(named.stateDir, { MILLRACE_CONFIG: config })).toBe(false);
    for (const directory of [stateDir, named.stateDir])
      expect(existsSync(join(directory, "samples"))).toBe(false);
  });

  it("does not change existing workflows, and creates nothing twice", async () => {
    const { stateDir } = await testCli({ own: OWN });
    expect(await samples(stateDir)).toBe(false);
    expect(existsSync(join(stateDir, "config.yaml"))).toBe(false);
    const first = await testCli();
    expect(await samples(first.stateDir)).toBe(true);
    expect(await samples(first.stateDir)).toBe(false);
  });

  it("continues an interrupted first start", async () => {
    const [whole, half] = [await testCli(), await testCli()];
    await samples(whole.stateDir);
    const config = readFileSync(join(whole.stateDir, "config.yaml"));
    writeFileSync(join(half.stateDir, "config.yaml"), config);
    expect(await samples(half.stateDir)).toBe(true);
    expect(existsSync(join(half.stateDir, "samples/shop.db"))).toBe(true);
  });
});
