import { describe, expect, it } from "vitest";
import { Config, type UnusableEntry } from "../../schemas/config.ts";
import { createConnections } from "../../src/connections/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { CORRECT_ENTRY } from "../../src/core/unusable-entries.ts";
import type { SqlRequest } from "../../src/core/connections.ts";
import { testEngine } from "../support/engine.ts";
import { stepErrorOf } from "../support/mock-http-server.ts";
import { callOf } from "../support/call-context.ts";

const unusable: UnusableEntry[] = (["databases", "models", "mcp_servers", "secrets"] as const).map(
  (list) => ({
    list,
    name: "broken",
    issues: [`${list}[0].x is required`],
  }),
);

const STEPS = [
  ["databases", { type: "sql", database: "broken", query: "SELECT 1 AS x" }],
  ["models", { type: "model", model: "broken", prompt: "Hello" }],
  ["mcp_servers", { type: "tool", server: "broken", tool: "x" }],
  [
    "secrets",
    { type: "http", url: "https://example.com/", headers: { authorization: { secret: "broken" } } },
  ],
] as const;

describe("a step that needs an entry of the configuration that can't be used", () => {
  it.each(STEPS)("has an issue that says what is wrong with it: %s", async (list, step) => {
    const { engine } = await testEngine({ unusable });
    const report = await engine.check(
      { steps: [{ id: "a", ...step }] },
      { checkConnections: true, signal: new AbortController().signal },
    );
    expect(report.errors).toHaveLength(1);
    const { path, message, fix } = report.errors[0]!;
    expect(path).toMatch(/^steps\[0\]/);
    expect(message).toContain(`its entry in the configuration is not valid: ${list}[0].x is required`);
    expect(fix).toBe(CORRECT_ENTRY);
  });

  it.each(["databases", "models", "mcpServers"] as const)(
    "fails as environment when it runs: %s",
    async (kind) => {
      const connections = createConnections({ ...Config.parse({}), unusable }, fixedSecrets({}), {
        stateDir: "/",
        version: "0",
        now: Date.now,
      });
      const { signal } = new AbortController();
      const work = {
        databases: () =>
          connections.databases.query(
            {
              database: "broken",
              query: "SELECT 1",
              params: {},
              write: false,
              maxRows: 1,
              maxBytes: 100,
            } as SqlRequest,
            callOf(signal),
          ),
        models: () => connections.models.generate({ model: "broken", prompt: "Hello" }, callOf(signal)),
        mcpServers: () => connections.mcpServers.call("broken", "x", {}, {} as never, callOf(signal)),
      }[kind];
      const error = await stepErrorOf(work());
      expect(error.code).toBe("environment");
      expect(error.message).toContain("its entry in the configuration is not valid");
    },
  );
});
