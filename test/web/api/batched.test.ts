import { expect, it } from "vitest";
import { batched } from "../../../src/web/api/batched.ts";

it("keys of one turn are loaded with one request, up to the maximum", async () => {
  const requests: (readonly string[])[] = [];
  const load = batched(2, (keys) => {
    requests.push(keys);
    return Promise.resolve(
      new Map(keys.filter((key) => key !== "none").map((key) => [key, key.toUpperCase()])),
    );
  });
  expect(await Promise.all(["a", "b", "a", "none"].map(load))).toEqual(["A", "B", "A", undefined]);
  expect(requests).toEqual([["a", "b"], ["none"]]);
  expect(await load("a")).toBe("A");
  expect(requests).toHaveLength(3);
});
