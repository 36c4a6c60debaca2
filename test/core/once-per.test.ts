import { expect, it } from "vitest";
import { oncePer } from "../../src/core/once-per.ts";

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
