import { describe, expect, it } from "vitest";
import { fairQueue } from "../../src/core/fair-queue.ts";

/** Takes everything that is left. */
function takeAll(queue: ReturnType<typeof fairQueue<string>>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

describe("a fair queue", () => {
  it("lets owners take turns, and keeps the order of each", () => {
    const queue = fairQueue<string>();
    for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.add(item[0]!, item);
    expect(takeAll(queue)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  });

  it("remembers whose turn it was while their queue is empty", () => {
    const queue = fairQueue<string>();
    queue.add("a", "a1");
    expect(queue.take()).toBe("a1");
    for (const item of ["a2", "a3", "b1"]) queue.add(item[0]!, item);
    expect(takeAll(queue)).toEqual(["b1", "a2", "a3"]);
  });

  it("passes over owners who may not take, and they keep their turn", () => {
    const queue = fairQueue<string>();
    for (const item of ["a1", "b1", "b2"]) queue.add(item[0]!, item);
    expect(queue.take((owner) => owner !== "a")).toBe("b1");
    expect(queue.take(() => false)).toBeUndefined();
    expect(takeAll(queue)).toEqual(["a1", "b2"]);
  });

  it("counts and removes the items of an owner", () => {
    const queue = fairQueue<string>();
    for (const item of ["a1", "a2", "b1"]) queue.add(item[0]!, item);
    queue.remove("a", "a1");
    expect([queue.countOf("a"), queue.countOf("b"), queue.countOf("c")]).toEqual([1, 1, 0]);
    expect(takeAll(queue)).toEqual(["a2", "b1"]);
  });
});
