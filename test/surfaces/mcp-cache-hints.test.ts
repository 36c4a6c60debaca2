/** How long clients may keep answers: the fields of 2026-07-28, which earlier revisions do not have. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { MINUTE } from "../../src/core/clock.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import type { Json } from "../support/json.ts";
import { modernRequest, openMcp, openSession, postMessage } from "../support/raw-mcp.ts";

const GUIDE = "millrace://guide/sql";

/** Asks as a client of 2026-07-28. */
async function openModern() {
  const { instance, url, key } = await openMcp();
  const ask = async (method: string, params: object = {}): Promise<Json> => {
    const { headers, body } = modernRequest(key, method, params);
    const { uri } = params as { uri?: string };
    const named = { ...headers, ...(uri !== undefined && { "Mcp-Name": uri }) };
    const { result, error } = (await postMessage(`${url}/mcp`, named, body)).json();
    expect(error).toBeUndefined();
    return result;
  };
  return { instance, url, key, ask };
}

describe("a client of 2026-07-28", () => {
  it.each([
    ["tools/list", MINUTE],
    ["prompts/list", 5 * MINUTE],
    ["resources/templates/list", 5 * MINUTE],
    ["server/discover", 5 * MINUTE],
    // It has the newest runs and their statuses.
    ["resources/list", 0],
  ])("may keep the answer to %s for %i ms, for itself", async (method, ttlMs) => {
    const { ask } = await openModern();
    expect(await ask(method)).toMatchObject({ ttlMs, cacheScope: "private" });
  });

  it("may keep the guide, and nothing that changes with runs", async () => {
    const { instance, ask } = await openModern();
    expect(await ask("resources/read", { uri: GUIDE })).toMatchObject({
      ttlMs: 60 * MINUTE,
      cacheScope: "private",
    });
    await instance.executor();
    const { url } = await instance.rest();
    const author = apiClient(url, (await instance.key()).value);
    const definition = { steps: [{ id: "said", type: "set", values: { n: 1 } }] };
    const { body: workflow } = await author("POST", "/workflows", { name: "Kept", definition });
    const { body: run } = await author("POST", `/workflows/${workflow.id}/runs`, { wait: 20 });
    for (const uri of [
      `millrace://workflows/${workflow.id}`,
      `millrace://runs/${run.id}`,
      `millrace://runs/${run.id}/values/steps.said.output`,
    ])
      expect(await ask("resources/read", { uri })).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  });

  it("takes a list of tools from its cache until a notice says that it has changed", async () => {
    const { instance, url, key } = await openMcp();
    const { value } = await instance.key({ scopes: ["read", "write", "publish", "admin"] });
    const rest = apiClient((await instance.rest()).url, value);
    const methods: (string | null)[] = [];
    let changed = 0;
    const client = new Client(
      { name: "keeps", version: "1" },
      {
        versionNegotiation: { mode: { pin: "2026-07-28" } },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void (changed += 1) } },
      },
    );
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: key },
      fetch(to, init) {
        methods.push(new Headers(init?.headers).get("mcp-method"));
        return fetch(to, init);
      },
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const lists = () => methods.filter((method) => method === "tools/list").length;
    const first = await client.listTools();
    expect(await client.listTools()).toEqual(first);
    expect(lists()).toBe(1);
    const definition = { expose_as_tool: true, steps: [{ id: "said", type: "set", values: { n: 1 } }] };
    const { body: workflow } = await rest("POST", "/workflows", { name: "Say it", definition });
    await rest("POST", `/workflows/${workflow.id}/publish`, {});
    const { digest } = (await rest("GET", `/workflows/${workflow.id}/exposure`)).body;
    await rest("POST", `/workflows/${workflow.id}/exposure/allow`, { digest });
    await eventually(() => changed > 0 || undefined, "the notice");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run_say_it");
    expect(lists()).toBe(2);
  });
});

describe("a client of an earlier revision", () => {
  it("gets no fields that its revision does not have", async () => {
    const { url, key } = await openMcp();
    for (const headers of [key, await openSession(url, key)])
      for (const [method, field, params] of [
        ["tools/list", "tools", {}],
        ["prompts/list", "prompts", {}],
        ["resources/list", "resources", {}],
        ["resources/templates/list", "resourceTemplates", {}],
        ["resources/read", "contents", { uri: GUIDE }],
      ] as const) {
        const answer = await postMessage(`${url}/mcp`, headers, { jsonrpc: "2.0", id: 2, method, params });
        expect(Object.keys(answer.json().result)).toEqual([field]);
      }
  });
});
