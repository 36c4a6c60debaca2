import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LinkRecord, NewApiKey, UserRecord } from "../../src/core/account-ports.ts";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import { apiKeyReader } from "../../src/store/api-keys.ts";
import { rateLimitCounter } from "../../src/store/rate-limit-counts.ts";
import { linkReader } from "../../src/store/links.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sessionStore } from "../../src/store/sessions.ts";
import { userReader } from "../../src/store/users.ts";
import { testDigest, testSession, testUser } from "../support/accounts.ts";
import { testStore } from "../support/store.ts";

async function open(...people: UserRecord[]) {
  const opened = await testStore();
  const { store, write, clock } = opened;
  await write(async (tx) => {
    for (const one of people) await tx.users.insert(one);
  });
  return {
    ...opened,
    users: userReader(store.read),
    sessions: sessionStore(store),
    links: linkReader(store.read),
    keys: apiKeyReader(store.read),
    attempts: rateLimitCounter(store),
    start: clock.now(),
  };
}

const ann = testUser("ann", { role: "admin" });
const ben = testUser("ben");

const testKey = (id: string, owner: string, createdAt: string): NewApiKey => ({
  id,
  owner,
  createdAt,
  name: "ci",
  lastFour: "abcd",
  scopes: ["read"],
  lineage: id,
  expiresAt: null,
  projects: ["default"],
  limits: null,
  application: null,
  digest: testDigest(id),
});

const testLink = (name: string, fields: Partial<LinkRecord> = {}): LinkRecord & { digest: Buffer } => ({
  digest: testDigest(name),
  kind: "reset",
  userId: ann.id,
  createdAt: "2026-11-21T08:00:00.000Z",
  expiresAt: "2026-11-22T08:00:00.000Z",
  ...fields,
});

const SETUP: Partial<LinkRecord> = { kind: "setup", userId: null, expiresAt: null };

const attempt = (key: string) => ({ key, windowMs: MINUTE });

async function insertSessions(tx: Writers, ...sessions: Parameters<typeof testSession>[]): Promise<void> {
  for (const one of sessions) await tx.sessions.insert(testSession(...one));
}

async function insertOneOfEach(tx: Writers): Promise<void> {
  await tx.users.insert(ann);
  await tx.sessions.insert(testSession("a", ann.id));
  await tx.links.insert(testLink("l"));
  await tx.apiKeys.insert(testKey("key_1", ann.email, iso(0)));
  await tx.recordAudit(ann.id);
}

describe("users", () => {
  it("are found by id and address", async () => {
    const whole = testUser("ada", {
      passwordHash: "c2NyeXB0",
      verifiedAt: "2026-11-21T09:00:00.000Z",
      lastLoginAt: "2026-11-21T10:00:00.000Z",
    });
    const { users } = await open(ann, whole);
    expect([await users.find(whole.id), await users.findByEmail(whole.email)]).toEqual([whole, whole]);
    expect([await users.find("usr_x"), await users.findByEmail("x@example.com")]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("exist after the first was created", async () => {
    const { users, write } = await open();
    expect(await users.exists()).toBe(false);
    await write((tx) => tx.users.insertFirst(ann));
    expect(await users.exists()).toBe(true);
  });

  it("have unique addresses: a duplicate is refused, and the transaction continues", async () => {
    const { users, write } = await open(ann);
    await write(async (tx) => {
      await expect(tx.users.insert({ ...ben, email: ann.email })).rejects.toMatchObject({
        code: "email_taken",
      });
      await tx.users.insert(ben);
    });
    expect(await users.count({})).toBe(2);
  });

  it("have exactly one first admin", async () => {
    const { users, write } = await open();
    await write((tx) => tx.users.insertFirst(ann));
    const second = write((tx) => tx.users.insertFirst(ben));
    await expect(second).rejects.toMatchObject({ code: "setup_done", status: 409 });
    await expect(write((tx) => tx.users.insertFirst({ ...ann, id: "usr_2" }))).rejects.toMatchObject({
      code: "setup_done",
    });
    expect(await users.count({})).toBe(1);
  });

  it("are changed only in the given fields", async () => {
    const { users, write } = await open(ann, testUser("ben", { passwordHash: "old" }));
    await write(async (tx) => {
      await tx.users.update("usr_ben", { role: "viewer", status: "deactivated" });
      await tx.users.update("usr_ben", { passwordHash: null });
      await tx.users.update("usr_ben", {});
    });
    expect(await users.find("usr_ben")).toEqual({ ...ben, role: "viewer", status: "deactivated" });
    expect(await users.find("usr_ann")).toEqual(ann);
  });

  it("are listed by address, page by page, each once", async () => {
    const names = ["dora", "ann", "eve", "ben", "cleo"];
    const { users } = await open(...names.map((name) => testUser(name)));
    const pages: string[][] = [];
    let after: Parameters<typeof users.page>[0]["after"] = null;
    do {
      const page = await users.page({ filter: {}, after, limit: 2 });
      pages.push(page.items.map((one) => one.id));
      after = page.next;
    } while (after !== null);
    expect(pages).toEqual([["usr_ann", "usr_ben"], ["usr_cleo", "usr_dora"], ["usr_eve"]]);
  });

  it("are filtered by an exact part of the address, by role and by status", async () => {
    const { users } = await open(
      ann,
      testUser("ann_2", { status: "invited" }),
      testUser("annx2", { role: "viewer" }),
    );
    const found = async (filter: Parameters<typeof users.count>[0]) => {
      const { items } = await users.page({ filter, after: null, limit: 10 });
      expect(await users.count(filter)).toBe(items.length);
      return items.map((one) => one.id);
    };
    expect(await found({ search: "n_2" })).toEqual(["usr_ann_2"]);
    expect(await found({ search: "%" })).toEqual([]);
    expect(await found({ role: "admin" })).toEqual(["usr_ann"]);
    expect(await found({ status: "active" })).toEqual(["usr_ann", "usr_annx2"]);
    expect(await found({ search: "ann", status: "active", role: "viewer" })).toEqual(["usr_annx2"]);
  });

  it("include a count of active admins", async () => {
    const { write } = await open(
      ann,
      ben,
      testUser("old", { role: "admin", status: "deactivated" }),
      testUser("new", { role: "admin", status: "invited" }),
    );
    expect(await write((tx) => tx.users.countActiveAdmins())).toBe(1);
  });
});

describe("sessions", () => {
  it("are found by digest with their user, and by id", async () => {
    const { sessions, write } = await open(ann);
    await write((tx) => insertSessions(tx, ["a", "usr_ann"]));
    const { digest, ...record } = testSession("a", "usr_ann");
    expect(await sessions.findByDigest(digest)).toEqual({ ...record, claimsAt: null, user: ann });
    expect(await sessions.find("a")).toEqual(record);
    expect(await sessions.findByDigest(testDigest("b"))).toBeUndefined();
  });

  it("are listed by user, last used first, without ended ones", async () => {
    const { sessions, write, start } = await open(ann, ben);
    await write((tx) =>
      insertSessions(
        tx,
        ["early", "usr_ann", { lastSeenAt: iso(start + 1) }],
        ["late", "usr_ann", { lastSeenAt: iso(start + 2) }],
        ["idle", "usr_ann", { lastSeenAt: iso(start - 1) }],
        ["expired", "usr_ann", { lastSeenAt: iso(start + 3), expiresAt: iso(start + 5) }],
        ["other", "usr_ben"],
      ),
    );
    const valid = await sessions.listByUser("usr_ann", iso(start + 5), iso(start));
    expect(valid.map((one) => one.id)).toEqual(["late", "early"]);
  });

  it("are invalid when they end, expire or stay idle, or their user is not active", async () => {
    const gone = testUser("gone", { status: "deactivated" });
    const { sessions, write, start } = await open(ann, gone);
    await write((tx) =>
      insertSessions(
        tx,
        ["alive", "usr_ann"],
        ["ended", "usr_ann"],
        ["expired", "usr_ann", { expiresAt: iso(start + DAY) }],
        ["just", "usr_ann", { expiresAt: iso(start + DAY + 1) }],
        ["idle", "usr_ann", { lastSeenAt: iso(start - 1) }],
        ["of-gone", "usr_gone"],
      ),
    );
    expect(await write((tx) => tx.sessions.end("ended"))).toBe(true);
    expect(await write((tx) => tx.sessions.end("ended"))).toBe(false);
    const ids = ["alive", "ended", "expired", "just", "idle", "of-gone", "never"];
    expect(await sessions.findInvalid(ids, iso(start + DAY), iso(start))).toEqual([
      "ended",
      "expired",
      "idle",
      "of-gone",
      "never",
    ]);
    expect(await sessions.findInvalid([], iso(start), iso(start))).toEqual([]);
  });

  it("end together for a user, except the given one", async () => {
    const { sessions, write, start } = await open(ann, ben);
    await write((tx) =>
      insertSessions(tx, ["a", "usr_ann"], ["b", "usr_ann"], ["c", "usr_ann"], ["d", "usr_ben"]),
    );
    expect(await write((tx) => tx.sessions.endAllForUser("usr_ann", "b"))).toBe(2);
    expect(await sessions.findInvalid(["a", "b", "c", "d"], iso(start), iso(start))).toEqual(["a", "c"]);
    expect(await write((tx) => tx.sessions.endAllForUser("usr_ann"))).toBe(1);
    expect(await sessions.find("d")).toBeDefined();
  });

  it("record the latest use: never an earlier one, never of an ended session", async () => {
    const { sessions, write, start, rows } = await open(ann);
    await write((tx) => insertSessions(tx, ["a", "usr_ann"], ["b", "usr_ann"]));
    await write((tx) => tx.sessions.end("b"));
    const later = iso(start + MINUTE);
    await sessions.touch(
      new Map([
        ["a", later],
        ["b", later],
      ]),
    );
    await sessions.touch(new Map([["a", iso(start + 1)]]));
    await sessions.touch(new Map());
    expect(await sessions.find("a")).toHaveProperty("lastSeenAt", later);
    expect(await rows("sessions")).toBe(1);
  });

  it("are purged after their end, a limited number at a time", async () => {
    const { sessions, write, start, rows } = await open(ann);
    await write(async (tx) => {
      await insertSessions(tx, ["alive", "usr_ann"], ["expired", "usr_ann", { expiresAt: iso(start) }]);
      for (let i = 0; i < 510; i += 1)
        await insertSessions(tx, [`idle-${i}`, "usr_ann", { lastSeenAt: iso(start - 1) }]);
    });
    await sessions.purge(iso(start), iso(start));
    expect(await rows("sessions")).toBe(12);
    await sessions.purge(iso(start), iso(start));
    expect(await rows("sessions")).toBe(1);
    await sessions.purge(iso(start), iso(start));
    expect(await sessions.find("alive")).toBeDefined();
  });
});

describe("links", () => {
  it("are found, expired or not, until they are used once", async () => {
    const { links, write } = await open(ann);
    await write((tx) => tx.links.insert(testLink("a")));
    const { digest, ...record } = testLink("a");
    expect(await links.find(digest)).toEqual(record);
    expect(await write((tx) => tx.links.consume(digest))).toBe(true);
    expect(await write((tx) => tx.links.consume(digest))).toBe(false);
    expect(await links.find(digest)).toBeUndefined();
    expect(await write((tx) => tx.links.consume(testDigest("x")))).toBe(false);
  });

  it("are used by only one of several concurrent requests", async () => {
    const here = await open(ann);
    const there = await testStore({ stateDir: here.stateDir, clock: here.clock });
    await here.write((tx) => tx.links.insert(testLink("a")));
    const results = [here, there, here, there].map(({ write }) =>
      write((tx) => tx.links.consume(testDigest("a"))),
    );
    expect((await Promise.all(results)).filter(Boolean)).toEqual([true]);
  });

  it("are removed by user and kind, also without a user", async () => {
    const { links, write } = await open(ann, ben);
    await write(async (tx) => {
      await tx.links.insert(testLink("reset"));
      await tx.links.insert(testLink("invitation", { kind: "invitation" }));
      await tx.links.insert(testLink("bens", { userId: ben.id }));
      await tx.links.insert(testLink("setup", SETUP));
      await tx.links.removeForUser("usr_ann", ["reset", "verification"]);
    });
    const existing = async () => {
      const names = ["reset", "invitation", "bens", "setup"];
      const found = await Promise.all(names.map((name) => links.find(testDigest(name))));
      return names.filter((_, index) => found[index] !== undefined);
    };
    expect(await existing()).toEqual(["invitation", "bens", "setup"]);
    await write((tx) => tx.links.removeForUser(null, ["setup"]));
    expect(await existing()).toEqual(["invitation", "bens"]);
  });

  it("are purged after they expire, some with each new link; those without an expiry never", async () => {
    const { links, write, rows, clock } = await open(ann);
    const insert = (name: string, fields: Partial<LinkRecord> = {}) =>
      write((tx) => tx.links.insert(testLink(name, fields)));
    await insert("setup", SETUP);
    await insert("ends", { expiresAt: iso(clock.now() + HOUR) });
    await insert("continues", { expiresAt: iso(clock.now() + HOUR + 1) });
    clock.advance(HOUR);
    await insert("next");
    expect(await rows("account_links")).toBe(3);
    expect(await links.find(testDigest("ends"))).toBeUndefined();
    for (let i = 0; i < 60; i += 1) await insert(`many ${i}`, { expiresAt: iso(clock.now() + 1) });
    clock.advance(1);
    await insert("one more");
    expect(await rows("account_links")).toBe(14);
    await insert("and another");
    expect(await rows("account_links")).toBe(4);
    for (const name of ["setup", "next", "one more", "and another"])
      expect(await links.find(testDigest(name))).toBeDefined();
  });
});

describe("API keys", () => {
  it("are listed newest first, page by page, of one owner or of all, with the owner's current role", async () => {
    const { keys, write, start } = await open(ann, testUser("ben", { status: "deactivated" }));
    await write(async (tx) => {
      for (const [i, owner] of ["operator", ann.email, ben.email, ann.email, "gone@example.com"].entries())
        await tx.apiKeys.insert(testKey(`key_${i}`, owner, iso(start + Math.floor(i / 2))));
    });
    const pages = async (filter: { owner?: string }) => {
      const found: string[] = [];
      let after: Parameters<typeof keys.page>[0]["after"] = null;
      do {
        const page = await keys.page({ filter, after, limit: 2 });
        found.push(...page.items.map(({ id, user }) => `${id} ${user?.role} ${user?.status}`));
        after = page.next;
      } while (after !== null);
      expect(await keys.count(filter)).toBe(found.length);
      return found;
    };
    expect(await pages({})).toEqual([
      "key_4 undefined undefined",
      "key_3 admin active",
      "key_2 editor deactivated",
      "key_1 admin active",
      "key_0 undefined undefined",
    ]);
    expect(await pages({ owner: ann.email })).toEqual(["key_3 admin active", "key_1 admin active"]);
    expect(await pages({ owner: "x" })).toEqual([]);
    expect(await keys.find("key_2")).toHaveProperty("user", { role: "editor", status: "deactivated" });
    expect(await keys.find("key_x")).toBeUndefined();
  });

  it("are revoked once, and a revoked key can't be rotated", async () => {
    const { keys, write, start } = await open(ann);
    await write((tx) => tx.apiKeys.insert(testKey("key_1", ann.email, iso(start))));
    const rotate = (id: string) =>
      write((tx) => tx.apiKeys.rotate("key_1", iso(start + HOUR), testKey(id, ann.email, iso(start))));
    expect(await rotate("key_2")).toBe(true);
    expect(await keys.find("key_1")).toHaveProperty("expiresAt", iso(start + HOUR));
    expect(await write((tx) => tx.apiKeys.revoke("key_1", iso(start)))).toBe(true);
    expect(await write((tx) => tx.apiKeys.revoke("key_1", iso(start + 1)))).toBe(false);
    expect(await rotate("key_3")).toBe(false);
    expect(await keys.count({})).toBe(2);
  });
});

describe("attempts", () => {
  it("are counted in a window that begins with the first attempt, then in the next window", async () => {
    const { attempts, start } = await open();
    const endsAt = start + MINUTE;
    expect(await attempts.read(["a"], start)).toEqual([{ count: 0, endsAt: 0 }]);
    expect(await attempts.increment([attempt("a")], start)).toEqual([{ count: 1, endsAt }]);
    expect(await attempts.increment([attempt("a")], endsAt - 1)).toEqual([{ count: 2, endsAt }]);
    expect(await attempts.read(["b", "a"], endsAt - 1)).toEqual([
      { count: 0, endsAt: 0 },
      { count: 2, endsAt },
    ]);
    expect(await attempts.read(["a"], endsAt)).toEqual([{ count: 0, endsAt: 0 }]);
    expect(await attempts.increment([attempt("a")], endsAt)).toEqual([{ count: 1, endsAt: endsAt + MINUTE }]);
  });

  it("equal a plain count in any order of calls", async () => {
    const { attempts, start } = await open();
    const step = fc.record({
      keys: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }),
      wait: fc.integer({ min: 0, max: 40_000 }),
      what: fc.constantFrom("add", "add", "add", "clear", "refund"),
    });
    let now = start;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const model = new Map<string, { count: number; endsAt: number }>();
        const actual: { count: number; endsAt: number }[] = [];
        const expected: typeof actual = [];
        await attempts.clear(["a", "b", "c"]);
        for (const { keys, wait, what } of steps) {
          now += wait;
          const known = (name: string) => {
            const one = model.get(name);
            return one !== undefined && one.endsAt > now ? one : undefined;
          };
          if (what === "clear") {
            await attempts.clear(keys);
            for (const name of keys) model.delete(name);
          } else if (what === "refund") {
            // Also of windows that have ended, where it has no visible effect.
            await attempts.refund(keys.map((key) => ({ key, endsAt: model.get(key)?.endsAt ?? now })));
            for (const name of keys) {
              const one = model.get(name);
              if (one !== undefined) model.set(name, { ...one, count: Math.max(0, one.count - 1) });
            }
          } else {
            for (const name of keys) {
              const one = known(name);
              model.set(name, { count: (one?.count ?? 0) + 1, endsAt: one?.endsAt ?? now + MINUTE });
            }
            actual.push(...(await attempts.increment(keys.map(attempt), now)));
            expected.push(...keys.map((name) => model.get(name)!));
          }
          const all = ["a", "b", "c"];
          actual.push(...(await attempts.read(all, now)));
          expected.push(...all.map((name) => known(name) ?? { count: 0, endsAt: 0 }));
        }
        expect(actual).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it("are refunded in their own window, never below zero", async () => {
    const { attempts, start } = await open();
    const endsAt = start + MINUTE;
    await attempts.increment([attempt("a"), attempt("b")], start);
    await attempts.refund([{ key: "a", endsAt }]);
    await attempts.refund([{ key: "a", endsAt }]);
    expect(await attempts.read(["a", "b"], start)).toEqual([
      { count: 0, endsAt },
      { count: 1, endsAt },
    ]);
    await attempts.increment([attempt("b")], endsAt);
    await attempts.refund([{ key: "b", endsAt }]);
    expect(await attempts.read(["b"], endsAt)).toMatchObject([{ count: 1 }]);
    await attempts.refund([{ key: "none", endsAt }]);
    expect(await attempts.read(["none"], start)).toEqual([{ count: 0, endsAt: 0 }]);
  });

  it("are complete when several processes count at once", async () => {
    const { stateDir, clock, attempts, start } = await open();
    const other = rateLimitCounter((await testStore({ stateDir, clock })).store);
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? other : attempts).increment([attempt("a"), attempt("b")], start),
      ),
    );
    expect(added.map(([a]) => a!.count).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(await other.read(["b"], start)).toMatchObject([{ count: 20 }]);
  });

  it("are purged long after their window, a limited number at a time", async () => {
    const { attempts, start, rows } = await open();
    const many = Array.from({ length: 120 }, (_, i) => attempt(`k${i}`));
    await attempts.increment(many, start);
    await attempts.increment([attempt("a")], start + MINUTE + HOUR - 1);
    expect(await rows("attempt_counts")).toBe(121);
    await attempts.increment([attempt("a")], start + MINUTE + HOUR);
    expect(await rows("attempt_counts")).toBe(71);
    await attempts.increment([attempt("a")], start + MINUTE + HOUR);
    await attempts.increment([attempt("a")], start + MINUTE + HOUR);
    expect(await rows("attempt_counts")).toBe(1);
  });

  it("accept an empty list of keys", async () => {
    const { attempts, start } = await open();
    expect([await attempts.read([], start), await attempts.increment([], start)]).toEqual([[], []]);
    await attempts.clear([]);
  });
});

describe("a change of accounts", () => {
  const TABLES: readonly (keyof Schema)[] = ["users", "sessions", "account_links", "api_keys", "audit_log"];
  it("is committed as a whole, with the operation's audit entry", async () => {
    const { write, rows } = await open();
    await write(insertOneOfEach);
    expect(await Promise.all(TABLES.map(rows))).toEqual([1, 1, 1, 1, 1]);
  });

  it("is rolled back when it fails", async () => {
    const { write, rows } = await open();
    const boom = new Error("boom");
    const failing = write(async (tx) => {
      await insertOneOfEach(tx);
      throw boom;
    });
    await expect(failing).rejects.toBe(boom);
    expect(await Promise.all(TABLES.map(rows))).toEqual([0, 0, 0, 0, 0]);
  });
});
