import { describe, expect, it } from "vitest";
import { agreedClock } from "../../src/core/agreed-clock.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { fakeClock } from "../support/instance.ts";

/** A machine whose time passes, with a wall clock that can be set, and a clock that all machines share. */
function machine() {
  const wall = fakeClock();
  let monotonic = 5_000;
  let shared = wall.now();
  const clock = agreedClock(wall, () => monotonic);
  return {
    clock,
    wall,
    /** Time passes for everybody. */
    pass(ms: number) {
      wall.advance(ms);
      monotonic += ms;
      shared += ms;
    },
    /** The monotonic clock is between two milliseconds of the wall clock. */
    tick: (ms: number) => void (monotonic += ms),
    /** Everybody sleeps: the monotonic clock does not count that time. */
    sleep(ms: number) {
      wall.advance(ms);
      shared += ms;
    },
    check: async (...others: number[]): Promise<number> => {
      const offset = await clock.measure(async () => ({ at: shared, resolutionMs: 20 }));
      return clock.compare(offset!, others);
    },
    shared: () => shared,
  };
}

describe("the clock of one process alone", () => {
  it("is right, whatever the shared clock says", async () => {
    const { clock, wall, check } = machine();
    wall.advance(HOUR);
    expect(await check()).toBe(0);
    expect([clock.isAgreed(), clock.now()]).toEqual([true, wall.now()]);
  });

  it("jumps with the others after a sleep, once it has compared them", async () => {
    const { clock, wall, sleep, pass, check } = machine();
    await check(0, 0);
    const before = clock.now();
    sleep(8 * HOUR);
    pass(200);
    expect([clock.isAgreed(), clock.now()]).toEqual([false, before + 200]);
    await check(0, 0);
    expect([clock.isAgreed(), clock.now()]).toEqual([true, wall.now()]);
  });
});

describe("a clock that is set while the others are not", () => {
  it.each([
    ["an hour ahead", HOUR],
    ["an hour behind", -HOUR],
    ["a little more than a second ahead", SECOND + 30],
  ])("decides nothing and shows the time of the others: %s", async (_, ms) => {
    const { clock, wall, pass, check, shared } = machine();
    await check(0, 0);
    wall.advance(ms);
    // At once, before it is compared.
    expect([clock.isAgreed(), clock.now()]).toEqual([false, shared()]);
    const deviation = await check(0, 0);
    // A clock that is ahead is so by the resolution of the shared one more.
    expect(Math.abs(deviation - ms)).toBeLessThanOrEqual(20);
    pass(MINUTE);
    expect(clock.isAgreed()).toBe(false);
    expect(Math.abs(clock.now() - shared())).toBeLessThanOrEqual(20);
    wall.advance(-ms);
    expect(await check(0, 0)).toBe(0);
    expect([clock.isAgreed(), clock.now()]).toEqual([true, shared()]);
  });

  it("shows whole milliseconds between the jump and the comparison, although the monotonic clock has fractions", async () => {
    const { clock, wall, pass, tick, check } = machine();
    await check(0, 0);
    const before = clock.now();
    wall.advance(HOUR);
    tick(0.4387);
    expect(clock.now()).toBe(before);
    pass(200);
    expect(clock.now()).toBe(before + 200);
    tick(0.7);
    expect(clock.now()).toBe(before + 201);
  });

  it("agrees within a second, and follows adjustments of the system", async () => {
    const { clock, wall, check } = machine();
    wall.advance(SECOND);
    expect([clock.isAgreed(), clock.now()]).toEqual([true, wall.now()]);
    expect(await check(0, 0)).toBe(0);
  });
});

describe("what most clocks show", () => {
  it("is right, also when the shared clock shows something else", async () => {
    const { clock, wall, check } = machine();
    wall.advance(HOUR);
    expect(await check(HOUR, 0)).toBe(0);
    expect(clock.isAgreed()).toBe(true);
    expect(await check(HOUR - 400, HOUR + 400, 0)).toBe(0);
  });

  it("is what the shared clock is nearest to, if two disagree", async () => {
    const ahead = machine();
    ahead.wall.advance(HOUR);
    expect(await ahead.check(0)).toBeGreaterThan(HOUR - SECOND);
    expect(await machine().check(HOUR)).toBe(0);
  });
});

describe("a measurement", () => {
  it("takes no difference for one that its own duration explains", async () => {
    const { clock, pass, shared } = machine();
    const slowly = async (before: number, after: number) => {
      pass(before);
      const at = shared();
      pass(after);
      return { at, resolutionMs: 20 };
    };
    expect(await clock.measure(() => slowly(4_000, 0))).toBe(0);
    expect(await clock.measure(() => slowly(0, 4_000))).toBe(0);
    // A file system that keeps whole seconds shows an earlier one.
    expect(await clock.measure(async () => ({ at: shared() - 1_900, resolutionMs: 2_000 }))).toBe(0);
    expect(await clock.measure(async () => ({ at: shared() - 1_900, resolutionMs: 20 }))).toBe(1_880);
    expect(await clock.measure(async () => ({ at: shared() + 30, resolutionMs: 20 }))).toBe(-30);
  });

  it("keeps a correction when it takes too long to say anything", async () => {
    const { clock, wall, pass, shared } = machine();
    wall.advance(10_000);
    const ahead = (await clock.measure(async () => ({ at: shared(), resolutionMs: 1 })))!;
    expect(clock.followShared(ahead)).toBe(ahead);
    const taking =
      (...times: number[]) =>
      async () => {
        pass(times.shift() ?? 0);
        return { at: shared(), resolutionMs: 1 };
      };
    expect(await clock.measure(taking(12_000, 12_000, 12_000))).toBeUndefined();
    expect(await clock.measure(taking(12_000, 400))).toBeGreaterThan(9_000);
  });

  it("is repeated when the wall clock jumps meanwhile, and given up when it goes on jumping", async () => {
    const { clock, wall, shared } = machine();
    let jumps = 0;
    const jumping = (until: number) => async () => {
      jumps += 1;
      if (jumps <= until) wall.advance(HOUR);
      return { at: shared(), resolutionMs: 20 };
    };
    expect(await clock.measure(jumping(1))).toBe(HOUR - 20);
    expect(await clock.measure(jumping(9))).toBeUndefined();
    expect(jumps).toBe(5);
  });

  it("that is impossible leaves the own clock right", async () => {
    const { clock, wall, check } = machine();
    wall.advance(HOUR);
    await check(0, 0);
    expect(clock.isAgreed()).toBe(false);
    clock.acceptOwn();
    expect([clock.isAgreed(), clock.now()]).toEqual([true, wall.now()]);
  });
});
