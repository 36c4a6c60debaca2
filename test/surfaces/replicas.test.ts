import { describe, expect, it } from "vitest";
import { iso } from "../../src/core/clock.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { type ClientName, MCP_CLIENTS, CLIENT_NAMES, connect, outputOf } from "../support/mcp.ts";
import { spawnCommand, startProgram } from "../support/process.ts";
import { type LoadBalancer, startLoadBalancer } from "../support/load-balancer.ts";

/** Two copies of each listener on one state directory behind load balancers, and a key. */
interface Copies {
  rest: LoadBalancer;
  mcp: LoadBalancer;
  key: string;
  /** Revokes the key through one of them. */
  revoke(): Promise<void>;
}

async function inThisProcess(): Promise<Copies> {
  const one = await testInstance();
  const two = await testInstance({ stateDir: one.stateDir });
  const listeners = await Promise.all([one.rest(), two.rest(), one.mcp(), two.mcp()]);
  const [rest1, rest2, mcp1, mcp2] = listeners.map(({ url }) => url) as [string, string, string, string];
  const { value, record } = await one.key();
  return {
    rest: await startLoadBalancer([rest1, rest2]),
    mcp: await startLoadBalancer([mcp1, mcp2]),
    key: value,
    revoke: async () => void (await one.keys.revoke(record.id, iso(Date.now()), "operator")),
  };
}

async function asProcesses(): Promise<Copies> {
  const stateDir = temporaryDirectory();
  const env = { MILLRACE_STATE_DIR: stateDir };
  // All start concurrently on an empty directory.
  const [rest1, rest2, mcp1, mcp2, created] = await Promise.all([
    startProgram("serve", stateDir),
    startProgram("serve", stateDir),
    startProgram("mcp-sse", stateDir),
    startProgram("mcp-sse", stateDir),
    spawnCommand(["keys", "create", "--name", "ci"], env),
  ]);
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^mill_\w{36}\n$/) });
  return {
    rest: await startLoadBalancer([rest1.url, rest2.url]),
    mcp: await startLoadBalancer([mcp1.url, mcp2.url]),
    key: created.out.trim(),
    async revoke() {
      expect(await spawnCommand(["keys", "revoke", "ci"], env)).toMatchObject({ code: 0 });
    },
  };
}

/** The copies that got some of the matching requests, from the nth on. */
const tookPart = ({ forwarded }: LoadBalancer, request: RegExp, from = 0): number[] =>
  [0, 1].filter((copy) => forwarded.slice(from).some((one) => one.to === copy && request.test(one.request)));

const BOTH = [0, 1];

// Each of these works through the load balancers and returns the copies that took part.

async function crud({ rest, key }: Copies): Promise<number[]> {
  const call = apiClient(rest.url, key);
  // Both copies have the empty list in their caches.
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

async function mcpSession({ mcp, rest, key }: Copies, way: ClientName): Promise<number[]> {
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

async function concurrentCreates({ rest, mcp, key }: Copies): Promise<number[]> {
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

async function oneEffect({ rest, mcp, key }: Copies): Promise<number[]> {
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
  // Over MCP the definition, which the caller has just sent, is left out.
  const { definition: _, ...created } = answers[0]!.body;
  expect(outputOf(again)).toEqual(created);
  expect((await call("GET", "/workflows?search=once")).headers.get("x-total-count")).toBe("1");
  const other = await call("POST", "/workflows", { ...input, name: "No" }, { "Idempotency-Key": "once" });
  expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
  return tookPart(rest, /^POST/, before);
}

async function revocation({ rest, mcp, key, revoke }: Copies): Promise<number[]> {
  const call = apiClient(rest.url, key);
  const clients = await Promise.all(CLIENT_NAMES.map((way) => connect(way, mcp.url, key)));
  for (const client of clients) expect((await client.call("list_workflows")).isError).toBeFalsy();
  expect([(await call("GET", "/workflows")).status, (await call("GET", "/workflows")).status]).toEqual([
    200, 200,
  ]);
  await revoke();
  const before = mcp.forwarded.length;
  // The very next request on each copy.
  expect([(await call("GET", "/workflows")).status, (await call("GET", "/workflows")).status]).toEqual([
    401, 401,
  ]);
  for (const client of clients) await expect(client.call("list_workflows")).rejects.toThrow(/valid API key/);
  return tookPart(mcp, /^POST/, before);
}

describe("two copies behind a round-robin", () => {
  it("serve REST as one: a write to one is visible on the other immediately", async () => {
    expect(await crud(await inThisProcess())).toEqual(BOTH);
  });

  it.each(CLIENT_NAMES)("serve MCP as one: %s", async (way) => {
    expect(await mcpSession(await inThisProcess(), way)).toEqual(BOTH);
  });

  it("relay messages that an SSE client posts to the copy without its stream", async () => {
    const copies = await inThisProcess();
    const client = await connect("v1 over SSE", copies.mcp.url, copies.key);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client.call("create_workflow", { name: `Number ${index}` })),
    );
    expect(answers.map((answer) => outputOf(answer)["name"])).toEqual(
      Array.from({ length: 20 }, (_, index) => `Number ${index}`),
    );
    const holder = copies.mcp.forwarded.find(({ request }) => request === "GET /sse")!.to;
    const passedOn = copies.mcp.forwarded.filter(
      ({ to, request }) => to !== holder && request === "POST /messages",
    );
    expect(passedOn.length).toBeGreaterThan(5);
  });

  it("assign different ids to concurrent creations with one name", async () => {
    expect(await concurrentCreates(await inThisProcess())).toEqual(BOTH);
  });

  it("run a request once that reaches both with one idempotency key", async () => {
    expect(await oneEffect(await inThisProcess())).toEqual(BOTH);
  });

  it("both refuse a key at the next request after one of them revoked it", async () => {
    expect(await revocation(await inThisProcess())).toEqual(BOTH);
  });

  it("do all that as separate processes", async () => {
    const copies = await asProcesses();
    expect(await crud(copies)).toEqual(BOTH);
    for (const way of CLIENT_NAMES) expect(await mcpSession(copies, way)).toEqual(BOTH);
    expect(await concurrentCreates(copies)).toEqual(BOTH);
    expect(await oneEffect(copies)).toEqual(BOTH);
    expect(await revocation(copies)).toEqual(BOTH);
  });
});
