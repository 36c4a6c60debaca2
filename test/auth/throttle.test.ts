import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ThrottleSubject,
  type ThrottledAction,
  type CountedAttempt,
  throttle,
} from "../../src/auth/throttle.ts";
import type { RateLimitCounter } from "../../src/core/account-ports.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { rateLimitCounter } from "../../src/store/rate-limit-counts.ts";
import { fakeClock } from "../support/instance.ts";
import { testStore } from "../support/store.ts";

const WINDOW = 15 * MINUTE;

/** Counts in memory, and how often it was read and written. */
function memoryCounter() {
  const rows = new Map<string, { count: number; endsAt: number }>();
  const calls = { read: 0, add: 0, giveBack: 0, clear: 0 };
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
      calls.add += 1;
      await Promise.resolve();
      return keys.map(({ key, windowMs }) => {
        const { count, endsAt } = live(key, now);
        const next = { count: count + 1, endsAt: count === 0 ? now + windowMs : endsAt };
        rows.set(key, next);
        return next;
      });
    },
    async refund(counted) {
      calls.giveBack += 1;
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

function open() {
  const clock = fakeClock();
  const memory = memoryCounter();
  const asked = throttle(memory.counter, clock);
  const take = (attempt: ThrottleSubject, kind: ThrottledAction = "sign_in") =>
    passes(asked.consume(kind, attempt));
  /** With the right password. */
  const succeed = (attempt: ThrottleSubject, kind: ThrottledAction = "sign_in") =>
    succeeds(asked.consume(kind, attempt));
  return { ...memory, asked, refusal: () => asked.consume("sign_in", ADA), clock, take, succeed };
}

/** The attempt, if it may go on; anything but the refusal is thrown. */
async function granted(taking: Promise<CountedAttempt>): Promise<CountedAttempt | undefined> {
  try {
    return await taking;
  } catch (error) {
    if (error instanceof AppError && error.code === "too_many_attempts") return undefined;
    throw error;
  }
}

/** Whether it may go on. */
const passes = async (taking: Promise<CountedAttempt>): Promise<boolean> =>
  (await granted(taking)) !== undefined;

/** Whether it may go on, and then goes well. */
async function succeeds(taking: Promise<CountedAttempt>): Promise<boolean> {
  const taken = await granted(taking);
  await taken?.markSucceeded();
  return taken !== undefined;
}

async function passing(count: number, take: (index: number) => Promise<boolean>): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index += 1) if (await take(index)) passed += 1;
  return passed;
}

const ADA = { account: "ada@example.com", address: "192.0.2.1" };

/** Somebody else at the same address. */
const another = (i: number): ThrottleSubject => ({ ...ADA, account: `a${i}@example.com` });

/** The same account, at another address. */
const elsewhere = (i: number): ThrottleSubject => ({ ...ADA, address: `192.0.2.${i}` });

/** Somebody else in another network of one site. */
const inSite = (i: number): ThrottleSubject => ({
  ...another(i),
  address: `2001:db8:1:${i.toString(16)}::1`,
});

describe("a throttle", () => {
  it("lets 5 through by account and address, 20 by account, 30 by address", async () => {
    const one = open();
    expect(await passing(10, () => one.take(ADA))).toBe(5);
    const spread = open();
    expect(await passing(50, (i) => spread.take({ ...ADA, address: `192.0.2.${i}` }))).toBe(20);
    const sprayed = open();
    expect(await passing(50, (i) => sprayed.take({ ...ADA, account: `a${i}@example.com` }))).toBe(30);
    const visits = open();
    expect(await passing(50, () => visits.take({ address: "192.0.2.1" }, "setup"))).toBe(30);
  });

  it("says when to go on, and lets it go on then", async () => {
    const { take, clock, refusal } = open();
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

  it("does not let one address lock an account out", async () => {
    const { take } = open();
    await passing(100, () => take(ADA));
    expect(await take({ ...ADA, address: "198.51.100.1" })).toBe(true);
  });

  it("neither reads nor writes for one that was refused before", async () => {
    const { take, calls } = open();
    await passing(6, () => take(ADA));
    const before = { ...calls };
    expect(await passing(100, () => take(ADA))).toBe(0);
    expect(calls).toEqual(before);
  });

  it("does not write for one that another copy used up", async () => {
    const { take, counter, calls, clock } = open();
    await passing(5, () => take(ADA));
    const before = calls.add;
    const other = throttle(counter, clock);
    expect(await passing(10, () => passes(other.consume("sign_in", ADA)))).toBe(0);
    expect(calls.add).toBe(before);
  });

  it("lets no more through that come at the same time, and writes for none of the others", async () => {
    const { take, calls, rows } = open();
    const all = await Promise.all(Array.from({ length: 200 }, () => take(ADA)));
    expect(all.filter(Boolean)).toHaveLength(5);
    expect(calls).toMatchObject({ read: 5, add: 10 });
    expect([...rows.values()].map(({ count }) => count)).toEqual([5, 5, 5]);
    // Those of the account are not used up by it.
    expect(await take({ ...ADA, address: "198.51.100.1" })).toBe(true);
  });

  it("lets only as many of a burst write as may still pass", async () => {
    const { take, calls } = open();
    await passing(3, () => take(ADA));
    const before = calls.add;
    const all = await Promise.all(Array.from({ length: 50 }, () => take(ADA)));
    expect(all.filter(Boolean)).toHaveLength(2);
    expect(calls.add - before).toBe(4);
  });

  it("lets no more through over several copies, which don't use the account up for others", async () => {
    const { counter, clock, take } = open();
    const copies = Array.from({ length: 6 }, () => throttle(counter, clock));
    const all = await Promise.all(
      copies.flatMap((copy) => [0, 1, 2, 3, 4].map(() => passes(copy.consume("sign_in", ADA)))),
    );
    expect(all.filter(Boolean)).toHaveLength(5);
    expect(await passing(15, (i) => take({ ...ADA, address: `198.51.100.${i}` }))).toBe(15);
  });

  it("forgets what an account tried from an address when it went well, and nothing else", async () => {
    const { take, succeed } = open();
    for (let round = 0; round < 5; round += 1) {
      expect(await passing(4, () => take(ADA))).toBe(4);
      // The last of the 20 by account are used up by what went wrong.
      expect(await succeed(ADA)).toBe(round < 4);
    }
    expect(await take(ADA)).toBe(false);
  });

  it("lets who knows the password in as often as they like, from one address or many", async () => {
    const { succeed, rows } = open();
    expect(await passing(100, () => succeed(ADA))).toBe(100);
    expect(await passing(100, (i) => succeed({ ...ADA, address: `192.0.2.${i}` }))).toBe(100);
    expect(await passing(100, (i) => succeed({ ...ADA, account: `a${i}@example.com` }))).toBe(100);
    expect([...rows.values()].every(({ count }) => count === 0)).toBe(true);
  });

  it("gives back what it counted and no more, and nothing of another window", async () => {
    const { asked, take, clock } = open();
    const early = await asked.consume("sign_in", ADA);
    clock.advance(WINDOW);
    expect(await passing(40, (i) => take(another(i)))).toBe(30);
    await early.markSucceeded();
    expect(await take(another(40))).toBe(false);
    clock.advance(WINDOW);
    const late = await asked.consume("sign_in", ADA);
    expect(await passing(40, (i) => take(another(i)))).toBe(29);
    await late.markSucceeded();
    expect(await passing(40, (i) => take(another(50 + i)))).toBe(1);
  });

  it("sees within seconds what another copy has given back", async () => {
    const { asked, counter, take, clock } = open();
    const other = throttle(counter, clock);
    const taken = await Promise.all(
      Array.from({ length: 29 }, (_, i) => asked.consume("sign_in", another(i))),
    );
    await take(another(29));
    expect(await passes(other.consume("sign_in", another(30)))).toBe(false);
    for (const one of taken) await one.markSucceeded();
    clock.advance(10 * SECOND);
    expect(await passes(other.consume("sign_in", another(30)))).toBe(true);
  });

  it("forgives what an account tried from an address where its owner came in another way, and nothing else", async () => {
    const { asked, take } = open();
    for (let round = 0; round < 4; round += 1) {
      expect(await passing(6, () => take(ADA))).toBe(5);
      await asked.reset("sign_in", ADA);
    }
    expect(await take(ADA)).toBe(false);
  });

  it("counts each kind by itself", async () => {
    const { take } = open();
    await passing(6, () => take(ADA));
    expect(await take(ADA, "reset")).toBe(true);
  });

  it("takes spellings of an account and addresses of a network as one", async () => {
    const { take } = open();
    const spellings = ["ada@example.com", " ADA@Example.com ", "Ada@example.COM"];
    expect(await passing(9, (i) => take({ account: spellings[i % 3]!, address: `2001:db8:0:1::${i}` }))).toBe(
      5,
    );
    expect(await take({ ...ADA, address: "2001:db8:0:2::1" })).toBe(true);
    const mapped = open();
    const addresses = ["192.0.2.1", "::ffff:192.0.2.1"];
    expect(await passing(8, (i) => mapped.take({ ...ADA, address: addresses[i % 2]! }))).toBe(5);
  });

  it("lets 100 through by IPv6 site, however many networks its customer makes of it", async () => {
    const { take } = open();
    expect(await passing(150, (i) => take(inSite(i)))).toBe(100);
    expect(await take({ ...ADA, address: "2001:db8:2::1" })).toBe(true);
    expect(await take(ADA)).toBe(true);
    const visits = open();
    expect(await passing(150, (i) => visits.take({ address: inSite(i).address }, "setup"))).toBe(100);
  });

  it("takes no port for another address", async () => {
    const { take } = open();
    expect(await passing(9, (i) => take({ ...ADA, address: `192.0.2.1:${50_000 + i}` }))).toBe(5);
  });

  it.each(["reset", "verification"] as const)(
    "lets 3 mails of the kind %s go to an account in an hour, whoever asks, and 30 from an address",
    async (kind) => {
      const { take, clock, asked } = open();
      expect(await passing(9, (i) => take(elsewhere(i), kind))).toBe(3);
      clock.advance(HOUR - 1);
      await expect(asked.consume(kind, elsewhere(9))).rejects.toMatchObject({ code: "too_many_attempts" });
      clock.advance(1);
      expect(await take(elsewhere(9), kind)).toBe(true);
      const sprayed = open();
      expect(await passing(50, (i) => sprayed.take(another(i), kind))).toBe(30);
      sprayed.clock.advance(WINDOW);
      expect(await sprayed.take(another(60), kind)).toBe(true);
    },
  );

  it("counts the mails of one kind apart from those of another, and from signing in", async () => {
    const { take } = open();
    expect(await passing(9, () => take(ADA, "reset"))).toBe(3);
    expect(await passing(9, () => take(ADA, "verification"))).toBe(3);
    expect(await passing(9, () => take(ADA))).toBe(5);
  });

  it("keeps nothing that was typed", async () => {
    const { take, rows } = open();
    await take({ account: "my-secret-password", address: "192.0.2.1" });
    expect(rows.size).toBe(3);
    for (const key of rows.keys()) expect(key).toMatch(/^[\w-]{22}$/);
  });

  it("lets nothing pass that it can't count", async () => {
    const { counter, clock } = open();
    const busy = new AppError("busy", "The state is busy.");
    for (const broken of ["read", "increment"] as const) {
      const asked = throttle({ ...counter, [broken]: () => Promise.reject(busy) }, clock);
      await expect(asked.consume("sign_in", ADA)).rejects.toBe(busy);
      // What failed is not under way any more.
      for (let i = 0; i < 10; i += 1) await expect(asked.consume("sign_in", ADA)).rejects.toBe(busy);
    }
  });

  it("remembers a bounded number of refusals", async () => {
    const { counter, clock } = open();
    let reads = 0;
    const usedUp: RateLimitCounter = {
      ...counter,
      async read(keys, now) {
        reads += 1;
        return keys.map(() => ({ count: 99, endsAt: now + WINDOW }));
      },
    };
    const asked = throttle(usedUp, clock);
    const from = (i: number) =>
      passes(asked.consume("sign_in", { account: `a${i}`, address: `10.0.${i >> 8}.${i & 255}` }));
    expect(await passing(5_000, from)).toBe(0);
    expect(reads).toBe(5_000);
    // Of 15,000 keys the last 10,000 are remembered.
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

/** What passes, by what it counts for, when two copies are asked with bursts that both of them get a share of. */
async function passedBy(
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

/** The most that passed within any 15 minutes, as a share of the limit. */
function worstShare(passed: Awaited<ReturnType<typeof passedBy>>): number {
  const shares = passed.map(({ label, most, at }) => {
    const within = passed.filter(
      (other) => other.label === label && other.at >= at && other.at < at + WINDOW,
    );
    return within.length / most;
  });
  return Math.max(0, ...shares);
}

/** A guess at somebody's password, or the guesser signing in with an account of their own, from one of their addresses. */
const move = fc.record({
  account: fc.integer({ min: 0, max: 5 }),
  address: fc.integer({ min: 0, max: 2 }),
  own: fc.boolean(),
});

/** How many guesses pass at each account, and whether the guesser's own attempts all did. */
async function guessed(moves: readonly (typeof move extends fc.Arbitrary<infer T> ? T : never)[]) {
  const { take, succeed } = open();
  const guesses = Array<number>(6).fill(0);
  const own: boolean[] = [];
  for (const { account, address, own: mine } of moves) {
    const from = { address: `192.0.2.${address}` };
    if (mine) own.push(await succeed({ ...from, account: `guesser${account}@example.com` }));
    else if (await take({ ...from, account: `a${account}@example.com` })) guesses[account]! += 1;
  }
  return { guesses, own };
}

describe("whatever comes in whatever order", () => {
  const still = step.map((moving) => ({ ...moving, wait: 0 }));

  it("never more than the limits pass in a window", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(still, { minLength: 1, maxLength: 60 }), async (steps) => {
        expect(worstShare(await passedBy(memoryCounter().counter, fakeClock(), steps))).toBeLessThanOrEqual(
          1,
        );
      }),
    );
  });

  it("never more than twice the limits pass in any 15 minutes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        expect(worstShare(await passedBy(memoryCounter().counter, fakeClock(), steps))).toBeLessThanOrEqual(
          2,
        );
      }),
    );
  });

  it("who guesses wins nothing by signing in with an account of their own in between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 40, maxLength: 200 }), async (moves) => {
        const { guesses } = await guessed(moves);
        expect(guesses).toEqual((await guessed(moves.filter(({ own }) => !own))).guesses);
        expect(Math.max(...guesses)).toBeLessThanOrEqual(15);
      }),
    );
  });

  it("who knows their password is never refused, as often as they sign in, one after the other or beside others", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 }), {
          maxLength: 40,
        }),
        async (turns) => {
          const { succeed } = open();
          for (const people of turns) {
            const all = people.map((i) => succeed({ ...ADA, account: `a${i}@example.com` }));
            expect(await Promise.all(all)).not.toContain(false);
          }
        },
      ),
    );
  });

  it("holds over the real store, too", async () => {
    const { store } = await testStore();
    const counter = rateLimitCounter(store);
    // Later each time, so that the counts of the one before are over.
    let start = Date.parse("2026-11-21T08:00:00Z");
    await fc.assert(
      fc.asyncProperty(fc.array(still, { minLength: 20, maxLength: 30 }), async (steps) => {
        start += 2 * WINDOW;
        expect(worstShare(await passedBy(counter, fakeClock(start), steps))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 5 },
    );
  });

  it("somebody at an address of their own is let in a second after a burst", async () => {
    const { take, clock } = open();
    await Promise.all(Array.from({ length: 100 }, () => take({ ...ADA, address: "198.51.100.1" })));
    clock.advance(SECOND);
    expect(await take(ADA)).toBe(true);
  });
});
