/** What the authenticator makes of a key and its owner, with a store of plain values. */
import { describe, expect, it } from "vitest";
import { authenticator } from "../../src/auth/authenticate.ts";
import { newKeyValue } from "../../src/auth/key-format.ts";
import { scopesIn } from "../../src/core/access.ts";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { fakeClock } from "../support/clock.ts";

const BASE = "https://millrace.example.com";
const VALUE = newKeyValue();

const KEY = {
  id: "key_1",
  name: "ci",
  owner: "ann@example.com",
  user: { role: "viewer", status: "active" },
  isSingleProject: false,
  scopes: ["read", "run"],
  projects: ["default", "finance"],
  limits: null,
  lineage: "key_1",
  revokedAt: null,
  expiresAt: null,
  application: null,
} as unknown as ApiKeyWithOwner;

/** An authenticator of one key, whose owner is an editor in the project finance, and the owners that it looks up. */
function authenticatorOf(key: ApiKeyWithOwner | undefined) {
  const asked: string[] = [];
  const keys = {
    findByDigest: async () => key,
    find: async (id: string) => (id === key?.id ? key : undefined),
  };
  const projects = {
    isSingle: async () => false,
    async membershipsOf(owner: string) {
      asked.push(owner);
      return new Map([["finance", "editor" as const]]);
    },
  };
  const auth = authenticator(
    keys as unknown as Parameters<typeof authenticator>[0],
    projects,
    fakeClock(),
    () => {},
  );
  return { auth, asked };
}

const ofApplication = (resource: string): ApiKeyWithOwner => ({
  ...KEY,
  application: { resource } as ApiKeyWithOwner["application"],
});
const REFUSED = {
  code: "unauthorized",
  details: { headers: { "WWW-Authenticate": 'ApiKey realm="millrace"' } },
};

describe("authenticate the token of an application", () => {
  it.each([
    ["for this server", BASE, BASE],
    ["for its MCP endpoint", `${BASE}/mcp`, BASE],
  ])("accepts it %s", async (_what, resource, base) => {
    const { auth } = authenticatorOf(ofApplication(resource));
    expect(await auth.authenticate({ "x-api-key": VALUE }, base)).toMatchObject({
      keyId: "key_1",
      application: true,
    });
  });

  it.each([
    ["for another server", "https://other.example.com", BASE],
    ["where no resource is known", BASE, undefined],
  ])("refuses it %s", async (_what, resource, base) => {
    const { auth } = authenticatorOf(ofApplication(resource));
    await expect(auth.authenticate({ "x-api-key": VALUE }, base)).rejects.toMatchObject(REFUSED);
  });

  it("needs no resource for an API key, which is no application", async () => {
    const principal = await authenticatorOf(KEY).auth.authenticate({ "x-api-key": VALUE });
    expect(principal).not.toHaveProperty("application");
  });
});

describe("authenticate refuses a request without a usable key", () => {
  it.each<[string, Parameters<ReturnType<typeof authenticator>["authenticate"]>[0]]>([
    ["without a header", {}],
    ["with another scheme before Bearer", { authorization: `Basic Bearer ${VALUE}` }],
    ["with a text after the key", { authorization: `Bearer ${VALUE} x` }],
    ["with a value that is no key", { "x-api-key": "secret" }],
  ])("%s", async (_what, headers) => {
    await expect(authenticatorOf(KEY).auth.authenticate(headers)).rejects.toMatchObject(REFUSED);
  });

  it("with an unknown key", async () => {
    const { auth } = authenticatorOf(undefined);
    await expect(auth.authenticate({ "x-api-key": VALUE })).rejects.toMatchObject(REFUSED);
  });
});

describe("accessOf a key", () => {
  it("is what the roles of its owner in its projects allow, and is computed once", async () => {
    const { auth, asked } = authenticatorOf(KEY);
    const principal = await auth.authenticate({ "x-api-key": VALUE });
    expect([...principal.scopes]).toEqual(["read", "run"]);
    expect([...scopesIn(principal.access, "default")]).toEqual(["read"]);
    expect([...scopesIn(principal.access, "finance")]).toEqual(["read", "run"]);
    expect(await auth.accessOf("key_1")).toBe(principal.access);
    expect(asked).toEqual(["ann@example.com"]);
  });

  it("is undefined for a key that does not exist", async () => {
    expect(await authenticatorOf(KEY).auth.accessOf("key_2")).toBeUndefined();
  });

  it.each<[string, Partial<ApiKeyWithOwner>, string[]]>([
    ["of the operator", { owner: "operator", user: null }, ["read", "run"]],
    ["of an installation with one project", { isSingleProject: true }, ["read"]],
  ])("asks for no memberships for a key %s", async (_what, fields, scopes) => {
    const { auth, asked } = authenticatorOf({ ...KEY, ...fields });
    const access = await auth.accessOf("key_1");
    expect([...scopesIn(access!, "default")]).toEqual(scopes);
    expect(asked).toEqual([]);
  });
});
