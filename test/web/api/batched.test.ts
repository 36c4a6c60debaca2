import { describe, expect, it } from "vitest";
import { batched } from "../../../src/web/api/batched.ts";

/** A batch whose calls are recorded. */
function recorded(
  max: number,
  readMany = async (keys: readonly string[]) => new Map(keys.map((key) => [key, `the ${key}`])),
) {
  const calls: (readonly string[])[] = [];
  const read = batched(async (keys) => {
    calls.push(keys);
    return readMany(keys);
  }, max);
  return { calls, read };
}

describe("batched", () => {
  it("reads what is asked for in one turn together, and each key once", async () => {
    const { calls, read } = recorded(10);
    expect(await Promise.all(["a", "b", "a"].map(read))).toEqual(["the a", "the b", "the a"]);
    expect(await read("a")).toBe("the a");
    expect(calls).toEqual([["a", "b"], ["a"]]);
  });

  it("splits what is more than one call takes", async () => {
    const { calls, read } = recorded(2);
    await Promise.all(["a", "b", "c", "d", "e"].map(read));
    expect(calls).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  it("returns undefined for what does not exist", async () => {
    const { read } = recorded(10, async () => new Map([["a", "the a"]]));
    expect(await Promise.all(["a", "b"].map(read))).toEqual(["the a", undefined]);
  });

  it("fails for every key of a call that failed, and for no other", async () => {
    const { read } = recorded(1, async ([key]) => {
      if (key === "b") throw new Error("away");
      return new Map([[key!, "found"]]);
    });
    const results = await Promise.allSettled(["a", "b", "b"].map(read));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await read("c")).toBe("found");
  });
});
