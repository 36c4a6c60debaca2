import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { agreedClock } from "../../src/core/agreed-clock.ts";
import { aheadOfServer, clockCheck, watchClock } from "../../src/core/clock-check.ts";
import { HOUR } from "../../src/core/clock.ts";
import { fakeClock } from "../support/instance.ts";

function checked({ hasServerClock = false, ahead = 0 } = {}) {
  const wall = fakeClock();
  const start = wall.now();
  wall.advance(ahead);
  const clock = agreedClock(wall, () => 0);
  const lines: Record<string, unknown>[] = [];
  const shared = { error: undefined as Error | undefined };
  const check = clockCheck(
    clock,
    {
      async readTime() {
        if (shared.error !== undefined) throw shared.error;
        return { at: start, resolutionMs: 0 };
      },
      hasServerClock,
    },
    pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
  );
  const executors = [0, 0, null].map((clockOffset, index) => ({
    id: `exe_${index}`,
    heartbeats: 1,
    clockOffset,
  }));
  const compare = async () => check.compare(await check.measure(), executors);
  return { start, wall, clock, shared, lines, compare };
}

it("says once that the clock differs from those of the executors, and once that it agrees again", async () => {
  const { wall, clock, lines, compare } = checked();
  await compare();
  expect(lines).toEqual([]);
  wall.advance(HOUR);
  for (let time = 0; time < 3; time += 1) await compare();
  expect(clock.isAgreed()).toBe(false);
  wall.advance(-HOUR);
  for (let time = 0; time < 3; time += 1) await compare();
  expect(clock.isAgreed()).toBe(true);
  expect(lines).toMatchObject([
    { level: 50, deviation_ms: HOUR, executors: 2, msg: expect.stringContaining("differs") as string },
    { level: 30, msg: expect.stringContaining("agrees") as string },
  ]);
});

it("takes the clock as right, and says so once, while no other one can be read", async () => {
  const { wall, clock, shared, lines, compare } = checked();
  shared.error = new Error("EIO");
  wall.advance(HOUR);
  for (let time = 0; time < 2; time += 1) await compare();
  expect([clock.isAgreed(), clock.now()]).toEqual([true, wall.now()]);
  expect(lines).toEqual([expect.objectContaining({ level: 40, reason: "EIO" })]);
  expect(JSON.stringify(lines)).not.toContain("stack");
  shared.error = undefined;
  await compare();
  expect(clock.isAgreed()).toBe(false);
});

describe("with the clock of a database server", () => {
  it("decides nothing before the first comparison", async () => {
    const { clock, compare, shared } = checked({ hasServerClock: true, ahead: 25 * HOUR });
    expect(clock.isAgreed()).toBe(false);
    shared.error = new Error("ECONNREFUSED");
    await compare();
    expect(clock.isAgreed()).toBe(false);
  });

  it("uses the time of the server, also to decide, and logs once that the clock differs and once that it agrees", async () => {
    const { start, wall, clock, compare, lines } = checked({ hasServerClock: true, ahead: 25 * HOUR });
    for (let time = 0; time < 3; time += 1) await compare();
    expect([clock.isAgreed(), clock.now()]).toEqual([true, start]);
    wall.advance(-25 * HOUR);
    // Until the next comparison it is not known which of the two times is right.
    expect([clock.isAgreed(), clock.now()]).toEqual([false, start]);
    for (let time = 0; time < 3; time += 1) await compare();
    expect([clock.isAgreed(), clock.now()]).toEqual([true, start]);
    expect(lines).toMatchObject([
      { level: 50, deviation_ms: 25 * HOUR, msg: expect.stringMatching(/database server.*NTP/) as string },
      { level: 30, msg: expect.stringContaining("agrees with that of the database server again") as string },
    ]);
  });

  it("keeps the time of the server while the server is away", async () => {
    const { start, clock, compare, shared } = checked({ hasServerClock: true, ahead: 25 * HOUR });
    await compare();
    shared.error = new Error("ECONNREFUSED");
    await compare();
    expect([clock.isAgreed(), clock.now()]).toEqual([true, start]);
  });

  it("tells a command by how much its clock is ahead, and nothing without a server", async () => {
    const wall = fakeClock();
    const readTime = async () => ({ at: wall.now() - HOUR, resolutionMs: 0 });
    const ahead = (hasServerClock: boolean) =>
      aheadOfServer(
        { readTime, hasServerClock },
        agreedClock(wall, () => 0),
      );
    expect(await ahead(true)).toBe(HOUR);
    expect(await ahead(false)).toBe(0);
  });
});

describe("a process that sends no heartbeats", () => {
  it("has compared its clock before it starts", async () => {
    const wall = fakeClock();
    const clock = agreedClock(wall, () => 0);
    const start = wall.now();
    wall.advance(25 * HOUR);
    const shared = { readTime: async () => ({ at: start, resolutionMs: 0 }), hasServerClock: true };
    const stop = await watchClock(clockCheck(clock, shared, pino({ level: "silent" })), async () => []);
    stop();
    expect(clock.now()).toBe(start);
  });
});
