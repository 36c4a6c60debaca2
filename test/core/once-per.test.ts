import { expect, it } from "vitest";
import { oncePer, sharedFor } from "../../src/core/once-per.ts";

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
