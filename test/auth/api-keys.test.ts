import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Scope } from "../../schemas/actor.ts";
import { rotateKey } from "../../src/auth/api-keys.ts";
import { DEFAULT_OVERLAP_MS, parseExpiry, apiKeyState } from "../../src/core/api-key-lifecycle.ts";
import { digestOf } from "../../src/auth/key-format.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { fakeClock } from "../support/clock.ts";
import { testInstance } from "../support/instance.ts";

async function setUp() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const find = async (id: string) => (await instance.keys.list()).find((key) => key.id === id)!;
  return { ...instance, clock, find };
}

const OPERATORS = { owner: "operator", user: null };

describe("apiKeyState", () => {
  const end = Date.parse("2027-01-01T00:00:00Z");

  it("is expired from the expiry time on", () => {
    const key = { ...OPERATORS, revokedAt: null, expiresAt: iso(end) };
    expect([end - 1, end, end + 1].map((now) => apiKeyState(key, now))).toEqual([
      "active",
      "expired",
      "expired",
    ]);
  });

  it("is never expired without an expiry date", () => {
    expect(apiKeyState({ ...OPERATORS, revokedAt: null, expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(
      "active",
    );
  });

  it("is revoked rather than expired if both apply", () => {
    expect(apiKeyState({ ...OPERATORS, revokedAt: iso(end), expiresAt: iso(end) }, end)).toBe("revoked");
  });

  it("agrees with the store before, at and after the expiry", async () => {
    const { key, keys, find } = await setUp();
    const expiresAt = [null, iso(end - 1), iso(end), iso(end + 1), parseExpiry("9999-12-31")!];
    for (const one of expiresAt) await key({ ...(one !== null && { expiresAt: one }) });
    const { record } = await key();
    await keys.revoke(record.id, iso(end - DAY), "operator");
    expect((await find(record.id)).revokedAt).toBe(iso(end - DAY));
    const all = await keys.list();
    for (const now of [end - 2, end - 1, end, end + 1, end + 2]) {
      const inactive = all.filter((one) => apiKeyState(one, now) !== "active").map((one) => one.id);
      const ids = [...all.map((one) => one.id), "key_gone"];
      expect(await keys.findInvalid(ids, iso(now))).toEqual([...inactive, "key_gone"]);
    }
  });
});

describe("createKey", () => {
  it("adds the scope read to the chosen scopes, without duplicates", async () => {
    const { key } = await setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...Scope.options)), async (scopes) => {
        const { record } = await key({ scopes });
        expect(record.scopes.toSorted()).toEqual([...new Set<Scope>(["read", ...scopes])].toSorted());
      }),
      { numRuns: 30 },
    );
  });

  it("uses the scopes read, write, publish and run if none are chosen", async () => {
    const { key } = await setUp();
    expect((await key()).record.scopes).toEqual(["read", "write", "publish", "run"]);
  });

  it("stores the digest and the last four characters, never the value", async () => {
    const { key, keys, store } = await setUp();
    const { value, record } = await key({ name: "ci" });
    expect(record).toMatchObject({
      name: "ci",
      lastFour: value.slice(-4),
      lineage: record.id,
      expiresAt: null,
    });
    expect(await keys.findByDigest(digestOf(value))).toEqual({
      ...record,
      lastUsedAt: null,
      revokedAt: null,
      user: null,
      isSingleProject: true,
    });
    const everything = JSON.stringify([
      await store.read.selectFrom("api_keys").selectAll().execute(),
      await store.read.selectFrom("audit_log").selectAll().execute(),
    ]);
    expect(everything).not.toContain(value.slice(5, 30));
  });

  it("records the creator in the audit log", async () => {
    const { key, store } = await setUp();
    const { record } = await key({ owner: "operator" });
    expect(await store.read.selectFrom("audit_log").selectAll().execute()).toMatchObject([
      { operation: "create_api_key", target: record.id, owner: "operator", surface: "cli" },
    ]);
  });
});

describe("rotateKey", () => {
  it("creates a successor with the same name, owner, scopes and lineage, and keeps the old key valid for the overlap", async () => {
    const { clock, key, keys, find } = await setUp();
    const first = await key({ name: "ci", scopes: ["approve"] });
    const { value, record, oldExpiresAt } = await rotateKey(keys, clock, await find(first.record.id), {
      overlap: DEFAULT_OVERLAP_MS,
    });
    expect(value).not.toBe(first.value);
    expect(record).toMatchObject({
      name: "ci",
      owner: first.record.owner,
      scopes: ["read", "approve"],
      lineage: first.record.lineage,
      expiresAt: null,
    });
    expect(oldExpiresAt).toBe(iso(clock.now() + 24 * HOUR));
    const old = await find(first.record.id);
    expect(old.expiresAt).toBe(oldExpiresAt);
    expect(apiKeyState(old, clock.now() + 24 * HOUR - 1)).toBe("active");
    expect(apiKeyState(old, clock.now() + 24 * HOUR)).toBe("expired");
  });

  it("gives the successor the same lifetime as the old key", async () => {
    const { clock, key, keys, find } = await setUp();
    const { record } = await key({ expiresAt: iso(clock.now() + 90 * DAY) });
    clock.advance(80 * DAY);
    const next = await rotateKey(keys, clock, await find(record.id), { overlap: HOUR });
    expect(next.record.expiresAt).toBe(iso(clock.now() + 90 * DAY));
  });

  it("gives the successor the requested expiry", async () => {
    const { clock, key, keys, find } = await setUp();
    const { record } = await key({ expiresAt: iso(clock.now() + 90 * DAY) });
    const expiresAt = iso(clock.now() + DAY);
    const next = await rotateKey(keys, clock, await find(record.id), { overlap: HOUR, expiresAt });
    expect(next.record.expiresAt).toBe(expiresAt);
  });

  it("keeps the expiry of the old key if it is earlier than the end of the overlap", async () => {
    const { clock, key, keys, find } = await setUp();
    const end = iso(clock.now() + HOUR);
    const { record } = await key({ expiresAt: end });
    const { oldExpiresAt } = await rotateKey(keys, clock, await find(record.id), { overlap: DAY });
    expect([oldExpiresAt, (await find(record.id)).expiresAt]).toEqual([end, end]);
  });

  it("expires the old key immediately without an overlap", async () => {
    const { clock, key, keys, find } = await setUp();
    const { record } = await key();
    await rotateKey(keys, clock, await find(record.id), { overlap: 0 });
    expect(apiKeyState(await find(record.id), clock.now())).toBe("expired");
  });

  it("keeps one lineage over many rotations, and the maximum expiry", async () => {
    const { clock, key, keys, find } = await setUp();
    const first = await key({ expiresAt: parseExpiry("9999-12-31")! });
    let id = first.record.id;
    for (let round = 0; round < 3; round += 1) {
      clock.advance(MINUTE);
      const next = await rotateKey(keys, clock, await find(id), { overlap: 0 });
      expect(next.record.lineage).toBe(first.record.id);
      expect(await keys.findInvalid([next.record.id], iso(clock.now()))).toEqual([]);
      id = next.record.id;
    }
    expect((await keys.list()).filter((one) => apiKeyState(one, clock.now()) === "active")).toHaveLength(1);
  });
});

describe("revoking", () => {
  it("returns whether the key was active, and writes one audit entry", async () => {
    const { clock, key, keys, store } = await setUp();
    const { record } = await key();
    expect(await keys.revoke(record.id, iso(clock.now()), "operator")).toBe(true);
    expect(await keys.revoke(record.id, iso(clock.now()), "operator")).toBe(false);
    expect(await keys.revoke("key_gone", iso(clock.now()), "operator")).toBe(false);
    const audit = await store.read.selectFrom("audit_log").select("operation").execute();
    expect(audit.map((one) => one.operation)).toEqual(["create_api_key", "revoke_api_key"]);
  });
});
