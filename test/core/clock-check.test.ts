import { pino } from "pino";
import { expect, it } from "vitest";
import { agreedClock } from "../../src/core/agreed-clock.ts";
import { clockCheck } from "../../src/core/clock-check.ts";
import { HOUR } from "../../src/core/clock.ts";
import { fakeClock } from "../support/instance.ts";

function checked() {
  const wall = fakeClock();
  const start = wall.now();
  const clock = agreedClock(wall, () => 0);
  const lines: Record<string, unknown>[] = [];
  const shared = { error: undefined as Error | undefined };
  const check = clockCheck(
    clock,
    async () => {
      if (shared.error !== undefined) throw shared.error;
      return { at: start, resolutionMs: 0 };
    },
    pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
  );
  const executors = [0, 0, null].map((clockOffset, index) => ({
    id: `exe_${index}`,
    heartbeats: 1,
    clockOffset,
  }));
  const compare = async () => check.compare(await check.measure(), executors);
  return { wall, clock, shared, lines, compare };
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
  expect(lines).toMatchObject([{ level: 40, err: { message: "EIO" } }]);
  shared.error = undefined;
  await compare();
  expect(clock.isAgreed()).toBe(false);
});
