import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ThrottleSubject,
  type ThrottledAction,
  type CountedAttempt,
  throttle,
} from "../../src/auth/throttle.ts";
import type { RateLimitCounter } from "../../src/core/rate-limit-port.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { rateLimitCounter } from "../../src/store/rate-limit-counts.ts";
import { fakeClock } from "../support/clock.ts";
import { testStore } from "../support/store.ts";

const WINDOW = 15 * MINUTE;

/** A counter in memory, with the number of reads and writes. */
function memoryCounter() {
  const rows = new Map<string, { count: number; endsAt: number }>();
  const calls = { read: 0, increment: 0, refund: 0, clear: 0 };
  const live = (key: string, now: number) => {
    const row = rows.get(key);
    return row !== undefined && row.endsAt > now ? row : { count: 0, endsAt: 0 };
  };
  const counter: RateLimitCounter = {
    async read(keys, now) {
      calls.read += 1;
      await Promise.resolve();
      return keys.map((key) => live(key, now));
    },
    async increment(keys, now) {
      calls.increment += 1;
      await Promise.resolve();
      return keys.map(({ key, windowMs }) => {
        const { count, endsAt } = live(key, now);
        const next = { count: count + 1, endsAt: count === 0 ? now + windowMs : endsAt };
        rows.set(key, next);
        return next;
      });
    },
    async refund(counted) {
      calls.refund += 1;
      for (const { key, endsAt } of counted) {
        const row = rows.get(key);
        if (row?.endsAt === endsAt && row.count > 0) rows.set(key, { endsAt, count: row.count - 1 });
      }
    },
    async clear(keys) {
      calls.clear += 1;
      for (const key of keys) rows.delete(key);
    },
  };
  return { counter, calls, rows };
}

function setUp() {
  const clock = fakeClock();
  const memory = memoryCounter();
  const throttled = throttle(memory.counter, clock);
  const take = (attempt: ThrottleSubject, kind: ThrottledAction = "sign_in") =>
    passes(throttled.consume(kind, attempt));
  /** An attempt with the correct password. */
  const succeed = (attempt: ThrottleSubject, kind: ThrottledAction = "sign_in") =>
    succeeds(throttled.consume(kind, attempt));
  return {
    ...memory,
    throttled: throttled,
    refusal: () => throttled.consume("sign_in", ADA),
    clock,
    take,
    succeed,
  };
}

/** Returns the attempt, or undefined if the throttle refused it. Rethrows other errors. */
async function granted(attempt: Promise<CountedAttempt>): Promise<CountedAttempt | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof AppError && error.code === "too_many_attempts") return undefined;
    throw error;
  }
}

/** Whether the throttle allows the attempt. */
const passes = async (attempt: Promise<CountedAttempt>): Promise<boolean> =>
  (await granted(attempt)) !== undefined;

/** Whether the throttle allows the attempt, which is then marked as successful. */
async function succeeds(attempt: Promise<CountedAttempt>): Promise<boolean> {
  const taken = await granted(attempt);
  await taken?.markSucceeded();
  return taken !== undefined;
}

async function passing(count: number, take: (index: number) => Promise<boolean>): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index += 1) if (await take(index)) passed += 1;
  return passed;
}

const ADA = { account: "ada@example.com", address: "192.0.2.1" };

/** Another account at the same address. */
const another = (i: number): ThrottleSubject => ({ ...ADA, account: `a${i}@example.com` });

/** The same account, at another address. */
const elsewhere = (i: number): ThrottleSubject => ({ ...ADA, address: `192.0.2.${i}` });

/** Another account in another network of the same site. */
const inSite = (i: number): ThrottleSubject => ({
  ...another(i),
  address: `2001:db8:1:${i.toString(16)}::1`,
});

describe("a throttle", () => {
  it("allows 5 attempts per account and address, 20 per account, and 30 per address", async () => {
    const one = setUp();
    expect(await passing(10, () => one.take(ADA))).toBe(5);
    const spread = setUp();
    expect(await passing(50, (i) => spread.take({ ...ADA, address: `192.0.2.${i}` }))).toBe(20);
    const sprayed = setUp();
    expect(await passing(50, (i) => sprayed.take({ ...ADA, account: `a${i}@example.com` }))).toBe(30);
    const visits = setUp();
    expect(await passing(50, () => visits.take({ address: "192.0.2.1" }, "setup"))).toBe(30);
  });

  it("says when to try again, and allows an attempt then", async () => {
    const { take, clock, refusal } = setUp();
    await passing(5, () => take(ADA));
    clock.advance(10 * MINUTE);
    await expect(refusal()).rejects.toMatchObject({
      code: "too_many_attempts",
      message: "There were too many attempts. Try again in 5 minutes.",
      details: { headers: { "Retry-After": "300" } },
    });
    clock.advance(5 * MINUTE - 1);
    await expect(refusal()).rejects.toMatchObject({
      message: "There were too many attempts. Try again in 1 s.",
    });
    clock.advance(1);
    expect(await take(ADA)).toBe(true);
  });

  it("does not let one address lock out an account", async () => {
    const { take } = setUp();
    await passing(100, () => take(ADA));
    expect(await take({ ...ADA, address: "198.51.100.1" })).toBe(true);
  });

  it("neither reads nor writes the counts for a cached refusal", async () => {
    const { take, calls } = setUp();
    await passing(6, () => take(ADA));
    const before = { ...calls };
    expect(await passing(100, () => take(ADA))).toBe(0);
    expect(calls).toEqual(before);
  });

  it("does not write the counts if another server used up the limit", async () => {
    const { take, counter, calls, clock } = setUp();
    await passing(5, () => take(ADA));
    const before = calls.increment;
    const other = throttle(counter, clock);
    expect(await passing(10, () => passes(other.consume("sign_in", ADA)))).toBe(0);
    expect(calls.increment).toBe(before);
  });

  it("enforces the limit for simultaneous attempts, and writes no counts for those that it refuses", async () => {
    const { take, calls, rows } = setUp();
    const all = await Promise.all(Array.from({ length: 200 }, () => take(ADA)));
    expect(all.filter(Boolean)).toHaveLength(5);
    expect(calls).toMatchObject({ read: 5, increment: 10 });
    expect([...rows.values()].map(({ count }) => count)).toEqual([5, 5, 5]);
    // The refused attempts do not use up the limit of the account.
    expect(await take({ ...ADA, address: "198.51.100.1" })).toBe(true);
  });

  it("writes the counts only for those attempts of a burst that it allows", async () => {
    const { take, calls } = setUp();
    await passing(3, () => take(ADA));
    const before = calls.increment;
    const all = await Promise.all(Array.from({ length: 50 }, () => take(ADA)));
    expect(all.filter(Boolean)).toHaveLength(2);
    expect(calls.increment - before).toBe(4);
  });

  it("enforces the limit over several servers, whose refused attempts do not use up the limit of the account", async () => {
    const { counter, clock, take } = setUp();
    const copies = Array.from({ length: 6 }, () => throttle(counter, clock));
    const all = await Promise.all(
      copies.flatMap((copy) => [0, 1, 2, 3, 4].map(() => passes(copy.consume("sign_in", ADA)))),
    );
    expect(all.filter(Boolean)).toHaveLength(5);
    expect(await passing(15, (i) => take({ ...ADA, address: `198.51.100.${i}` }))).toBe(15);
  });

  it("clears the attempts of an account from an address after a success, and no others", async () => {
    const { take, succeed } = setUp();
    for (let round = 0; round < 5; round += 1) {
      expect(await passing(4, () => take(ADA))).toBe(4);
      // The failed attempts use up the 20 of the account.
      expect(await succeed(ADA)).toBe(round < 4);
    }
    expect(await take(ADA)).toBe(false);
  });

  it("never refuses users who know their password, from one address or many", async () => {
    const { succeed, rows } = setUp();
    expect(await passing(100, () => succeed(ADA))).toBe(100);
    expect(await passing(100, (i) => succeed({ ...ADA, address: `192.0.2.${i}` }))).toBe(100);
    expect(await passing(100, (i) => succeed({ ...ADA, account: `a${i}@example.com` }))).toBe(100);
    expect([...rows.values()].every(({ count }) => count === 0)).toBe(true);
  });

  it("refunds exactly what it counted, and nothing in another window", async () => {
    const { throttled, take, clock } = setUp();
    const early = await throttled.consume("sign_in", ADA);
    clock.advance(WINDOW);
    expect(await passing(40, (i) => take(another(i)))).toBe(30);
    await early.markSucceeded();
    expect(await take(another(40))).toBe(false);
    clock.advance(WINDOW);
    const late = await throttled.consume("sign_in", ADA);
    expect(await passing(40, (i) => take(another(i)))).toBe(29);
    await late.markSucceeded();
    expect(await passing(40, (i) => take(another(50 + i)))).toBe(1);
  });

  it("allows attempts within seconds after another server refunded some", async () => {
    const { throttled, counter, take, clock } = setUp();
    const other = throttle(counter, clock);
    const taken = await Promise.all(
      Array.from({ length: 29 }, (_, i) => throttled.consume("sign_in", another(i))),
    );
    await take(another(29));
    expect(await passes(other.consume("sign_in", another(30)))).toBe(false);
    for (const one of taken) await one.markSucceeded();
    clock.advance(10 * SECOND);
    expect(await passes(other.consume("sign_in", another(30)))).toBe(true);
  });

  it("clears the attempts of an account from an address on reset, and no others", async () => {
    const { throttled, take } = setUp();
    for (let round = 0; round < 4; round += 1) {
      expect(await passing(6, () => take(ADA))).toBe(5);
      await throttled.reset("sign_in", ADA);
    }
    expect(await take(ADA)).toBe(false);
  });

  it.each(["to_provider", "authorize"] as const)(
    "allows ten times as many redirects (%s) per address and site, because none is a guess",
    async (kind) => {
      const { take } = setUp();
      expect(await passing(310, () => take({ address: "192.0.2.1" }, kind))).toBe(300);
      expect(await passing(1_010, (i) => take({ address: inSite(i).address }, kind))).toBe(1_000);
    },
  );

  it("refunds an attempt that was not made", async () => {
    const { throttled, take } = setUp();
    const busy = await throttled.consume("sign_in", ADA);
    expect(await passing(4, () => take(ADA))).toBe(4);
    await busy.refund();
    expect(await passing(2, () => take(ADA))).toBe(1);
  });

  it("clears nothing after a success without an account, or of another kind", async () => {
    const { throttled, calls, succeed } = setUp();
    for (const kind of ["decide", "link", "reset"] as const) await succeed(ADA, kind);
    await succeed({ address: ADA.address });
    expect(calls.clear).toBe(0);
    await succeed(ADA);
    expect(calls.clear).toBe(1);
    await throttled.reset("sign_in", ADA);
    expect(calls.clear).toBe(2);
  });

  it("says the time until the last of the exceeded limits ends", async () => {
    const { throttled, take, clock } = setUp();
    await passing(25, (i) => take(another(i)));
    clock.advance(10 * MINUTE);
    await passing(5, () => take(ADA));
    // That of the address ends in 5 minutes, that of the account from there in 15.
    await expect(throttled.consume("sign_in", ADA)).rejects.toMatchObject({
      details: { headers: { "Retry-After": String((15 * MINUTE) / SECOND) } },
    });
  });

  it("counts each kind of attempt separately", async () => {
    const { take } = setUp();
    await passing(6, () => take(ADA));
    expect(await take(ADA, "reset")).toBe(true);
  });

  it("counts all spellings of an account, and all addresses of a network, as one", async () => {
    const { take } = setUp();
    const spellings = ["ada@example.com", " ADA@Example.com ", "Ada@example.COM"];
    expect(await passing(9, (i) => take({ account: spellings[i % 3]!, address: `2001:db8:0:1::${i}` }))).toBe(
      5,
    );
    expect(await take({ ...ADA, address: "2001:db8:0:2::1" })).toBe(true);
    const mapped = setUp();
    const addresses = ["192.0.2.1", "::ffff:192.0.2.1"];
    expect(await passing(8, (i) => mapped.take({ ...ADA, address: addresses[i % 2]! }))).toBe(5);
  });

  it("allows 100 attempts per IPv6 site, over all of its networks", async () => {
    const { take } = setUp();
    expect(await passing(150, (i) => take(inSite(i)))).toBe(100);
    expect(await take({ ...ADA, address: "2001:db8:2::1" })).toBe(true);
    expect(await take(ADA)).toBe(true);
    const visits = setUp();
    expect(await passing(150, (i) => visits.take({ address: inSite(i).address }, "setup"))).toBe(100);
  });

  it("ignores the port of an address", async () => {
    const { take } = setUp();
    expect(await passing(9, (i) => take({ ...ADA, address: `192.0.2.1:${50_000 + i}` }))).toBe(5);
  });

  it.each(["reset", "verification"] as const)(
    "allows 3 %s mails to an account per hour, over all addresses, and 30 from an address",
    async (kind) => {
      const { take, clock, throttled } = setUp();
      expect(await passing(9, (i) => take(elsewhere(i), kind))).toBe(3);
      clock.advance(HOUR - 1);
      await expect(throttled.consume(kind, elsewhere(9))).rejects.toMatchObject({
        code: "too_many_attempts",
      });
      clock.advance(1);
      expect(await take(elsewhere(9), kind)).toBe(true);
      const sprayed = setUp();
      expect(await passing(50, (i) => sprayed.take(another(i), kind))).toBe(30);
      sprayed.clock.advance(WINDOW);
      expect(await sprayed.take(another(60), kind)).toBe(true);
    },
  );

  it("counts each kind of mail and sign-ins separately", async () => {
    const { take } = setUp();
    expect(await passing(9, () => take(ADA, "reset"))).toBe(3);
    expect(await passing(9, () => take(ADA, "verification"))).toBe(3);
    expect(await passing(9, () => take(ADA))).toBe(5);
  });

  it("stores nothing that was entered", async () => {
    const { take, rows } = setUp();
    await take({ account: "my-secret-password", address: "192.0.2.1" });
    expect(rows.size).toBe(3);
    for (const key of rows.keys()) expect(key).toMatch(/^[\w-]{22}$/);
  });

  it("refuses attempts that it can't count", async () => {
    const { counter, clock } = setUp();
    const busy = new AppError("busy", "The state is busy.");
    for (const broken of ["read", "increment"] as const) {
      const throttled = throttle({ ...counter, [broken]: () => Promise.reject(busy) }, clock);
      await expect(throttled.consume("sign_in", ADA)).rejects.toBe(busy);
      // A failed attempt no longer counts as in progress.
      for (let i = 0; i < 10; i += 1) await expect(throttled.consume("sign_in", ADA)).rejects.toBe(busy);
    }
  });

  it("caches a limited number of refusals", async () => {
    const { counter, clock } = setUp();
    let reads = 0;
    const usedUp: RateLimitCounter = {
      ...counter,
      async read(keys, now) {
        reads += 1;
        return keys.map(() => ({ count: 99, endsAt: now + WINDOW }));
      },
    };
    const throttled = throttle(usedUp, clock);
    const from = (i: number) =>
      passes(throttled.consume("sign_in", { account: `a${i}`, address: `10.0.${i >> 8}.${i & 255}` }));
    expect(await passing(5_000, from)).toBe(0);
    expect(reads).toBe(5_000);
    // The last 10,000 of 15,000 keys are cached.
    await from(4_999);
    expect(reads).toBe(5_000);
    await from(0);
    expect(reads).toBe(5_001);
  });
});

const step = fc.record({
  account: fc.integer({ min: 0, max: 3 }),
  address: fc.integer({ min: 0, max: 6 }),
  copy: fc.integer({ min: 0, max: 1 }),
  burst: fc.integer({ min: 1, max: 12 }),
  wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4 * MINUTE })),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Sends bursts to two servers. Returns the allowed attempts, once for each limit that counts them. */
async function allowedAttempts(
  counter: RateLimitCounter,
  clock: ReturnType<typeof fakeClock>,
  steps: readonly Step[],
) {
  const copies = [throttle(counter, clock), throttle(counter, clock)];
  const passed: { label: string; most: number; at: number }[] = [];
  for (const { account, address, copy, burst, wait } of steps) {
    clock.advance(wait);
    const attempt = { account: `a${account}@example.com`, address: `192.0.2.${address}` };
    const all = await Promise.all(
      Array.from({ length: burst }, (_, i) => passes(copies[(copy + i) % 2]!.consume("sign_in", attempt))),
    );
    for (const _ of all.filter(Boolean))
      passed.push(
        { label: `${account} at ${address}`, most: 5, at: clock.now() },
        { label: `account ${account}`, most: 20, at: clock.now() },
        { label: `address ${address}`, most: 30, at: clock.now() },
      );
  }
  return passed;
}

/** The maximum number of attempts allowed within any 15 minutes, as a share of the limit. */
function worstShare(passed: Awaited<ReturnType<typeof allowedAttempts>>): number {
  const shares = passed.map(({ label, most, at }) => {
    const within = passed.filter(
      (other) => other.label === label && other.at >= at && other.at < at + WINDOW,
    );
    return within.length / most;
  });
  return Math.max(0, ...shares);
}

/** A guess at a password, or a sign-in with the attacker's own account, from one of the attacker's addresses. */
const attackerStep = fc.record({
  account: fc.integer({ min: 0, max: 5 }),
  address: fc.integer({ min: 0, max: 2 }),
  own: fc.boolean(),
});

/** Counts the allowed guesses for each account, and the allowed sign-ins of the attacker. */
async function simulateAttack(
  attackerSteps: readonly (typeof attackerStep extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const { take, succeed } = setUp();
  const guesses = Array<number>(6).fill(0);
  const own: boolean[] = [];
  for (const { account, address, own: mine } of attackerSteps) {
    const from = { address: `192.0.2.${address}` };
    if (mine) own.push(await succeed({ ...from, account: `guesser${account}@example.com` }));
    else if (await take({ ...from, account: `a${account}@example.com` })) guesses[account]! += 1;
  }
  return { guesses, own };
}

describe("a throttle, for attempts in any order", () => {
  const withoutPause = step.map((fields) => ({ ...fields, wait: 0 }));

  it("never allows more than the limits in a window", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(withoutPause, { minLength: 1, maxLength: 60 }), async (steps) => {
        expect(
          worstShare(await allowedAttempts(memoryCounter().counter, fakeClock(), steps)),
        ).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("never allows more than twice the limits in any 15 minutes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        expect(
          worstShare(await allowedAttempts(memoryCounter().counter, fakeClock(), steps)),
        ).toBeLessThanOrEqual(2);
      }),
    );
  });

  it("allows no more guesses to an attacker who signs in with their own account in between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(attackerStep, { minLength: 40, maxLength: 200 }), async (attackerSteps) => {
        const { guesses } = await simulateAttack(attackerSteps);
        expect(guesses).toEqual((await simulateAttack(attackerSteps.filter(({ own }) => !own))).guesses);
        expect(Math.max(...guesses)).toBeLessThanOrEqual(15);
      }),
    );
  });

  it("never refuses users who know their password, one after the other or at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }), {
          maxLength: 40,
        }),
        async (turns) => {
          const { succeed } = setUp();
          for (const people of turns) {
            const all = people.map((i) => succeed({ ...ADA, account: `a${i}@example.com` }));
            expect(await Promise.all(all)).not.toContain(false);
          }
        },
      ),
    );
  });

  it("never allows more than the limits in a window of the real store", async () => {
    const { store } = await testStore();
    const counter = rateLimitCounter(store);
    // Each run begins later, so that the windows of the previous one have ended.
    let start = Date.parse("2026-11-21T08:00:00Z");
    await fc.assert(
      fc.asyncProperty(fc.array(withoutPause, { minLength: 20, maxLength: 30 }), async (steps) => {
        start += 2 * WINDOW;
        expect(worstShare(await allowedAttempts(counter, fakeClock(start), steps))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 5 },
    );
  });

  it("allows an attempt from another address one second after a burst", async () => {
    const { take, clock } = setUp();
    await Promise.all(Array.from({ length: 100 }, () => take({ ...ADA, address: "198.51.100.1" })));
    clock.advance(SECOND);
    expect(await take(ADA)).toBe(true);
  });
});
