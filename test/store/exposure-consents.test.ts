import { describe, expect, it } from "vitest";
import { up } from "../../src/store/migrations/0023-exposure-consents.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";

describe("the migration to consents", () => {
  it("keeps what is exposed, until its next version", async () => {
    const instance = await testInstance();
    const key = (await instance.key({ scopes: ["read", "write", "publish", "run"] })).value;
    const call = apiClient((await instance.rest()).url, key);
    const steps = [{ id: "a", type: "set", values: { n: 1 } }];
    const definition = { expose_as_tool: true, steps };
    for (const name of ["Old", "Draft"])
      await call("POST", "/workflows", { name, description: "", definition });
    await call("POST", "/workflows/old/publish", {});
    await instance.store.transaction(async (trx) => {
      await trx.schema.dropTable("exposure_consents").execute();
      await up(trx as never);
    });

    const agent = await connect("v2 pinned to 2026-07-28", (await instance.mcp()).url, key);
    const tools = async () =>
      (await agent.listTools()).map(({ name }) => name).filter((name) => /old|draft/.test(name));
    expect(await tools()).toEqual(["run_old"]);
    expect((await call("GET", "/workflows/old/exposure")).body).toMatchObject({
      state: "allowed",
      allowed_by: "migration",
    });
    await call("PATCH", "/workflows/old", { description: "Now something else." });
    expect(await tools()).toEqual(["run_old"]);
    expect((await call("POST", "/workflows/old/publish", {})).body.exposure.state).toBe("requested");
    expect(await tools()).toEqual([]);
  });
});
