import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Issue } from "../../schemas/problem.ts";
import type { AppError } from "../../src/core/errors.ts";
import { allowedKeys, formatPath, issuesOf, invalidInput, parseInput } from "../../src/core/issues.ts";

/** The issues of a value, each valid in a response. */
function issues(schema: z.ZodType, value: unknown): Issue[] {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) throw new Error("the value is valid");
  return issuesOf(parsed.error, schema).map((issue) => Issue.parse(issue));
}

function thrown(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    return error as AppError;
  }
  throw new Error("nothing was thrown");
}

describe("untrusted input", () => {
  const long = "e".repeat(1_000_000);

  it("is truncated in keys, paths and messages", () => {
    const form = z.strictObject({ a: z.string().optional() });
    for (const [schema, value] of [
      [form, { [long]: 0 }],
      [z.record(z.string(), z.int()), { [long]: "x" }],
      [z.record(z.string().max(5), z.int()), { [long]: 1 }],
      [z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]), { [long]: 0 }],
      [
        z.union([z.strictObject({ a: z.string() }), z.int()]),
        Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${long.slice(0, 500)}${i}`, 0])),
      ],
    ] as const) {
      const error = thrown(() => parseInput(schema, value));
      expect(error.code).toBe("invalid_input");
      expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(30_000);
    }
    const [issue] = issues(form, { [long]: 0 });
    expect(issue!.path).toBe(`${"e".repeat(100)}…`);
    expect(formatPath(Array.from({ length: 100 }, () => "a".repeat(50))).length).toBeLessThanOrEqual(501);
    expect(formatPath(["😀".repeat(100)]).isWellFormed()).toBe(true);
    // Ordinary keys are not truncated.
    expect(formatPath(["steps", 2, "a".repeat(100)])).toBe(`steps[2].${"a".repeat(100)}`);
  });

  it("gets at most 200 issues, and their total", () => {
    const { message, details } = thrown(() => parseInput(z.array(z.int()), Array(5_000).fill("x")));
    expect(details.errors).toHaveLength(200);
    expect(message).toContain("And 4997 more, see errors (the first 200).");
  });
});

const missing = (schema: z.ZodType) => issues(z.strictObject({ a: schema }), {});

describe("issues", () => {
  it.each<[string, z.ZodType, unknown, Partial<Issue>]>([
    ["a wrong type", z.string(), 7, { code: "wrong_type", message: "must be text, got a number" }],
    ["null", z.string(), null, { code: "wrong_type", message: "must be text, got null" }],
    ["a list", z.object({}), [], { code: "wrong_type", message: "must be an object, got a list" }],
    ["text", z.array(z.string()), "a", { code: "wrong_type", message: "must be a list, got text" }],
    ["a boolean", z.boolean(), "yes", { code: "wrong_type", message: "must be a boolean, got text" }],
    ["a fraction", z.int(), 1.5, { code: "wrong_type", message: "must be an integer, got 1.5" }],
    ["infinity", z.number(), Infinity, { code: "wrong_type", message: "must be a number, got Infinity" }],
    [
      "an integer beyond",
      z.int(),
      1e300,
      { code: "too_large", message: "must be at most 9007199254740991, got 1e+300" },
    ],
    [
      "a long text",
      z.string().max(3),
      "abcd",
      { code: "too_long", message: "must be at most 3 characters, got 4" },
    ],
    [
      "one character",
      z.string().max(1),
      "ab",
      { code: "too_long", message: "must be at most 1 character, got 2" },
    ],
    [
      "a long list",
      z.array(z.any()).max(1),
      [1, 2],
      { code: "too_long", message: "must have at most 1 item, got 2" },
    ],
    ["a big number", z.number().max(3), 4, { code: "too_large", message: "must be at most 3, got 4" }],
    ["a bound itself", z.number().lt(3), 3, { code: "too_large", message: "must be less than 3, got 3" }],
    ["an empty text", z.string().min(1), "", { code: "too_short", message: "must not be empty" }],
    [
      "a short text",
      z.string().min(3),
      "a",
      { code: "too_short", message: "must be at least 3 characters, got 1" },
    ],
    [
      "a text of another length",
      z.string().length(3),
      "a",
      { message: "must be exactly 3 characters, got 1" },
    ],
    [
      "a short list",
      z.array(z.any()).min(2),
      [1],
      { code: "too_short", message: "must have at least 2 items, got 1" },
    ],
    ["a small number", z.number().min(3), 2, { code: "too_small", message: "must be at least 3, got 2" }],
    [
      "a lower bound itself",
      z.number().gt(3),
      3,
      { code: "too_small", message: "must be more than 3, got 3" },
    ],
    [
      "a small set",
      z.set(z.string()).min(2),
      new Set(),
      { code: "too_short", message: "must have at least 2 items, got 0" },
    ],
    [
      "no multiple",
      z.number().multipleOf(5),
      3,
      { code: "not_allowed", message: "must be a multiple of 5, got 3" },
    ],
    ["a wrong URL", z.url(), "nope", { code: "wrong_format", message: "must be a valid URL" }],
    [
      "a pattern",
      z.string().regex(/^a$/),
      "b",
      { code: "wrong_format", message: "does not have the right form" },
    ],
    [
      "a pattern with words of its own",
      z.string().regex(/^a$/, { error: "must be the letter a" }),
      "b",
      { code: "wrong_format", message: "must be the letter a" },
    ],
    [
      "a word not allowed",
      z.enum(["draft", "published"]),
      "drat",
      {
        code: "not_allowed",
        message: "must be one of draft, published",
        allowed: ["draft", "published"],
        did_you_mean: "draft",
      },
    ],
    ["no literal", z.literal(1), 2, { code: "not_allowed", message: "must be one of 1", allowed: ["1"] }],
    [
      "an unknown discriminator",
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("sql") }),
        z.object({ type: z.literal("http") }),
      ]),
      { type: "htp" },
      { path: "type", code: "not_allowed", allowed: ["sql", "http"], did_you_mean: "http" },
    ],
    [
      "a missing discriminator",
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("sql") }),
        z.object({ type: z.literal("http") }),
      ]),
      {},
      { path: "type", code: "missing", allowed: ["sql", "http"] },
    ],
    [
      "none of several forms",
      z.union([z.string(), z.strictObject({ a: z.int() })]),
      { a: "x", b: 1 },
      {
        code: "no_match",
        message: "must be text, got an object, or a must be a number, got text, must not have the field b",
      },
    ],
    [
      "none of several kinds",
      z.union([z.string(), z.union([z.number(), z.null(), z.string()]), z.strictObject({ a: z.int() })]),
      [],
      { code: "wrong_type", message: "must be text, a number, null or an object, got a list" },
    ],
    [
      "several forms where one is wanted",
      z.xor([z.string(), z.string()]),
      "a",
      { code: "no_match", message: "must match only one of the allowed forms" },
    ],
    [
      "a name in a record",
      z.record(z.string().regex(/^a/, { error: "must begin with a" }), z.any()),
      { b: 1 },
      { path: "b", code: "not_allowed", message: "is not a valid name: must begin with a" },
    ],
    [
      "an element of a map",
      z.map(z.object({}), z.string()),
      new Map([[{}, 1]]),
      { code: "invalid", message: "contains an invalid item: must be text, got a number" },
    ],
    [
      "a check of our own",
      z.string().refine(() => false, { message: "must rhyme", params: { code: "no_rhyme" } }),
      "a",
      { code: "no_rhyme", message: "must rhyme" },
    ],
    [
      "a check without a code",
      z.any().refine(() => false, { message: "must rhyme" }),
      "a",
      { code: "invalid" },
    ],
  ])("describe %s", (_, schema, value, expected) => {
    expect(issues(schema, value)).toEqual([expect.objectContaining(expected)]);
  });

  it("name a required field, whatever its type", () => {
    expect(missing(z.string())).toEqual([
      { path: "a", code: "missing", message: "is required", fix: "Set it to text." },
    ]);
    expect(missing(z.enum(["x", "y"]))).toEqual([
      { path: "a", code: "missing", message: "is required", allowed: ["x", "y"] },
    ]);
  });

  it("are reported all at once, each with its path, in nested lists too", () => {
    const step = z.strictObject({
      id: z.string(),
      with: z.strictObject({ rows: z.array(z.int()) }).optional(),
    });
    const schema = z.strictObject({ name: z.string(), steps: z.array(step) });
    expect(
      issues(schema, {
        nmae: 1,
        steps: [{ id: "a" }, { id: 2, with: { rows: [1, "2", 3.5], rwos: [] } }, { ids: "c", id: "c" }],
      }).map(({ path, code, did_you_mean }) => [path, code, did_you_mean]),
    ).toEqual([
      ["name", "missing", undefined],
      ["steps[1].id", "wrong_type", undefined],
      ["steps[1].with.rows[1]", "wrong_type", undefined],
      ["steps[1].with.rows[2]", "wrong_type", undefined],
      ["steps[1].with.rwos", "unknown_key", "rows"],
      ["steps[2].ids", "unknown_key", "id"],
      ["nmae", "unknown_key", "name"],
    ]);
  });

  it("name each unknown key, the allowed ones, and what to do", () => {
    expect(
      issues(z.strictObject({ name: z.string(), tags: z.any().optional() }), { name: "a", nam: 1, "x.y": 2 }),
    ).toEqual([
      {
        path: "nam",
        code: "unknown_key",
        message: "is not a known field",
        allowed: ["name", "tags"],
        did_you_mean: "name",
        fix: "Write name, or remove it.",
      },
      {
        path: "x.y",
        code: "unknown_key",
        message: "is not a known field",
        allowed: ["name", "tags"],
        fix: "Remove it.",
      },
    ]);
  });

  it("never repeat a value that may be a secret", () => {
    const schema = z.strictObject({ a: z.string().max(3), b: z.url(), c: z.enum(["x"]), d: z.int() });
    const secret = "sk-very-secret";
    expect(JSON.stringify(issues(schema, { a: secret, b: secret, c: secret, d: secret }))).not.toContain(
      "secret",
    );
  });
});

describe("allowedKeys", () => {
  const schema = z
    .strictObject({
      steps: z.array(z.strictObject({ id: z.string() }).nullable()).default([]),
      open: z.any(),
    })
    .optional();

  it.each([
    [[], ["steps", "open"]],
    [["steps"], []],
    [["steps", 3], ["id"]],
    [["open"], []],
    [["nowhere", "at", 1, "all"], []],
  ])("at %j are %j", (path, keys) => {
    expect(allowedKeys(schema, path)).toEqual(keys);
  });
});

describe("formatPath", () => {
  it.each([
    [[], ""],
    [["a"], "a"],
    [["a", 0, "b", 12, 3], "a[0].b[12][3]"],
    [[0], "[0]"],
  ])("writes %j as %j", (path, written) => {
    expect(formatPath(path)).toBe(written);
  });
});

describe("parseInput", () => {
  const schema = z.strictObject({ name: z.string(), size: z.int().default(1) });
  const found = { path: "If-Match", code: "wrong_format", message: "must be a version" };

  it("returns the parsed value", () => {
    expect(parseInput(schema, { name: "a" })).toEqual({ name: "a", size: 1 });
  });

  it("reports issues that were found before, with its own or alone", () => {
    expect(thrown(() => parseInput(schema, {}, [found])).details.errors).toEqual([
      found,
      expect.objectContaining({ path: "name", code: "missing" }),
    ]);
    const error = thrown(() => parseInput(schema, { name: "a" }, [found]));
    expect(error).toMatchObject({ code: "invalid_input", message: "If-Match must be a version." });
  });

  it("repeats the first three issues in its message and counts the others", () => {
    const many = Array.from({ length: 5 }, (_, i) => ({
      path: `f${i}`,
      code: "missing",
      message: "is required",
    }));
    expect(invalidInput(many).message).toBe(
      "f0 is required. f1 is required. f2 is required. And 2 more, see errors.",
    );
    expect(invalidInput([{ path: "", code: "x", message: "must be an object" }]).message).toBe(
      "The input must be an object.",
    );
  });
});
