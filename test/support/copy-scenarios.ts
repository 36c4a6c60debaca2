/** What several copies of the listeners must do as one, whichever copy gets a request. */
import { expect } from "vitest";
import { apiClient } from "./http.ts";
import type { LoadBalancer } from "./load-balancer.ts";
import { type ClientName, MCP_CLIENTS, CLIENT_NAMES, connect, outputOf } from "./mcp.ts";

/** Copies of each listener on one state behind load balancers, and a key. */
export interface Copies {
  rest: LoadBalancer;
  mcp: LoadBalancer;
  key: string;
  /** Revokes the key through one of them. */
  revoke(): Promise<void>;
}

/** The copies that got some of the matching requests, from the nth on. */
const tookPart = ({ forwarded }: LoadBalancer, request: RegExp, from = 0): number[] =>
  [
    ...new Set(
      forwarded
        .slice(from)
        .filter((one) => request.test(one.request))
        .map(({ to }) => to),
    ),
  ].toSorted((a, b) => a - b);

// Each of these works through the load balancers and returns the copies that took part.

export async function crud({ rest, key }: Copies): Promise<number[]> {
  const call = apiClient(rest.url, key);
  // All copies have the empty list in their caches.
  for (let i = 0; i < 4; i += 1) expect((await call("GET", "/workflows")).body).toEqual([]);
  const created = await call("POST", "/workflows", { name: "Weekly revenue", description: "" });
  expect(created.status).toBe(201);
  const path = created.headers.get("location")!;
  for (let version = 1; version < 6; version += 1) {
    for (const list of [await call("GET", "/workflows"), await call("GET", "/workflows")]) {
      expect(list.body).toMatchObject([{ id: "weekly-revenue", version }]);
    }
    const whole = await call("GET", path);
    expect(whole.body.version).toBe(version);
    const ifMatch = { "If-Match": whole.headers.get("etag")! };
    const change = { description: `Edit ${version}` };
    expect((await call("PATCH", path, change, ifMatch)).status).toBe(200);
    expect((await call("PATCH", path, { description: "Lost" }, ifMatch)).status).toBe(412);
  }
  expect((await call("DELETE", path)).body.status).toBe("archived");
  expect((await call("GET", "/workflows")).body).toEqual([]);
  expect((await call("PATCH", path, { name: "Late" })).status).toBe(409);
  expect((await call("POST", `${path}/restore`)).body).toMatchObject({ status: "draft", version: 8 });
  expect((await call("GET", `${path}/versions`)).body).toHaveLength(8);
  return tookPart(rest, /^PATCH/);
}

export async function mcpSession({ mcp, rest, key }: Copies, way: ClientName): Promise<number[]> {
  const before = mcp.forwarded.length;
  const client = await connect(way, mcp.url, key);
  expect(client.version).toBe(MCP_CLIENTS[way].version);
  expect((await client.listTools()).length).toBeGreaterThan(0);
  const { id } = outputOf(await client.call("create_workflow", { name: `From ${way}` }));
  for (let version = 1; version < 6; version += 1) {
    const changed = await client.call("update_workflow", {
      workflow_id: id,
      description: `Edit ${version}`,
      if_match: version,
    });
    expect(outputOf(changed)).toMatchObject({ id, version: version + 1 });
  }
  expect((await apiClient(rest.url, key)("GET", `/workflows/${id}`)).body).toMatchObject({ version: 6 });
  await client.close();
  return tookPart(mcp, /^POST/, before);
}

/** Returns the number of messages of an SSE client that reached a copy without its stream. */
export async function relayedMessages({ mcp, key }: Copies): Promise<number> {
  const before = mcp.forwarded.length;
  const client = await connect("v1 over SSE", mcp.url, key);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.call("create_workflow", { name: `Number ${index}` })),
  );
  expect(answers.map((answer) => outputOf(answer)["name"])).toEqual(
    Array.from({ length: 20 }, (_, index) => `Number ${index}`),
  );
  await client.close();
  const requests = mcp.forwarded.slice(before);
  const holder = requests.find(({ request }) => request === "GET /sse")!.to;
  return requests.filter(({ to, request }) => to !== holder && request === "POST /messages").length;
}

export async function concurrentCreates({ rest, mcp, key }: Copies): Promise<number[]> {
  const before = rest.forwarded.length;
  const call = apiClient(rest.url, key);
  const client = await connect("v2 pinned to 2026-07-28", mcp.url, key);
  const ids = await Promise.all([
    ...Array.from({ length: 10 }, async () => {
      const { status, body } = await call("POST", "/workflows", { name: "Same name", description: "" });
      expect(status).toBe(201);
      return body.id as string;
    }),
    ...Array.from(
      { length: 10 },
      async () => outputOf(await client.call("create_workflow", { name: "Same name" })).id as string,
    ),
  ]);
  const expected = ["same-name", ...Array.from({ length: 19 }, (_, index) => `same-name-${index + 2}`)];
  expect(ids.toSorted()).toEqual(expected.toSorted());
  return tookPart(rest, /^POST/, before);
}

export async function oneEffect({ rest, mcp, key }: Copies): Promise<number[]> {
  const before = rest.forwarded.length;
  const call = apiClient(rest.url, key);
  const input = { name: "Only once", description: "" };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => call("POST", "/workflows", input, { "Idempotency-Key": "once" })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  // The idempotency key belongs to the principal on every surface.
  const client = await connect("v2 pinned to 2026-07-28", mcp.url, key);
  const again = await client.call("create_workflow", { ...input, idempotency_key: "once" });
  expect(outputOf(again)).toEqual(answers[0]!.body);
  expect((await call("GET", "/workflows?search=once")).headers.get("x-total-count")).toBe("1");
  const other = await call("POST", "/workflows", { ...input, name: "No" }, { "Idempotency-Key": "once" });
  expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
  return tookPart(rest, /^POST/, before);
}

export async function revocation({ rest, mcp, key, revoke }: Copies): Promise<number[]> {
  const call = apiClient(rest.url, key);
  const clients = await Promise.all(CLIENT_NAMES.map((way) => connect(way, mcp.url, key)));
  for (const client of clients) expect((await client.call("list_workflows")).isError).toBeFalsy();
  const statuses = async (): Promise<number[]> => {
    const answers = [
      await call("GET", "/workflows"),
      await call("GET", "/workflows"),
      await call("GET", "/workflows"),
    ];
    return answers.map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 200, 200]);
  await revoke();
  const before = mcp.forwarded.length;
  // The very next request on each copy.
  expect(await statuses()).toEqual([401, 401, 401]);
  for (const client of clients) await expect(client.call("list_workflows")).rejects.toThrow(/valid API key/);
  return tookPart(mcp, /^POST/, before);
}
