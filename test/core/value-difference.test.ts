import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Difference, differencesOf } from "../../src/core/value-difference.ts";
import { valueKey } from "../../src/core/value-key.ts";

const ALL = { limit: Infinity };
const find = (before: unknown, after: unknown): Difference[] => differencesOf(before, after, ALL).differences;

/** Reverses the keys of every object in a value. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

type Container = Record<PropertyKey, unknown>;

/** Applies differences to a copy of the value before. Items are removed from the end on, so that indexes hold. */
function applyAll(before: unknown, differences: readonly Difference[]): unknown {
  const holder: Container = { root: structuredClone(before) };
  const removals = differences.filter((one) => !("after" in one)).toReversed();
  for (const difference of [...differences.filter((one) => "after" in one), ...removals])
    applyOne(holder, difference);
  return holder["root"];
}

function applyOne(holder: Container, difference: Difference): void {
  const path = ["root", ...difference.path];
  const parent = path.slice(0, -1).reduce((value, key) => value[key] as Container, holder);
  const key = path.at(-1)!;
  if (!("after" in difference)) {
    expect(valueKey(parent[key])).toBe(valueKey(difference.before));
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  } else if (Array.isArray(parent) && !("before" in difference))
    parent.splice(Number(key), 0, difference.after);
  else
    Object.defineProperty(parent, key, {
      value: difference.after,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

const LONG = "12345678901234567890";

/** Values of few keys and scalars, so that two of them have much in common. */
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, false, 0, 1, "", "a", "1", LONG, `${LONG}1`, 0.1),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom("a", "b", "1", "__proto__", "toString"), tie("value"), { maxKeys: 4 }),
  ),
}));

const nested = (levels: number, inner: number): unknown =>
  Array.from({ length: levels }).reduce((value) => ({ a: value }), inner);

const places = (before: unknown, after: unknown) =>
  new Set(find(before, after).map(({ path, ...values }) => `${JSON.stringify(path)} ${valueKey(values)}`));

describe("differencesOf", () => {
  it.each<[string, unknown, unknown, Difference[]]>([
    ["a changed field", { a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: ["b"], before: 2, after: 3 }]],
    ["an added field, also with null", {}, { a: null }, [{ path: ["a"], after: null }]],
    ["a removed field, also with null", { a: null }, {}, [{ path: ["a"], before: null }]],
    ["a field that is undefined as a missing one", { a: undefined }, { a: 1 }, [{ path: ["a"], after: 1 }]],
    ["no value before", undefined, [1], [{ path: [], after: [1] }]],
    ["no value after", null, undefined, [{ path: [], before: null }]],
    ["null that became a value", { a: null }, { a: 0 }, [{ path: ["a"], before: null, after: 0 }]],
    ["another type as a whole", { a: [1] }, { a: { 0: 1 } }, [{ path: ["a"], before: [1], after: { 0: 1 } }]],
    ["a number that became a text", [1], ["1"], [{ path: [0], before: 1, after: "1" }]],
    ["an inserted item", [1, 2, 3], [1, 9, 2, 3], [{ path: [1], after: 9 }]],
    [
      "a removed item",
      [{ a: 1 }, { a: 2 }, { a: 3 }],
      [{ a: 1 }, { a: 3 }],
      [{ path: [1], before: { a: 2 } }],
    ],
    [
      "several appended items",
      [1],
      [1, 2, 3],
      [
        { path: [1], after: 2 },
        { path: [2], after: 3 },
      ],
    ],
    [
      "a changed item before a removed one",
      [{ a: 1, b: 1 }, 2, 3],
      [{ a: 1, b: 0 }, 3],
      [
        { path: [0, "b"], before: 1, after: 0 },
        { path: [1], before: 2 },
      ],
    ],
    [
      "an own field of a prototype's name",
      {},
      JSON.parse('{"toString":1}'),
      [{ path: ["toString"], after: 1 }],
    ],
  ])("returns %s", (_, before, after, expected) => {
    expect(differencesOf(before, after, ALL)).toMatchObject({
      differences: expected,
      total: expected.length,
      isComplete: true,
    });
    expect(find(before, after)).toStrictEqual(expected);
  });

  it("returns the fields in the order before, then those that were added", () => {
    expect(find({ b: 1, a: 1, c: 1 }, { d: 1, a: 2, b: 2, c: 1 }).map(({ path }) => path)).toEqual([
      ["b"],
      ["a"],
      ["d"],
    ]);
  });

  it("compares numbers by value, with all digits", () => {
    expect(find([1, 0.5, 1e21], [1.0, 5e-1, "1000000000000000000000"])).toEqual([]);
    expect(find(`${LONG}.50`, `${LONG}.5`)).toEqual([]);
    expect(find("9007199254740992", "9007199254740993")).toHaveLength(1);
    expect(find(`0.${LONG}1`, `0.${LONG}2`)).toHaveLength(1);
    expect(find("1.0", "1")).toHaveLength(1);
  });

  it("returns at most `limit` differences and counts all of them", () => {
    const { differences, total, isComplete } = differencesOf([1, 2, 3], [4, 5, 6], { limit: 2 });
    expect({ paths: differences.map(({ path }) => path), total, isComplete }).toEqual({
      paths: [[0], [1]],
      total: 3,
      isComplete: true,
    });
  });

  it("stops at the limit on visited values, and says so", () => {
    const before = Array.from({ length: 1_000 }, (_, index) => [index]);
    const after = before.map(([index]) => [index! + 1]);
    const within = differencesOf(before, after, { limit: 5, maxVisited: 2_001 });
    expect(within).toMatchObject({ total: 1_000, isComplete: true, visited: 2_001 });
    const beyond = differencesOf(before, after, { limit: 5, maxVisited: 2_000 });
    expect(beyond).toMatchObject({ total: 999, isComplete: false, visited: 2_000 });
    const longer = differencesOf(before, [...before, 1], { limit: 5, maxVisited: 100 });
    expect(longer).toMatchObject({ total: 0, isComplete: false, visited: 100 });
  });

  it("compares up to 200 levels, and says that there are more", () => {
    expect(differencesOf(nested(200, 1), nested(200, 2), ALL)).toMatchObject({ total: 1, isComplete: true });
    expect(differencesOf(nested(201, 1), nested(201, 2), ALL)).toMatchObject({ total: 0, isComplete: false });
    const deep = nested(100_000, 1);
    expect(differencesOf([deep], [deep, nested(100_000, 2)], ALL)).toMatchObject({ total: 1 });
  });

  it("finds what turns the value before into the value after", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (before, after) => {
        const { differences, total, isComplete } = differencesOf(before, after, ALL);
        expect(isComplete).toBe(true);
        expect(total).toBe(differences.length);
        expect(valueKey(applyAll(before, differences))).toBe(valueKey(after));
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds nothing exactly if the values are equal", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (before, after) => {
        expect(find(before, reversed(structuredClone(before)))).toEqual([]);
        expect(find(before, after).length === 0).toBe(valueKey(before) === valueKey(after));
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds the same places whatever the order of the keys", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (before, after) => {
        expect(places(reversed(before), after)).toEqual(places(before, after));
        expect(places(before, reversed(after))).toEqual(places(before, after));
      }),
      { numRuns: 1_000 },
    );
  });

  it("finds one difference for one item that was inserted or removed", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 8 }), fc.nat(), (items, at) => {
        const longer = items.toSpliced(at % (items.length + 1), 0, "inserted");
        expect(find(items, longer)).toHaveLength(1);
        expect(find(longer, items)).toHaveLength(1);
      }),
    );
  });
});
