import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasRepeatedKey, mayRepeatKeys, scanJson } from "../../src/core/json-scan.ts";
import { exactJsonText, type JsonLossError, parseExactJson, readJson } from "../../src/core/json-text.ts";

const lossesOf = (text: string) => scanJson(text, { keys: true }).losses;
const losses = (text: string) => lossesOf(text).map(({ kind, path }) => `${kind} ${path.join(".")}`);
const isSafe = (value: number): boolean => !Number.isInteger(value) || Number.isSafeInteger(value);
const TOO_LONG = "9".repeat(1_001);

describe("the losses of scanJson", () => {
  it.each<[string, string, string[]]>([
    ["an integer with too many digits", `{"a": [1, ${TOO_LONG}]}`, ["not_finite a.1"]],
    ["a decimal with too many digits", `[-0.${TOO_LONG}]`, ["not_finite 0"]],
    ["a number whose exponent is too large", '{"a": {"b": 1e4000}}', ["not_finite a.b"]],
    ["a number whose exponent is too small", '{"a": {"b": 1e-4000}}', ["not_finite a.b"]],
    ["a key that occurs twice", '{"a": {"b": 1, "c": 2, "b": 3}}', ["duplicate_key a.b"]],
    ["a key that is escaped once", String.raw`{"ab": 1, "a\u0062": 2}`, ["duplicate_key ab"]],
    ["the same key of other objects as none", '[{"a": 1}, {"a": {"a": 1}}]', []],
    [
      "long numbers as none",
      "[10000000000000000, 9007199254740993, 1e300, 1e400, 0.12345678901234567890]",
      [],
    ],
    ["digits in text as none", '{"9007199254740993": "1e4000 \\" 9007199254740993"}', []],
    ["the number alone", TOO_LONG, ["not_finite "]],
    [
      "all of them",
      `{"a": 1e9999, "b": [], "a": -${TOO_LONG}}`,
      ["not_finite a", "duplicate_key a", "not_finite a"],
    ],
  ])("reports %s", (_, text, expected) => {
    expect(losses(text)).toEqual(expected);
  });

  it("finds nothing in what JSON.stringify writes, whatever the keys and texts", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(lossesOf(JSON.stringify(value, null, indent))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("readJson", () => {
  it("returns long numbers as text, and what no value holds as issues", () => {
    expect(readJson('{"id": 9007199254740993, "n": 1e4000, "id": -0.12345678901234567890}')).toEqual({
      value: { id: "-0.12345678901234567890", n: Infinity },
      issues: [
        {
          path: "n",
          code: "not_finite",
          message: "must be a number with at most 1000 digits, got 1e4000",
          fix: 'Write a shorter number, or text: "1e4000".',
        },
        {
          path: "id",
          code: "duplicate_key",
          message: "occurs twice in the same object, so one of the values would be lost",
          fix: "Keep one of them.",
        },
      ],
    });
  });

  it("refuses what is no JSON before it looks for numbers", () => {
    for (const text of [
      "{9007199254740993: 1}",
      "[01234567890123456789]",
      "[.12345678901234567]",
      "[+1e400]",
    ])
      expect(() => readJson(text)).toThrow(SyntaxError);
  });
});

describe("parseExactJson", () => {
  it("returns numbers that a double can't hold as text with all digits, and everything else as JSON.parse", () => {
    const text = `{
      "ids": [9007199254740993, -12345678901234567890, 9007199254740991], "x": 1e20, "s": "9007199254740993",
      "v": 900719925474099.23, "w": 0.12345678901234567890, "y": [1.10, 3.0, 1e400]
    }`;
    expect(parseExactJson(text, 64)).toEqual({
      ids: ["9007199254740993", "-12345678901234567890", 9007199254740991],
      x: 1e20,
      s: "9007199254740993",
      v: "900719925474099.23",
      w: "0.12345678901234567890",
      y: [1.1, 3, `1${"0".repeat(400)}`],
    });
  });

  it("keeps the order of keys, and a key named __proto__", () => {
    const value = parseExactJson('{"b": 9007199254740993, "__proto__": {"x": 1e400}, "a": 1}', 64) as object;
    expect(Object.keys(value)).toEqual(["b", "__proto__", "a"]);
  });

  it("keeps every integer, as a number or as text", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (n) => {
        const parsed = parseExactJson(`{"n": ${n}}`, 64) as { n: number | string };
        expect(BigInt(parsed.n)).toBe(n);
        expect(typeof parsed.n).toBe(
          n <= BigInt(Number.MAX_SAFE_INTEGER) && n >= -BigInt(Number.MAX_SAFE_INTEGER) ? "number" : "string",
        );
      }),
    );
  });

  it("returns what JSON.stringify writes, apart from integers that are not safe", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.double().filter(isSafe), fc.string())), (value) => {
        const text = JSON.stringify(value);
        expect(parseExactJson(text, 64)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it("refuses a number that is too long, with its path", () => {
    const long = Array.from({ length: 101 }, () => "12345678901234567890").join(", ");
    expect(() => parseExactJson(`{"a": [${long}, 1e4000]}`, 64)).toThrow(
      expect.objectContaining({ path: "a[101]" }) as JsonLossError,
    );
  });
});

describe("a key that occurs twice", () => {
  it.each([
    ["in an object of a list", '[{"a": 1}, {"a": 1, "b": {}, "a": 2}]', "The key [1].a occurs twice"],
    ["with white space before its colon", '{"a" \n: 1, "a"\t:1}', "The key a occurs twice"],
    ["in another spelling", String.raw`{"a\\": 1, "a\u005c": 2}`, "The key a\\ occurs twice"],
    ["as __proto__", '{"__proto__": 1, "__proto__": 2}', "The key __proto__ occurs twice"],
    ["beside a long number", '{"a": 9007199254740993, "a": 1}', "The key a occurs twice"],
  ])("is an error of parseExactJson: %s", (_, text, message) => {
    expect(hasRepeatedKey(text, JSON.parse(text))).toBe(true);
    expect(() => parseExactJson(text, 64)).toThrow(message);
    expect(() => exactJsonText(text, () => true)).toThrow(message);
  });

  it.each([String.raw`{"a": "\":", "b": "\" :"}`, '[["a:", "a:"], {"a": {"a": "a"}}]', '"a"', "[]"])(
    "is none in %s",
    (text) => {
      const value: unknown = JSON.parse(text);
      expect(hasRepeatedKey(text, value)).toBe(false);
      expect(parseExactJson(text, 64)).toEqual(value);
    },
  );

  it("is found wherever JSON.parse drops a value, and nowhere else", () => {
    const key = fc.constantFrom("a", "b", '"', '\\"', ":", "a\\", "1", "__proto__");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.oneof(fc.constantFrom('"', ':"', "\\", '":'), fc.integer()).map((leaf) => JSON.stringify(leaf)),
        fc.array(tie("tree"), { maxLength: 3 }).map((items) => `[${items.join(" , ")}]`),
        fc
          .array(fc.tuple(key, tie("tree"), fc.constantFrom("", " ", "\n")), { maxLength: 4 })
          .map(
            (all) =>
              `{${all.map(([name, of, gap]) => `${JSON.stringify(name)}${gap}:${String(of)}`).join()}}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(tree, (text) => {
        const value: unknown = JSON.parse(text);
        const isRepeated = losses(text).length > 0;
        expect(hasRepeatedKey(text, value)).toBe(isRepeated);
        // A scan is left out only where nothing is repeated.
        expect(mayRepeatKeys(text, value) || !isRepeated).toBe(true);
      }),
      { seed: 30, numRuns: 500 },
    );
  });
});

describe("scanJson", () => {
  it("keeps the size of its result within twice that of the text and 64 KiB", () => {
    const numbers = Array.from({ length: 20_000 }, () => "1e990");
    const text = `{"a": [${numbers.join(", ")}], "b": 9007199254740993}`;
    const { exact, losses: found } = scanJson(text, { keys: true });
    expect(exact.length).toBeGreaterThan(text.length + 60_000);
    expect(exact.length).toBeLessThanOrEqual(2 * text.length + 65_536);
    expect(found).toHaveLength(100);
    const { value, issues } = readJson(text);
    expect(issues[0]).toEqual({
      path: expect.stringMatching(/^a\[\d+\]$/) as string,
      code: "not_finite",
      message: "must be written with fewer digits: those of all numbers make the text too large, got 1e990",
      fix: 'Write fewer numbers with large exponents, or text: "1e990".',
    });
    expect(value).toMatchObject({ b: "9007199254740993" });
    expect(() => parseExactJson(text, 64)).toThrow(
      expect.objectContaining({
        path: expect.stringMatching(/^a\[\d+\]$/) as string,
        message: expect.stringContaining("make the text too large") as string,
      }) as JsonLossError,
    );
  });

  it("takes any number of long numbers without an exponent", () => {
    const text = `[${Array.from({ length: 50_000 }, () => "9007199254740993").join(",")}]`;
    const { exact, losses: found } = scanJson(text, { keys: true });
    expect(found).toEqual([]);
    expect(exact.length).toBe(text.length + 100_000);
  });
});

describe("exactJsonText", () => {
  // Reading the whole path of each number would take minutes.
  it("reads the path of a number in a text of brackets only as far as needed", () => {
    const depth = 100_000;
    const text = `${"[1e5,".repeat(depth)}9007199254740993${"]".repeat(depth)}`;
    let longest = 0;
    const exact = exactJsonText(text, (path) => {
      longest = Math.max(longest, path.length);
      return path[0] === "result";
    });
    expect(exact).toBe(text);
    expect(longest).toBe(3);
  });

  it("writes long numbers as text in one part of a message, and leaves the rest as it is", () => {
    const text =
      '{"id": 9007199254740993, "result": {"n": [9007199254740993, "9007199254740993"], "x": 1.50}}';
    expect(exactJsonText(text, ([part]) => part === "result")).toBe(
      '{"id": 9007199254740993, "result": {"n": ["9007199254740993", "9007199254740993"], "x": 1.50}}',
    );
  });

  it("returns what is no JSON unchanged", () => {
    expect(exactJsonText("{9007199254740993: 1}", () => true)).toBe("{9007199254740993: 1}");
  });
});
