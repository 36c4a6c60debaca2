import { describe, expect, it } from "vitest";
import { digestOf, isKeyValue } from "../../src/auth/key-format.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { userWriter } from "../../src/store/users.ts";
import { createApiKey } from "../../tools/api-keys/create-api-key.ts";
import { listApiKeys } from "../../tools/api-keys/list-api-keys.ts";
import { revokeApiKey } from "../../tools/api-keys/revoke-api-key.ts";
import { rotateApiKey } from "../../tools/api-keys/rotate-api-key.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { callAs, signedInUser, keyPrincipal } from "../support/users.ts";

async function keysOf(options: Parameters<typeof signedInUser>[1] = {}) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const ann = await signedInUser(instance, options);
  return { instance, clock, ann, call: callAs(instance, ann.principal) };
}

/** Everything that is stored about requests and keys. */
async function writtenDown({ store: { read } }: TestInstance): Promise<string> {
  const tables = await Promise.all([
    read.selectFrom("api_keys").selectAll().execute(),
    read.selectFrom("idempotency_keys").selectAll().execute(),
    read.selectFrom("audit_log").selectAll().execute(),
  ]);
  return JSON.stringify(tables);
}

const audited = async ({ store }: TestInstance): Promise<string[]> => {
  const rows = await store.read
    .selectFrom("audit_log")
    .select(["operation", "target", "owner", "surface"])
    .orderBy("id")
    .execute();
  return rows.map((row) => Object.values(row).join(" "));
};

describe("create_api_key", () => {
  it("returns a working key with its value once, and stores the value nowhere", async () => {
    const { instance, call, ann } = await keysOf();
    const input = { name: "ci", idempotency_key: "once" };
    const { value, ...made } = await call(createApiKey, input);
    expect(isKeyValue(value!)).toBe(true);
    expect(made).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "ci",
      owner: "ann@example.com",
      last_four: value!.slice(-4),
      scopes: ["read", "write", "publish", "run"],
      created_at: "2026-11-21T08:00:00.000Z",
      expires_at: null,
      last_used_at: null,
      state: "active",
    });
    expect(await instance.read.apiKeys.findByDigest(digestOf(value!))).toMatchObject({
      id: made.id,
      lineage: made.id,
      user: { role: "editor", status: "active" },
    });
    expect(await call(createApiKey, input)).toEqual({ ...made, value: null });
    expect((await call(listApiKeys)).total).toBe(1);
    const text = await writtenDown(instance);
    expect(text).toContain(made.id);
    expect(text).not.toContain(value!);
    expect(await audited(instance)).toEqual([`create_api_key ${made.id} ${ann.user.email} web`]);
  });

  it("creates at most 100 active keys for a user, and any number for operator", async () => {
    const { instance, call, clock, ann } = await keysOf();
    for (let i = 0; i < 98; i += 1) await instance.key({ owner: ann.user.email });
    await call(createApiKey, { name: "short", expires_at: iso(clock.now() + HOUR) });
    const { id } = await call(createApiKey, { name: "last" });
    await expect(call(createApiKey, { name: "beyond" })).rejects.toMatchObject({
      code: "too_many_keys",
      status: 409,
      message: expect.stringContaining("Revoke one first"),
    });
    await expect(call(rotateApiKey, { key_id: id })).rejects.toMatchObject({ code: "too_many_keys" });
    expect((await call(listApiKeys)).total).toBe(100);
    expect(await audited(instance)).not.toContain(`rotate_api_key ${id} ${ann.user.email} web`);
    // The new key takes its place immediately.
    const next = await call(rotateApiKey, { key_id: id, overlap: "0s" });
    await call(revokeApiKey, { key_id: next.id });
    await call(createApiKey, { name: "again" });
    clock.advance(HOUR);
    await call(createApiKey, { name: "and again" });
    await expect(call(createApiKey, { name: "beyond" })).rejects.toHaveProperty("code", "too_many_keys");
    const ben = await signedInUser(instance, { email: "ben@example.com" });
    await callAs(instance, ben.principal)(createApiKey, { name: "first" });
    for (let i = 0; i < 100; i += 1) await instance.key();
    const operator = callAs(instance, { ...keyPrincipal(), kind: "operator" });
    expect((await operator(createApiKey, { name: "one of many" })).owner).toBe("operator");
  });

  it("accepts the scopes of the role: always with read, and by default all that the role has", async () => {
    const { call, instance } = await keysOf();
    const viewer = callAs(
      instance,
      (await signedInUser(instance, { email: "vic@example.com", role: "viewer" })).principal,
    );
    expect(await call(createApiKey, { name: "run", scopes: ["run"] })).toMatchObject({
      scopes: ["read", "run"],
    });
    expect(await call(createApiKey, { name: "none", scopes: [] })).toMatchObject({ scopes: ["read"] });
    expect(await viewer(createApiKey, { name: "look" })).toMatchObject({ scopes: ["read"] });
  });

  it("refuses scopes beyond the role and invalid dates, all at once", async () => {
    const { call } = await keysOf({ role: "viewer" });
    const wrong = { name: "ci", scopes: ["read", "run", "admin"], expires_at: "2026-11-20" };
    await expect(call(createApiKey, wrong)).rejects.toMatchObject({
      code: "invalid_input",
      details: {
        errors: [
          { path: "expires_at", code: "too_small" },
          {
            path: "scopes",
            code: "not_allowed",
            allowed: ["read"],
            message: expect.stringContaining("run, admin"),
          },
        ],
      },
    });
    await expect(call(createApiKey, { name: "a\u0007b", expires_at: "2026-02-30" })).rejects.toMatchObject({
      details: { errors: [{ path: "name" }, { path: "expires_at", code: "wrong_format" }] },
    });
    expect((await call(listApiKeys)).total).toBe(0);
  });

  it.each([
    ["2026-11-21", "2026-11-22T00:00:00.000Z"],
    ["2026-11-21T08:00:00.001Z", "2026-11-21T08:00:00.001Z"],
    ["2027-01-31T12:00:00+01:00", "2027-01-31T11:00:00.000Z"],
    ["2036-11-20", "2036-11-21T00:00:00.000Z"],
  ])("ends a key at %s", async (written, expires_at) => {
    const { call } = await keysOf();
    expect(await call(createApiKey, { name: "ci", expires_at: written })).toMatchObject({ expires_at });
  });

  it.each([
    ["2026-11-21T08:00:00.000Z", "too_small"],
    ["2026-11-20", "too_small"],
    ["2036-11-22", "too_large"],
    ["tomorrow", "wrong_format"],
  ])("does not end one at %s", async (expires_at, code) => {
    const { call } = await keysOf();
    await expect(call(createApiKey, { name: "ci", expires_at })).rejects.toMatchObject({
      details: { errors: [{ path: "expires_at", code }] },
    });
  });
});

describe("list_api_keys", () => {
  it("lists the caller's own keys, newest first, page by page", async () => {
    const { instance, clock, call } = await keysOf();
    const bob = callAs(instance, (await signedInUser(instance, { email: "bob@example.com" })).principal);
    await bob(createApiKey, { name: "bob's" });
    for (const name of ["first", "second", "third"]) {
      await call(createApiKey, { name });
      clock.advance(MINUTE);
    }
    const first = await call(listApiKeys, { limit: 2 });
    expect(first).toMatchObject({ total: 3, items: [{ name: "third" }, { name: "second" }] });
    const rest = await call(listApiKeys, { limit: 2, cursor: first.next_cursor });
    expect(rest).toMatchObject({ total: 3, items: [{ name: "first" }], next_cursor: null });
    await expect(bob(listApiKeys, { cursor: first.next_cursor })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
    await expect(call(listApiKeys, { everyone: true })).rejects.toMatchObject({ code: "missing_scope" });
  });

  it("lists all keys for admins, including those of the command line", async () => {
    const { instance, call } = await keysOf({ role: "admin" });
    const bob = callAs(instance, (await signedInUser(instance, { email: "bob@example.com" })).principal);
    await bob(createApiKey, { name: "bob's" });
    await instance.key();
    const { items } = await call(listApiKeys, { everyone: true });
    expect(items.map(({ owner }) => owner).toSorted()).toEqual(["bob@example.com", "operator"]);
    expect(await call(listApiKeys)).toMatchObject({ total: 0, items: [] });
  });

  it("returns the status of each: expiring soon, expired, revoked, or owner deactivated", async () => {
    const { instance, clock, ann, call } = await keysOf();
    const start = clock.now();
    const end = iso(start + 8 * DAY);
    const { id } = await call(createApiKey, { name: "ci", expires_at: end });
    const state = async () => (await call(listApiKeys)).items[0]!.state;
    clock.advance(DAY - 1);
    expect(await state()).toBe("active");
    clock.advance(1);
    expect(await state()).toBe("expiring");
    const setStatus = (status: "active" | "deactivated") =>
      instance.store.transaction((trx) => userWriter(trx).update(ann.user.id, { status }));
    await setStatus("deactivated");
    expect(await state()).toBe("owner_inactive");
    await setStatus("active");
    clock.advance(7 * DAY - 1);
    expect(await state()).toBe("expiring");
    clock.advance(1);
    expect(await state()).toBe("expired");
    await call(revokeApiKey, { key_id: id });
    expect(await state()).toBe("revoked");
  });
});

describe("revoke_api_key", () => {
  it("revokes a key once, and returns the same when repeated", async () => {
    const { instance, call } = await keysOf();
    const { id, value } = await call(createApiKey, { name: "ci" });
    expect(await call(revokeApiKey, { key_id: id })).toMatchObject({ id, state: "revoked" });
    expect(await call(revokeApiKey, { key_id: id })).toMatchObject({ id, state: "revoked" });
    expect(await instance.read.apiKeys.findByDigest(digestOf(value!))).toMatchObject({
      revokedAt: "2026-11-21T08:00:00.000Z",
    });
    expect(await audited(instance)).toEqual([
      expect.stringMatching("create_api_key"),
      `revoke_api_key ${id} ann@example.com web`,
    ]);
  });

  it("revokes another user's key for admins only; for others it does not exist", async () => {
    const { instance, call } = await keysOf();
    const bob = callAs(instance, (await signedInUser(instance, { email: "bob@example.com" })).principal);
    const root = callAs(
      instance,
      (await signedInUser(instance, { email: "root@example.com", role: "admin" })).principal,
    );
    const { id } = await call(createApiKey, { name: "ci" });
    const missing = await bob(revokeApiKey, { key_id: "key_none" }).catch((error: Error) => error.message);
    await expect(bob(revokeApiKey, { key_id: id })).rejects.toMatchObject({
      code: "api_key_not_found",
      message: (missing as string).replace("key_none", id),
    });
    expect(await call(listApiKeys)).toMatchObject({ items: [{ state: "active" }] });
    expect(await root(revokeApiKey, { key_id: id })).toMatchObject({
      state: "revoked",
      owner: "ann@example.com",
    });
  });
});

describe("rotate_api_key", () => {
  it("creates a successor with the same lifetime, and keeps the old key valid for a day", async () => {
    const { instance, clock, call } = await keysOf();
    const old = await call(createApiKey, {
      name: "ci",
      scopes: ["run"],
      expires_at: iso(clock.now() + 90 * DAY),
    });
    clock.advance(80 * DAY);
    const input = { key_id: old.id, idempotency_key: "once" };
    const { value, ...next } = await call(rotateApiKey, input);
    expect(next).toMatchObject({
      name: "ci",
      scopes: ["read", "run"],
      state: "active",
      expires_at: iso(clock.now() + 90 * DAY),
      replaces: { id: old.id, expires_at: iso(clock.now() + DAY) },
    });
    expect(await instance.read.apiKeys.findByDigest(digestOf(value!))).toMatchObject({ lineage: old.id });
    expect(await instance.read.apiKeys.find(old.id)).toMatchObject({ expiresAt: iso(clock.now() + DAY) });
    expect(await call(rotateApiKey, input)).toEqual({ ...next, value: null });
    expect(await writtenDown(instance)).not.toContain(value!);
    expect((await audited(instance)).at(-1)).toBe(`rotate_api_key ${old.id} ann@example.com web`);
    expect((await call(listApiKeys)).total).toBe(2);
  });

  it("accepts an overlap of up to 30 days, and never extends the old key", async () => {
    const { clock, call } = await keysOf();
    const make = async (expires_at?: string) => (await call(createApiKey, { name: "ci", expires_at })).id;
    const now = clock.now();
    expect(
      await call(rotateApiKey, { key_id: await make(), overlap: "0s", expires_at: "2027-01-31" }),
    ).toMatchObject({
      expires_at: "2027-02-01T00:00:00.000Z",
      replaces: { expires_at: iso(now) },
    });
    expect(await call(rotateApiKey, { key_id: await make(iso(now + HOUR)), overlap: "30d" })).toMatchObject({
      replaces: { expires_at: iso(now + HOUR) },
    });
    const key_id = await make();
    await expect(call(rotateApiKey, { key_id, overlap: "721h" })).rejects.toMatchObject({
      details: { errors: [{ path: "overlap", code: "too_large" }] },
    });
    await expect(
      call(rotateApiKey, { key_id, overlap: "soon", expires_at: "2026-01-01" }),
    ).rejects.toMatchObject({
      details: { errors: [{ path: "overlap", code: "wrong_format" }] },
    });
    await expect(call(rotateApiKey, { key_id, expires_at: "2026-01-01" })).rejects.toMatchObject({
      details: { errors: [{ path: "expires_at", code: "too_small" }] },
    });
  });

  it("refuses an expired or revoked key, and everyone except the owner, including admins", async () => {
    const { instance, clock, call } = await keysOf();
    const root = callAs(
      instance,
      (await signedInUser(instance, { email: "root@example.com", role: "admin" })).principal,
    );
    const { id: key_id } = await call(createApiKey, { name: "ci", expires_at: iso(clock.now() + HOUR) });
    await expect(root(rotateApiKey, { key_id })).rejects.toMatchObject({ code: "api_key_not_found" });
    clock.advance(HOUR);
    await expect(call(rotateApiKey, { key_id })).rejects.toMatchObject({ code: "api_key_expired" });
    await call(revokeApiKey, { key_id });
    await expect(call(rotateApiKey, { key_id })).rejects.toMatchObject({ code: "api_key_revoked" });
    expect((await call(listApiKeys)).total).toBe(1);
  });
});

describe("an API key", () => {
  it.each([
    [createApiKey, { name: "ci" }],
    [listApiKeys, {}],
    [revokeApiKey, { key_id: "key_1" }],
    [rotateApiKey, { key_id: "key_1" }],
  ])("is refused by every operation on keys: %#", async (tool, input) => {
    const instance = await testInstance();
    const call = callAs(instance, keyPrincipal());
    await expect(call(tool as typeof createApiKey, input)).rejects.toMatchObject({ code: "person_needed" });
  });
});
