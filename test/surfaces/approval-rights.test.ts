/** `you.can_decide` of an approval says on each surface, to each kind of caller, what a decision answers. */
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import { apiClient, type ApiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import type { Json } from "../support/json.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { addUser, signIn } from "../support/users.ts";

const READING: readonly Scope[] = ["read", "write", "publish", "run"];
const DECIDING: readonly Scope[] = [...READING, "approve"];

/** A server on which a key of nobody else starts runs that wait for an approval. */
async function open() {
  const instance = await testInstance();
  const { queue } = await instance.executor();
  const [rest, mcp] = [await instance.rest(), await instance.mcp()];
  const { value: starter } = await instance.key({ name: "starter" });
  const start = apiClient(rest.url, starter);
  const definition = { steps: [{ id: "ask", type: "approval", message: "Go on?" }] };
  await start("POST", "/workflows", { name: "Asks", definition });
  return {
    instance,
    rest,
    mcp,
    /** The id of a new approval, and its run. */
    async ask(): Promise<{ approval: string; run: string }> {
      const { body } = await start("POST", "/workflows/asks/runs", {});
      queue.wake();
      await queue.waitUntilIdle();
      const { body: listed } = await start("GET", `/approvals?run_id=${body.id}`);
      return { approval: listed[0].id, run: body.id };
    },
  };
}

/** What all answers about an approval say. */
async function shownOver(call: ApiClient, { approval, run }: { approval: string; run: string }) {
  const lists = ["/approvals?for_me=all", `/approvals?run_id=${run}`].map(async (path) => {
    const { body } = await call<Json[]>("GET", path);
    return body.find(({ id }) => id === approval)!["you"];
  });
  return [...(await Promise.all(lists)), (await call("GET", `/approvals/${approval}`)).body.you];
}

describe("you.can_decide", () => {
  const keys: [string, Parameters<Awaited<ReturnType<typeof testInstance>>["key"]>[0], boolean][] = [
    ["a key without the scope approve", { scopes: READING }, false],
    ["a key that only reads", { scopes: ["read"] }, false],
    ["a key with the scope admin but not approve", { scopes: [...READING, "admin"] }, false],
    ["a key with the scope approve", { scopes: DECIDING }, true],
    [
      "a key that is limited to reading operations",
      { scopes: DECIDING, limits: { tools: ["list_approvals", "get_approval"] } },
      false,
    ],
    ["a user's key without the scope approve", { scopes: READING, owner: "ben@example.com" }, false],
    ["a user's key with the scope approve", { scopes: DECIDING, owner: "ben@example.com" }, true],
    ["a viewer's key with the scope approve", { scopes: DECIDING, owner: "vera@example.com" }, false],
  ];

  it.each(keys)("is what a decision answers to %s, over REST and MCP", async (_caller, options, allowed) => {
    const { instance, rest, mcp, ask } = await open();
    await addUser(instance, { email: "ben@example.com", role: "editor" });
    await addUser(instance, { email: "vera@example.com", role: "viewer" });
    const { value } = await instance.key({ name: "caller", ...options });
    const call = apiClient(rest.url, value);
    const client = await connect("v2 pinned to 2026-07-28", mcp.url, value);
    const asked = await ask();
    const overMcp = await Promise.all(
      [{ for_me: "all" }, { run_id: asked.run }].map(async (input) => {
        const { items } = outputOf(await client.call("list_approvals", input));
        return items.find(({ id }: Json) => id === asked.approval).you;
      }),
    );
    const shown = [...(await shownOver(call, asked)), ...overMcp];
    expect(shown.map(({ can_decide }) => can_decide)).toEqual(shown.map(() => allowed));
    const decided = await client.call("decide_approval", {
      approval_id: asked.approval,
      decision: "approve",
    });
    expect(decided.isError ?? false).toBe(!allowed);
    const second = await ask();
    const { status } = await call("POST", `/approvals/${second.approval}`, { decision: "approve" });
    expect(status === 200).toBe(allowed);
  });

  it.each([
    ["viewer", false],
    ["editor", true],
    ["admin", true],
  ] as const)("is what a decision answers to a signed-in %s", async (role, allowed) => {
    const { instance, rest, ask } = await open();
    const user = await addUser(instance, { email: "ben@example.com", role });
    const { cookie } = await signIn(instance, user);
    const headers = { Cookie: cookie, Origin: rest.url };
    const call: ApiClient = (method, path, body) => apiClient(rest.url)(method, path, body, headers);
    const asked = await ask();
    const shown = await shownOver(call, asked);
    expect(shown.map(({ can_decide }) => can_decide)).toEqual(shown.map(() => allowed));
    const { status } = await call("POST", `/approvals/${asked.approval}`, { decision: "approve" });
    expect(status).toBe(allowed ? 200 : 403);
  });
});
