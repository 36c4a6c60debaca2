import { describe, expect, it } from "vitest";
import { api } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

async function open() {
  const instance = await testInstance();
  const { url } = await instance.rest();
  const { value } = await instance.key();
  return { instance, url, call: api(url, value) };
}

describe("the HTTP API", () => {
  it("creates a workflow with 201, Location and ETag, and lists it", async () => {
    const { call } = await open();
    const created = await call("POST", "/workflows", { name: "Weekly revenue", description: "By region" });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe("/workflows/weekly-revenue");
    expect(created.headers.get("etag")).toBe('"1"');
    const list = await call("GET", "/workflows");
    expect(list.body).toMatchObject([{ id: "weekly-revenue", status: "draft", version: 1 }]);
    expect(list.body[0]).not.toHaveProperty("definition");
  });
});
