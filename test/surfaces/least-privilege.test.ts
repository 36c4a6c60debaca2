/** Keys that are limited to tools and workflows, over REST and MCP: what is outside is refused, and not listed. */
import { describe, expect, it } from "vitest";
import { accessOfKey, type KeyLimits } from "../../src/core/access.ts";
import type { Scope } from "../../schemas/actor.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { addProject } from "../support/projects.ts";
import { addUser, keyPrincipal } from "../support/users.ts";
import { authorise } from "../../src/surfaces/invoke.ts";
import { connect, type McpClient } from "../support/mcp.ts";
import { rawRequest } from "../support/raw-http.ts";
import { ACCEPT_HEADERS, openSession, postMessage, toolCall } from "../support/raw-mcp.ts";
import { expectProblem } from "../support/rest.ts";
import { MAX_LIST_TOKENS } from "../support/tool-list-limit.ts";

const ALL: Scope[] = ["read", "write", "publish", "run", "approve", "admin"];
const exposed = {
  expose_as_tool: true,
  inputs: { type: "object", properties: {} },
  steps: [{ id: "a", type: "set", values: { x: 1 } }],
};

/** Two workflows that are tools of their own, and clients with keys. */
async function open() {
  const instance = await testInstance();
  await instance.executor();
  const rest = await instance.rest();
  const mcp = await instance.mcp();
  const admin = apiClient(rest.url, (await instance.key({ scopes: ALL })).value);
  for (const name of ["Alpha", "Beta"]) {
    const { body } = await admin("POST", "/workflows", { name, definition: exposed });
    expect(await admin("POST", `/workflows/${body.id}/publish`, {})).toMatchObject({
      body: { exposure: { state: "allowed" } },
    });
  }
  const newKey = async (scopes: Scope[], limits: KeyLimits | null, projects?: string[]) =>
    (await instance.key({ scopes, limits, ...(projects && { projects }) })).value;
  return {
    instance,
    rest,
    mcp,
    admin,
    newKey,
    call: async (scopes: Scope[], limits: KeyLimits | null) =>
      apiClient(rest.url, await newKey(scopes, limits)),
    agent: async (scopes: Scope[], limits: KeyLimits | null, projects?: string[]) =>
      connect("v2 pinned to 2026-07-28", mcp.url, await newKey(scopes, limits, projects)),
  };
}

const namesOf = async (client: McpClient): Promise<string[]> =>
  (await client.listTools()).map(({ name }) => name);
const codeOf = ({ isError, content }: Awaited<ReturnType<McpClient["call"]>>): string =>
  isError === true ? (JSON.parse(content[0]!.text) as { code: string }).code : "ok";

describe("A key that is limited to tools", () => {
  it("uses these over REST, and learns which they are when it tries another", async () => {
    const { call } = await open();
    const limited = await call(ALL, { tools: ["get_workflow", "run_workflow"] });
    expect((await limited("GET", "/workflows/alpha")).status).toBe(200);
    expect((await limited("POST", "/workflows/alpha/runs", {})).status).toBe(202);
    const refused = await limited("GET", "/workflows");
    const { detail, errors } = expectProblem(refused, "not_permitted");
    expect(detail).toContain(
      "This key is limited to get_workflow, run_workflow, so it can't use list_workflows.",
    );
    expect(detail).toContain("millrace keys create --name <name> --tool list_workflows");
    expect(errors).toMatchObject([{ allowed: ["get_workflow", "run_workflow"] }]);
    // A missing thing is refused in the same way.
    expect((await limited("POST", "/workflows/none/publish", {})).body.code).toBe("not_permitted");
  });

  it("streams the events of runs only if that is one of them", async () => {
    const { admin, call } = await open();
    const { body } = await admin("POST", "/workflows/alpha/runs", { wait: 20 });
    const without = await call(["read"], { tools: ["get_run"] });
    expect((await without("GET", `/runs/${body.id}/events`)).body.code).toBe("not_permitted");
    const events = await call(["read"], { tools: ["run_events"] });
    expect((await events("GET", `/runs/${body.id}/events`)).status).toBe(200);
    expect((await events("GET", `/runs/${body.id}`)).body.code).toBe("not_permitted");
  });

  it("gets only these listed over MCP, and is refused the others", async () => {
    const { agent } = await open();
    const limited = await agent(ALL, { tools: ["get_run", "run_beta"] });
    expect(await namesOf(limited)).toEqual(["describe_key", "get_run", "run_beta"]);
    expect(codeOf(await limited.call("run_beta"))).toBe("ok");
    expect(codeOf(await limited.call("list_workflows"))).toBe("not_permitted");
    // The same workflow by the general tool, which may run others.
    expect(codeOf(await limited.call("run_workflow", { workflow_id: "beta" }))).toBe("not_permitted");
    expect(codeOf(await limited.call("run_alpha"))).toBe("not_permitted");
    await expect(limited.call("run_gamma_rays")).rejects.toThrow(
      "The tools are: describe_key, get_run, run_beta.",
    );
  });
});

describe("A key, whatever it is limited to", () => {
  it.each<[string, Scope[], KeyLimits]>([
    ["tools", ALL, { tools: ["get_run"] }],
    ["workflows", ["read", "run"], { workflows: ["alpha"] }],
  ])("can describe itself, over REST and MCP: %s", async (_what, scopes, limits) => {
    const { call, agent } = await open();
    const rest = await call(scopes, limits);
    expect(await rest("GET", "/api-keys/self")).toMatchObject({ status: 200, body: { limits } });
    expect((await rest("GET", "/api-keys/key_other")).status).toBe(404);
    const client = await agent(scopes, limits);
    expect(await namesOf(client)).toContain("describe_key");
    expect(codeOf(await client.call("describe_key", { key_id: "self" }))).toBe("ok");
  });

  it("can describe itself after its owner has lost every role", async () => {
    const { instance, rest, mcp } = await open();
    await addProject(instance, "finance");
    await addUser(instance, { email: "ann@example.com", role: "member" });
    const key = await instance.key({ scopes: ALL, owner: "ann@example.com", projects: ["finance"] });
    const client = apiClient(rest.url, key.value);
    expect((await client("GET", "/workflows")).body.code).toBe("missing_scope");
    expect(await client("GET", "/api-keys/self")).toMatchObject({ status: 200, body: { id: key.record.id } });
    const agent = await connect("v2 pinned to 2026-07-28", mcp.url, key.value);
    expect(await namesOf(agent)).toEqual(["describe_key"]);
  });
});

describe("A key that is limited to workflows", () => {
  it("is not offered the tools of others, and can't call them", async () => {
    const { agent } = await open();
    const limited = await agent(["read", "run"], { workflows: ["alpha"] });
    const names = await namesOf(limited);
    expect(names).toContain("run_alpha");
    expect(names).not.toContain("run_beta");
    expect(codeOf(await limited.call("run_alpha"))).toBe("ok");
    await expect(limited.call("run_beta")).rejects.toThrow('There is no tool "run_beta".');
    await expect(limited.call("run_bet")).rejects.not.toThrow("run_beta");
  });

  it("finds no other workflow and none of its runs, as if they did not exist", async () => {
    const { admin, call } = await open();
    const runOf = async (id: string): Promise<string> =>
      (await admin("POST", `/workflows/${id}/runs`, { wait: 20 })).body.id;
    const [own, other] = [await runOf("alpha"), await runOf("beta")];
    const limited = await call(["read", "run"], { workflows: ["alpha"] });
    expect((await limited("GET", "/workflows")).body).toMatchObject([{ id: "alpha" }]);
    expect((await limited("GET", "/runs")).body).toMatchObject([{ id: own }]);
    const answer = async (path: string): Promise<string> => {
      const { status, body } = await limited("GET", path);
      return `${status} ${JSON.stringify({ ...body, request_id: "" })}`.replaceAll(
        path.split("/")[2]!,
        "(id)",
      );
    };
    expect(await answer("/workflows/beta")).toBe(await answer("/workflows/zeta"));
    const missing = `${other.slice(0, -4)}0000`;
    for (const path of ["", "/steps", "/definition", "/events", "/values/inputs"])
      expect(await answer(`/runs/${other}${path}`)).toBe(await answer(`/runs/${missing}${path}`));
    expect((await limited("POST", "/workflows/beta/runs", {})).body.code).toBe("workflow_not_found");
    expect((await limited("POST", `/runs/${other}/retry`, {})).body.code).toBe("run_not_found");
  });

  it("creates none, whatever scopes are stored for it", async () => {
    const { call } = await open();
    const limited = await call(ALL, { workflows: ["alpha"] });
    const steps = [{ id: "a", type: "workflow", workflow: "beta" }];
    for (const [method, path, body] of [
      ["POST", "/workflows", { name: "Other" }],
      ["PATCH", "/workflows/alpha", { definition: { steps } }],
      ["POST", "/workflows/alpha/publish", {}],
      ["POST", "/workflows/validate", { definition: { steps } }],
      ["GET", "/audit-log", undefined],
    ] as const)
      expect((await limited(method, path, body)).body.code).toBe("missing_scope");
    const { body: run } = await limited("POST", "/workflows/alpha/runs", { wait: 20 });
    const retried = await limited("POST", `/runs/${run.id}/retry`, { definition: { steps } });
    expect(retried.body.code).toBe("missing_scope");
  });
});

describe("A key whose owner has no role in its projects any more", () => {
  it("learns whom to ask, and not which other key to make", () => {
    const principal = {
      ...keyPrincipal([], "ann@example.com"),
      access: accessOfKey(
        { scopes: ["read"], projects: ["finance"], limits: null },
        { role: "member", memberships: new Map(), isSingleProject: false },
        false,
      ),
      scopes: new Set<Scope>(),
    };
    const refused = () =>
      authorise(
        { name: "list_workflows", scope: "read" },
        { actor: { principal, client: { surface: "mcp", name: "vitest" } } },
      );
    expect(refused).toThrow(
      /^This key can do nothing now: its owner ann@example\.com has no role .* Ask an admin to give ann@example\.com the role viewer in its project\./,
    );
  });
});

describe("The list of tools", () => {
  it("has only those whose scope the key has", async () => {
    const { agent } = await open();
    const reader = await namesOf(await agent(["read"], null));
    expect(reader).toContain("list_workflows");
    for (const name of [
      "create_workflow",
      "publish_workflow",
      "run_workflow",
      "run_alpha",
      "decide_approval",
    ])
      expect(reader).not.toContain(name);
    expect(await namesOf(await agent(["read", "write"], null))).toEqual(
      expect.arrayContaining(["create_workflow", "update_workflow"]),
    );
    expect(await namesOf(await agent(["read", "publish"], null))).toContain("publish_workflow");
  });

  it("changes with the role of the key's owner, at the next request", async () => {
    const { instance, agent } = await open();
    const client = await agent(ALL, null);
    expect(await namesOf(client)).toContain("run_workflow");
    await instance.store.transaction((trx) =>
      trx.updateTable("api_keys").set({ scopes: '["read"]', publish: 0 }).execute(),
    );
    expect(await namesOf(client)).not.toContain("run_workflow");
  });

  it("has at most the tokens of its limit for a key with the default scopes", async () => {
    const { agent } = await open();
    const client = await agent(["read", "write", "publish", "run"], null);
    const own = (await client.listTools()).filter(({ name }) => !/^run_(alpha|beta)$/.test(name));
    expect(JSON.stringify({ tools: own }).length / 4).toBeLessThan(MAX_LIST_TOKENS);
  });
});

it("A call that is resumed is checked again", async () => {
  const { instance, mcp, newKey } = await open();
  const key = { "X-API-Key": await newKey(["read", "run"], null), ...ACCEPT_HEADERS };
  const session = await openSession(mcp.url, key);
  const { text } = await postMessage(
    `${mcp.url}/mcp`,
    session,
    toolCall("run_workflow", { workflow_id: "beta" }),
  );
  const [, id] = /^id: (.*)$/m.exec(text)!;
  await instance.store.transaction((trx) =>
    trx
      .updateTable("api_keys")
      .set({ limits: JSON.stringify({ tools: ["get_run"] }) })
      .execute(),
  );
  const resumed = await rawRequest("GET", `${mcp.url}/mcp`, {
    headers: { ...session, "Last-Event-ID": id! },
  });
  expect(resumed.json().result.content[0].text).toContain('"code":"not_permitted"');
});
