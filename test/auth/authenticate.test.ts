import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { accessEverywhere } from "../../src/core/access.ts";
import { Scope } from "../../schemas/actor.ts";
import { Role, type UserStatus } from "../../schemas/user.ts";
import type { UserRecord } from "../../src/core/account-ports.ts";
import { rotateKey } from "../../src/auth/api-keys.ts";
import { authenticator } from "../../src/auth/authenticate.ts";
import { newKeyValue } from "../../src/auth/key-format.ts";
import { DAY, iso, MINUTE, SECOND } from "../../src/core/clock.ts";
import type { AppError } from "../../src/core/errors.ts";
import { userWriter } from "../../src/store/users.ts";
import { testUser } from "../support/accounts.ts";
import { fakeClock } from "../support/clock.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";

async function setUp({ stateDir = temporaryDirectory(), clock = fakeClock() } = {}) {
  const instance = await testInstance({ stateDir, clock });
  const report = vi.fn<(id: string, state: string) => void>();
  const lookUp = vi.spyOn(instance.keys, "findByDigest");
  const touch = vi.spyOn(instance.keys, "touch");
  const auth = authenticator(instance.keys, instance.read.projects, clock, report);
  const refusal = (headers: IncomingHttpHeaders): Promise<AppError> =>
    auth.authenticate(headers).then(
      () => expect.fail("The request was accepted."),
      (error: AppError) => error,
    );
  const lastUsed = async (id: string) =>
    (await instance.keys.list()).find((one) => one.id === id)!.lastUsedAt;
  const ada = (fields: Partial<UserRecord> = {}) =>
    instance.store.transaction((trx) => userWriter(trx).insert(testUser("ada", fields)));
  const change = (fields: { role?: Role; status?: UserStatus }) =>
    instance.store.transaction((trx) => userWriter(trx).update("usr_ada", fields));
  return { ...instance, clock, stateDir, report, lookUp, touch, auth, refusal, lastUsed, ada, change };
}

describe("authenticate", () => {
  it("returns the key with its owner and scopes", async () => {
    const { auth, key, ada } = await setUp();
    await ada();
    const { value, record } = await key({ name: "ci", owner: "ada@example.com", scopes: ["run"] });
    expect(await auth.authenticate({ "x-api-key": value })).toEqual({
      kind: "key",
      keyId: record.id,
      keyName: "ci",
      owner: "ada@example.com",
      lineage: record.lineage,
      scopes: new Set(["read", "run"]),
      access: {
        ...accessEverywhere(["read", "run"]),
        key: {
          scopes: ["read", "run"],
          projects: ["default"],
          owner: accessEverywhere(["read", "write", "publish", "run", "approve"]),
        },
      },
    });
  });

  it.each<[string, (value: string) => IncomingHttpHeaders]>([
    ["X-API-Key", (value) => ({ "x-api-key": value })],
    ["X-API-Key with space around it", (value) => ({ "x-api-key": ` ${value} ` })],
    ["Bearer", (value) => ({ authorization: `Bearer ${value}` })],
    ["Bearer in any case", (value) => ({ authorization: `bEARER   ${value} ` })],
    ["X-API-Key beside another scheme", (value) => ({ "x-api-key": value, authorization: "Basic YTpi" })],
    [
      "X-API-Key before Bearer",
      (value) => ({ "x-api-key": value, authorization: `Bearer ${newKeyValue()}` }),
    ],
  ])("accepts a key in %s", async (_, headers) => {
    const { auth, key } = await setUp();
    const { value, record } = await key();
    expect(await auth.authenticate(headers(value))).toHaveProperty("keyId", record.id);
  });

  it("does not fall back to Bearer if X-API-Key is wrong", async () => {
    const { refusal, key } = await setUp();
    const { value } = await key();
    for (const own of [newKeyValue(), "", "nonsense"])
      expect(await refusal({ "x-api-key": own, authorization: `Bearer ${value}` })).toHaveProperty(
        "status",
        401,
      );
  });

  it.each<[string, (value: string) => IncomingHttpHeaders]>([
    ["nothing", () => ({})],
    ["an empty header", () => ({ "x-api-key": "" })],
    [
      "a value mistyped by one character",
      (value) => ({ "x-api-key": value.replace(/.$/, (one) => (one === "a" ? "b" : "a")) }),
    ],
    ["a value of another form", () => ({ "x-api-key": "sk-12345" })],
    ["the header twice, as Node joins it", (value) => ({ "x-api-key": `${value}, ${value}` })],
    ["the header as a list", (value) => ({ "x-api-key": [value, value] })],
    ["a key without a scheme", (value) => ({ authorization: value })],
    ["Basic", (value) => ({ authorization: `Basic ${value}` })],
    ["two tokens", (value) => ({ authorization: `Bearer ${value} ${value}` })],
    ["a value with NUL behind it", (value) => ({ "x-api-key": `${value}\u0000` })],
    ["a very long value", (value) => ({ "x-api-key": value.repeat(1_000) })],
    ["a long Bearer of spaces", () => ({ authorization: `Bearer ${" ".repeat(60_000)}x y` })],
  ])("refuses %s without reading the store", async (_, headers) => {
    const { refusal, lookUp, key } = await setUp();
    const { value } = await key();
    expect(await refusal(headers(value))).toMatchObject({ code: "unauthorized" });
    expect(lookUp).not.toHaveBeenCalled();
  });

  it("returns the same error for every invalid key, and reports revoked and expired keys only to the log", async () => {
    const { refusal, report, key, keys, clock } = await setUp();
    const revoked = await key();
    await keys.revoke(revoked.record.id, iso(clock.now()), "operator");
    const expired = await key({ expiresAt: iso(clock.now() + DAY) });
    clock.advance(DAY);
    const errorFor = async (value: string) => {
      const { message, code, status, details } = await refusal({ "x-api-key": value });
      return { message, code, status, details };
    };
    const unknown = await errorFor(newKeyValue());
    expect(unknown).toMatchObject({ status: 401 });
    expect(await errorFor("malformed")).toEqual(unknown);
    expect(await errorFor(revoked.value)).toEqual(unknown);
    expect(await errorFor(expired.value)).toEqual(unknown);
    expect(report.mock.calls).toEqual([
      [revoked.record.id, "revoked"],
      [expired.record.id, "expired"],
    ]);
  });

  it("refuses an expired key, and accepts it until the moment before", async () => {
    const { auth, refusal, key, clock } = await setUp();
    const { value } = await key({ expiresAt: iso(clock.now() + SECOND) });
    clock.advance(SECOND - 1);
    await auth.authenticate({ "x-api-key": value });
    clock.advance(1);
    expect(await refusal({ "x-api-key": value })).toHaveProperty("code", "unauthorized");
  });

  it("refuses a key at the next request after another server revoked it", async () => {
    const here = await setUp();
    const there = await setUp({ stateDir: here.stateDir, clock: here.clock });
    const { value, record } = await here.key();
    await there.auth.authenticate({ "x-api-key": value });
    await here.keys.revoke(record.id, iso(here.clock.now()), "operator");
    expect(await there.refusal({ "x-api-key": value })).toHaveProperty("code", "unauthorized");
    expect(await there.auth.findInvalid([record.id])).toEqual([record.id]);
  });
});

describe("a key of a user", () => {
  const OWNED_BY_ADA = { owner: "ada@example.com" };
  // The scopes of each role are repeated here, so that a change of SCOPES_OF fails.
  const SCOPES_OF_ROLE: Readonly<Record<Role, string>> = {
    viewer: "read",
    editor: "read write publish run approve",
    admin: "read write publish run approve admin",
  };

  it.each(Role.options.flatMap((role) => Scope.options.map((scope) => [role, scope] as const)))(
    "of a user with the role %s that was created with the scope %s has the scopes that both allow",
    async (role, scope) => {
      const { auth, key, ada } = await setUp();
      await ada({ role });
      const { value } = await key({ ...OWNED_BY_ADA, scopes: [scope] });
      const { scopes } = await auth.authenticate({ "x-api-key": value });
      const expected = ["read", scope].filter((one) => SCOPES_OF_ROLE[role].split(" ").includes(one));
      expect(scopes).toEqual(new Set(expected));
    },
  );

  it("with all scopes can only read while its owner is a viewer, and more after a change of the role", async () => {
    const { auth, key, ada, change } = await setUp();
    await ada({ role: "admin" });
    const { value } = await key({ ...OWNED_BY_ADA, scopes: Scope.options });
    const currentScopes = async () => [...(await auth.authenticate({ "x-api-key": value })).scopes].join(" ");
    expect(await currentScopes()).toBe(SCOPES_OF_ROLE.admin);
    await change({ role: "viewer" });
    expect(await currentScopes()).toBe("read");
    await change({ role: "editor" });
    expect(await currentScopes()).toBe(SCOPES_OF_ROLE.editor);
  });

  it("has all chosen scopes if it belongs to the operator, who has no role", async () => {
    const { auth, key } = await setUp();
    const { value } = await key({ scopes: Scope.options });
    expect((await auth.authenticate({ "x-api-key": value })).scopes).toEqual(new Set(Scope.options));
  });

  it.each(["deactivated", "invited"] as const)(
    "is refused while the user is %s, and accepted once the user is active again",
    async (status) => {
      const { auth, key, ada, change, refusal, report } = await setUp();
      await ada();
      const { value, record } = await key(OWNED_BY_ADA);
      const [mine, other] = [record.id, (await key()).record.id];
      await auth.authenticate({ "x-api-key": value });
      await change({ status });
      expect(await refusal({ "x-api-key": value })).toMatchObject({ code: "unauthorized" });
      expect(report.mock.calls).toEqual([[mine, "owner_inactive"]]);
      expect(await auth.findInvalid([mine, other])).toEqual([mine]);
      await change({ status: "active" });
      expect(await auth.authenticate({ "x-api-key": value })).toHaveProperty("keyId", mine);
      expect(await auth.findInvalid([mine, other])).toEqual([]);
    },
  );

  it("is refused if the user does not exist", async () => {
    const { key, keys, refusal, report, auth } = await setUp();
    const { value, record } = await key(OWNED_BY_ADA);
    const { message, code, details } = await refusal({ "x-api-key": newKeyValue() });
    expect(await refusal({ "x-api-key": value })).toMatchObject({ message, code, details });
    expect(report.mock.calls).toEqual([[record.id, "owner_unknown"]]);
    expect(await auth.findInvalid([record.id])).toEqual([record.id]);
    const [listed] = await keys.list();
    expect(listed).toMatchObject({ owner: OWNED_BY_ADA.owner, user: null });
  });

  it("is reported as revoked or expired rather than as belonging to an inactive user", async () => {
    const { key, keys, refusal, report, ada, clock } = await setUp();
    await ada({ status: "deactivated" });
    const revoked = await key(OWNED_BY_ADA);
    await keys.revoke(revoked.record.id, iso(clock.now()), "operator");
    const expired = await key({ ...OWNED_BY_ADA, expiresAt: iso(clock.now()) });
    await refusal({ "x-api-key": revoked.value });
    await refusal({ "x-api-key": expired.value });
    expect(report.mock.calls.map(([, state]) => state)).toEqual(["revoked", "expired"]);
  });

  it("can't be rotated while its owner is not active", async () => {
    const { key, keys, ada, clock } = await setUp();
    await ada({ status: "deactivated" });
    await key(OWNED_BY_ADA);
    const [old] = await keys.list();
    await expect(rotateKey(keys, clock, old!, { overlap: DAY })).rejects.toMatchObject({
      code: "user_not_active",
      message: expect.stringContaining("not active"),
    });
    expect(await keys.list()).toHaveLength(1);
  });
});

describe("the time of last use", () => {
  it("is never written by a request", async () => {
    const { auth, key, touch, lastUsed } = await setUp();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    expect(touch).not.toHaveBeenCalled();
    expect(await lastUsed(record.id)).toBeNull();
  });

  it("is the time of the use, not of the write", async () => {
    const { auth, key, clock, lastUsed } = await setUp();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    const used = iso(clock.now());
    clock.advance(10 * SECOND);
    await auth.flush();
    expect(await lastUsed(record.id)).toBe(used);
  });

  it("is written at most once per key in five minutes with 10,000 requests", async () => {
    const { auth, key, clock, touch } = await setUp();
    const [a, b] = [await key(), await key()];
    for (let request = 0; request < 10_000; request += 1) {
      await auth.authenticate({ "x-api-key": request % 2 === 0 ? a.value : b.value });
      // 10,000 requests take 300 s, with a flush every 10 s as in production.
      clock.advance(30);
      if (request % 333 === 0) await auth.flush();
    }
    expect(touch.mock.calls.flatMap(([uses]) => Array.from(uses.keys())).toSorted()).toEqual(
      [a.record.id, b.record.id].toSorted(),
    );
  });

  it("is written again after five minutes, with the latest use", async () => {
    const { auth, key, clock, lastUsed, touch } = await setUp();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    await auth.flush();
    clock.advance(MINUTE);
    await auth.authenticate({ "x-api-key": value });
    const second = iso(clock.now());
    clock.advance(4 * MINUTE - 1);
    await auth.flush();
    expect(touch).toHaveBeenCalledTimes(1);
    clock.advance(1);
    await auth.flush();
    expect(await lastUsed(record.id)).toBe(second);
    clock.advance(MINUTE * 60);
    await auth.flush();
    expect(touch).toHaveBeenCalledTimes(2);
  });

  it("is never overwritten with an earlier time by another server", async () => {
    const here = await setUp();
    const there = await setUp({ stateDir: here.stateDir, clock: here.clock });
    const { value, record } = await here.key();
    await there.auth.authenticate({ "x-api-key": value });
    here.clock.advance(SECOND);
    await here.auth.authenticate({ "x-api-key": value });
    const later = iso(here.clock.now());
    await here.auth.flush();
    await there.auth.flush();
    expect(await here.lastUsed(record.id)).toBe(later);
    here.clock.advance(10 * MINUTE);
    await here.keys.touch(new Map([[record.id, iso(0)]]), iso(here.clock.now()));
    expect(await here.lastUsed(record.id)).toBe(later);
  });

  it("is not lost when the write fails", async () => {
    const { auth, key, touch, lastUsed, clock } = await setUp();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    touch.mockRejectedValueOnce(new Error("locked"));
    await expect(auth.flush()).rejects.toThrow("locked");
    await auth.flush();
    expect(await lastUsed(record.id)).toBe(iso(clock.now()));
  });

  it("is not written without requests", async () => {
    const { auth, touch } = await setUp();
    await auth.flush();
    expect(touch).not.toHaveBeenCalled();
  });
});
