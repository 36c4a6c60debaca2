import { describe, expect, it } from "vitest";
import { oncePer, oneAtATime, sharedFor } from "../../src/core/once-per.ts";

it("computes a result once for each argument, which is compared by identity", () => {
  const seen: object[] = [];
  const sizeOf = oncePer((argument: object) => {
    seen.push(argument);
    return { size: Object.keys(argument).length };
  });
  const [first, same, other] = [{ a: 1 }, { a: 1 }, { a: 1, b: 2 }];
  const result = sizeOf(first);
  expect(sizeOf(first)).toBe(result);
  expect([sizeOf(same), sizeOf(other)]).toEqual([{ size: 1 }, { size: 2 }]);
  expect(seen).toEqual([first, same, other]);
});

it("sharedFor gives callers the result of a call that runs or has just ended", async () => {
  let [calls, time] = [0, 0];
  const pending: (() => void)[] = [];
  const shared = sharedFor(
    5,
    () => new Promise<number>((resolve) => pending.push(() => resolve((calls += 1)))),
    () => time,
  );
  const [first, second] = [shared(), shared()];
  time = 100;
  const third = shared();
  pending[0]!();
  expect(await Promise.all([first, second, third])).toEqual([1, 1, 1]);
  time = 104;
  expect(await shared()).toBe(1);
  time = 105;
  const again = shared();
  pending[1]!();
  expect(await again).toBe(2);
});

it("sharedFor computes again after an error, too", async () => {
  let [calls, time] = [0, 0];
  const shared = sharedFor(
    5,
    () => Promise.reject(new Error(String((calls += 1)))),
    () => time,
  );
  await expect(shared()).rejects.toThrow("1");
  await expect(shared()).rejects.toThrow("1");
  time = 5;
  await expect(shared()).rejects.toThrow("2");
});

/** Work whose turns end when the test says so. @returns `turns` resolves or rejects each, in order */
function controlled() {
  const turns: PromiseWithResolvers<number>[] = [];
  const run = oneAtATime(() => {
    const turn = Promise.withResolvers<number>();
    turns.push(turn);
    return turn.promise;
  });
  return { run, turns };
}

describe("oneAtATime", () => {
  it("answers a call that comes during a turn by the next one, which all such calls share", async () => {
    const { run, turns } = controlled();
    const first = run();
    const [second, third] = [run(), run()];
    expect(turns).toHaveLength(1);
    turns[0]!.resolve(5);
    expect(await first).toBe(5);
    await expect.poll(() => turns.length).toBe(2);
    const fourth = run();
    turns[1]!.resolve(1);
    expect(await Promise.all([second, third])).toEqual([6, 6]);
    await expect.poll(() => turns.length).toBe(3);
    turns[2]!.resolve(2);
    expect(await fourth).toBe(3);
    expect(turns).toHaveLength(3);
  });

  it("starts the next turn after an error, which only those get who waited for that turn", async () => {
    const { run, turns } = controlled();
    const [first, second] = [run(), run()];
    turns[0]!.reject(new Error("no store"));
    await expect(first).rejects.toThrow("no store");
    await expect.poll(() => turns.length).toBe(2);
    turns[1]!.resolve(3);
    expect(await second).toBe(3);
    const third = run().then(run);
    turns[2]!.resolve(1);
    await expect.poll(() => turns.length).toBe(4);
    turns[3]!.resolve(4);
    expect(await third).toBe(4);
  });
});
