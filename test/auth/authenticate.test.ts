import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { authenticator } from "../../src/auth/authenticate.ts";
import { newKeyValue } from "../../src/auth/key-format.ts";
import { DAY, iso, MINUTE, SECOND } from "../../src/core/clock.ts";
import type { AppError } from "../../src/core/errors.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";

async function open({ stateDir = temporaryDirectory(), clock = fakeClock() } = {}) {
  const instance = await testInstance({ stateDir, clock });
  const report = vi.fn<(id: string, state: string) => void>();
  const lookUp = vi.spyOn(instance.keys, "findByDigest");
  const touch = vi.spyOn(instance.keys, "touch");
  const auth = authenticator(instance.keys, clock, report);
  const refusal = (headers: IncomingHttpHeaders): Promise<AppError> =>
    auth.authenticate(headers).then(
      () => expect.fail("it was let in"),
      (error: AppError) => error,
    );
  const lastUsed = async (id: string) =>
    (await instance.keys.list()).find((one) => one.id === id)!.lastUsedAt;
  return { ...instance, clock, stateDir, report, lookUp, touch, auth, refusal, lastUsed };
}

describe("authenticate", () => {
  it("tells whose key it is", async () => {
    const { auth, key } = await open();
    const { value, record } = await key({ name: "ci", owner: "ada@example.com", scopes: ["run"] });
    expect(await auth.authenticate({ "x-api-key": value })).toEqual({
      keyId: record.id,
      keyName: "ci",
      owner: "ada@example.com",
      lineage: record.lineage,
      scopes: new Set(["read", "run"]),
    });
  });

  it.each<[string, (value: string) => IncomingHttpHeaders]>([
    ["X-API-Key", (value) => ({ "x-api-key": value })],
    ["X-API-Key with space around it", (value) => ({ "x-api-key": ` ${value} ` })],
    ["Bearer", (value) => ({ authorization: `Bearer ${value}` })],
    ["bearer in any case", (value) => ({ authorization: `bEARER   ${value} ` })],
    ["X-API-Key beside another scheme", (value) => ({ "x-api-key": value, authorization: "Basic YTpi" })],
    [
      "X-API-Key before Bearer",
      (value) => ({ "x-api-key": value, authorization: `Bearer ${newKeyValue()}` }),
    ],
  ])("takes a key by %s", async (_, headers) => {
    const { auth, key } = await open();
    const { value, record } = await key();
    expect(await auth.authenticate(headers(value))).toHaveProperty("keyId", record.id);
  });

  it("does not fall back on Bearer when X-API-Key is wrong", async () => {
    const { refusal, key } = await open();
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
  ])("refuses %s without a look-up", async (_, headers) => {
    const { refusal, lookUp, key } = await open();
    const { value } = await key();
    expect(await refusal(headers(value))).toMatchObject({ code: "unauthorized" });
    expect(lookUp).not.toHaveBeenCalled();
  });

  it("says the same of every key that does not work, and reports the dead ones for the log alone", async () => {
    const { refusal, report, key, keys, clock } = await open();
    const revoked = await key();
    await keys.revoke(revoked.record.id, iso(clock.now()), "operator");
    const expired = await key({ expiresAt: iso(clock.now() + DAY) });
    clock.advance(DAY);
    const outward = async (value: string) => {
      const { message, code, status, details } = await refusal({ "x-api-key": value });
      return { message, code, status, details };
    };
    const unknown = await outward(newKeyValue());
    expect(unknown).toMatchObject({ status: 401 });
    expect(await outward("malformed")).toEqual(unknown);
    expect(await outward(revoked.value)).toEqual(unknown);
    expect(await outward(expired.value)).toEqual(unknown);
    expect(report.mock.calls).toEqual([
      [revoked.record.id, "revoked"],
      [expired.record.id, "expired"],
    ]);
  });

  it("refuses a key at its last moment and lets it in just before", async () => {
    const { auth, refusal, key, clock } = await open();
    const { value } = await key({ expiresAt: iso(clock.now() + SECOND) });
    clock.advance(SECOND - 1);
    await auth.authenticate({ "x-api-key": value });
    clock.advance(1);
    expect(await refusal({ "x-api-key": value })).toHaveProperty("code", "unauthorized");
  });

  it("refuses at the next request a key that another copy revoked", async () => {
    const here = await open();
    const there = await open({ stateDir: here.stateDir, clock: here.clock });
    const { value, record } = await here.key();
    await there.auth.authenticate({ "x-api-key": value });
    await here.keys.revoke(record.id, iso(here.clock.now()), "operator");
    expect(await there.refusal({ "x-api-key": value })).toHaveProperty("code", "unauthorized");
    expect(await there.auth.deadAmong([record.id])).toEqual([record.id]);
  });
});

describe("last used", () => {
  it("is never written by a request", async () => {
    const { auth, key, touch, lastUsed } = await open();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    expect(touch).not.toHaveBeenCalled();
    expect(await lastUsed(record.id)).toBeNull();
  });

  it("is the moment of the use, not of the writing", async () => {
    const { auth, key, clock, lastUsed } = await open();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    const used = iso(clock.now());
    clock.advance(10 * SECOND);
    await auth.flush();
    expect(await lastUsed(record.id)).toBe(used);
  });

  it("is written at most once per key and five minutes for 10,000 requests", async () => {
    const { auth, key, clock, touch } = await open();
    const [a, b] = [await key(), await key()];
    for (let request = 0; request < 10_000; request += 1) {
      await auth.authenticate({ "x-api-key": request % 2 === 0 ? a.value : b.value });
      // 10,000 requests in 300 s, with a flush every 10 s as in service.
      clock.advance(30);
      if (request % 333 === 0) await auth.flush();
    }
    expect(touch.mock.calls.flatMap(([uses]) => Array.from(uses.keys())).toSorted()).toEqual(
      [a.record.id, b.record.id].toSorted(),
    );
  });

  it("is written again after five minutes, with the latest use", async () => {
    const { auth, key, clock, lastUsed, touch } = await open();
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

  it("is written by the one of two copies that comes first, and never set back", async () => {
    const here = await open();
    const there = await open({ stateDir: here.stateDir, clock: here.clock });
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
    const { auth, key, touch, lastUsed, clock } = await open();
    const { value, record } = await key();
    await auth.authenticate({ "x-api-key": value });
    touch.mockRejectedValueOnce(new Error("locked"));
    await expect(auth.flush()).rejects.toThrow("locked");
    await auth.flush();
    expect(await lastUsed(record.id)).toBe(iso(clock.now()));
  });

  it("costs nothing when nobody came", async () => {
    const { auth, touch } = await open();
    await auth.flush();
    expect(touch).not.toHaveBeenCalled();
  });
});
