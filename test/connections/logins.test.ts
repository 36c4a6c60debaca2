import { describe, expect, it } from "vitest";
import { Config } from "../../schemas/config.ts";
import { loginsOf } from "../../src/connections/logins.ts";

const CONFIG = Config.parse({
  databases: [
    {
      name: "shop",
      type: "postgresql",
      dataset: "postgres://reader@db.example.com:5433/shop",
      password_var: "SHOP_PASSWORD",
    },
    { name: "local", type: "sqlite", dataset: "local.db" },
  ],
  models: [{ name: "writer", vendor: "anthropic", model_ref: "w", key_var: "WRITER_KEY" }],
  mcp_servers: [
    { name: "tickets", command: "tickets", env: { TOKEN: "TICKETS_TOKEN" } },
    { name: "wiki", url: "https://wiki.example.com/mcp", key_var: "WIKI_KEY" },
  ],
  authentication: {
    basic: {
      smtp_user: "m@example.com",
      smtp_password_var: "SMTP_PASSWORD",
      smtp_server: "smtp.example.com",
      smtp_port: 587,
    },
  },
});

describe("what a connection logs in with", () => {
  it.each([
    ["database:shop", "SHOP_PASSWORD", "db.example.com:5433"],
    ["model:writer", "WRITER_KEY", "api.anthropic.com"],
    ["mcp_server:tickets", "TICKETS_TOKEN", "this machine"],
    ["mcp_server:wiki", "WIKI_KEY", "wiki.example.com"],
    ["mail", "SMTP_PASSWORD", "smtp.example.com:587"],
  ])("is the variable of %s, with its host", (connection, secret, host) => {
    expect(loginsOf(CONFIG, connection)).toEqual([{ secret, host, connection }]);
  });

  it("is nothing for a file, and for what is not configured", () => {
    for (const entry of ["database:local", "database:none", "model:none", "http", "secret:SHOP_PASSWORD"])
      expect(loginsOf(CONFIG, entry)).toEqual([]);
  });
});
