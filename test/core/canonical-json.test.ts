import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/canonical-json.ts";

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

/** The same text as it was first written: by a replacer that sorts the keys of each object. */
const sortedByReplacer = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

describe("canonicalJson", () => {
  // Hashes of these texts are stored: a text that changes loses cached outputs and recorded requests.
  it.each<[unknown, string]>([
    [
      { b: 1, a: { d: [2, { y: null, x: true }], c: "é" } },
      '{"a":{"c":"é","d":[2,{"x":true,"y":null}]},"b":1}',
    ],
    [{ a: 1, "10": 2, "2": 3, "-1": 4, "": 5, "!": 6 }, '{"2":3,"10":2,"":5,"!":6,"-1":4,"a":1}'],
    [{ a: undefined, b: [undefined, 1] }, '{"b":[null,1]}'],
    [{ "\u{1F600}": 1, "\uFB33": 2 }, '{"\u{1F600}":1,"\uFB33":2}'],
    ["\uD800\u0007\u2028", '"\\ud800\\u0007\u2028"'],
    [[1e21, 1e-7, -0, 0.1, 123456789012345680000], "[1e+21,1e-7,0,0.1,123456789012345680000]"],
    [JSON.parse('{"__proto__":1,"constructor":2}'), '{"__proto__":1,"constructor":2}'],
    [null, "null"],
  ])("writes %j as it was always written", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it("writes the same text whatever the order of the keys, and loses nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        // -0 is 0 in JSON.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("writes what a replacer that sorts the keys of each object would", () => {
    const key = fc.oneof(fc.string(), fc.nat(40).map(String), fc.constantFrom("toString", "__proto__", "-1"));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "medium", maxDepth: 6 },
        fc.string(),
        fc.double(),
        fc.constantFrom(null, undefined, true, new Date(0)),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        expect(canonicalJson(given)).toBe(sortedByReplacer(given));
      }),
      { numRuns: 2_000 },
    );
  });
});
