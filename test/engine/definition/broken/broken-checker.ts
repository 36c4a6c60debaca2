/** A checker with the real step types, a database with orders, and connections that the broken definitions use. */
import { join } from "node:path";
import { Config } from "../../../../schemas/config.ts";
import { systemClock } from "../../../../src/core/clock.ts";
import type { Connections } from "../../../../src/core/connections.ts";
import { createConnections } from "../../../../src/connections/index.ts";
import { fixedSecrets } from "../../../../src/core/secret-source.ts";
import { type Checker, checker } from "../../../../src/engine/definition/check/index.ts";
import { stepTypes } from "../../../../src/steps/index.ts";
import { childProgram } from "../../../support/child-program.ts";
import { createSqliteFile } from "../../../support/databases.ts";

const SQL = "CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, total REAL, ordered_on TEXT)";

const WEEK = { type: "object", properties: { week: { type: "string" } }, required: ["week"] };

/** @param directory where the files of the databases are made */
export function brokenChecker(directory: string): { checker: Checker; close(): Promise<void> } {
  const config = Config.parse({
    databases: [{ name: "shop", type: "sqlite", dataset: createSqliteFile(directory, SQL) }],
    models: [{ name: "writer", vendor: "anthropic", model_ref: "m", key_var: "MODEL_KEY" }],
    defaults: { database: "shop" },
  });
  const options = {
    stateDir: join(directory, "state"),
    version: "0",
    now: systemClock.now,
    childProgram: childProgram(),
  };
  const connected = createConnections(config, fixedSecrets({ MODEL_KEY: "x" }), options);
  const connections: Connections = {
    ...connected,
    mailer: {
      ...connected.mailer,
      unavailableReason: () => null,
      allowedDomains: () => ["example.com"],
    },
    mcpServers: {
      ...connected.mcpServers,
      list: () => [{ name: "crm", type: "stdio", unavailableReason: null }],
      tools: () =>
        Promise.resolve([
          {
            name: "find_customer",
            description: "",
            inputSchema: { type: "object", properties: { email: { type: "string" } }, required: ["email"] },
            outputSchema: null,
            readOnly: true,
          },
        ]),
    },
  };
  const known = new Map<string, Record<string, unknown>>([
    [
      "weekly-revenue",
      { inputs: WEEK, steps: [{ id: "best", type: "set", values: { best_region: "north" } }] },
    ],
    ["tell-the-team", { steps: [{ id: "sent", type: "set", values: {} }] }],
  ]);
  const made = checker({
    stepTypes,
    connections,
    workflows: {
      find: (id) => {
        const definition = known.get(id);
        return Promise.resolve(definition && { status: "published", definition });
      },
      ids: () => Promise.resolve([...known.keys()]),
    },
  });
  return { checker: made, close: () => connected.close() };
}
