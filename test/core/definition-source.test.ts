import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  fileOfSource,
  isNewSource,
  keptSource,
  MAX_SOURCE_CHARS,
  mergeSource,
  sourceOfFile,
} from "../../src/core/definition-source.ts";
import { startCpuTimer } from "../support/cpu-time.ts";

const SOURCE = `# Revenue.

# What it takes.
inputs: { type: object }
steps:
  # The orders.
  - id: orders # all of them
    type: set
    values: { n: 1 }
  - id: note
    type: set
    values: { text: "\${{ steps.orders.n }}" } # as text
`;
const DEFINITION = parse(SOURCE) as { inputs: object; steps: Record<string, unknown>[] };

const lists = (length: number) => ({ x: Array.from({ length }, () => ({})) });

describe("the text of a definition", () => {
  it("is kept as it was typed, unless it is JSON or too long", () => {
    expect(keptSource(SOURCE)).toBe(SOURCE);
    expect(keptSource(`\n\n${SOURCE.replaceAll("\n", "\r\n")}`)).toBe(SOURCE);
    expect(keptSource('\n{ "steps": [] }')).toBeNull();
    expect(keptSource(`# ${"x".repeat(MAX_SOURCE_CHARS)}\nsteps: []\n`)).toBeNull();
  });

  it("is not kept if a database can't store it", () => {
    expect(keptSource("# a\u0000\nsteps: []\n")).toBeNull();
    expect(keptSource("# \uD800\nsteps: []\n")).toBeNull();
    expect(keptSource("# 😀\nsteps: []\n")).toBe("# 😀\nsteps: []\n");
    expect(mergeSource("a: 1 # one\n", { a: "x\n\u0000\n" })).toBe('a: "x\\n\\0\\n" # one\n');
    // An older release kept it.
    expect(mergeSource("# \u0000\na: 1\n", { a: 2 })).toBeNull();
  });

  it("is new for the same definition if its comments or a kept text differ", () => {
    expect(isNewSource(SOURCE, SOURCE)).toBe(false);
    expect(isNewSource(SOURCE, null)).toBe(true);
    expect(isNewSource("steps: []\n", null)).toBe(false);
    expect(isNewSource("steps: []\n", SOURCE)).toBe(true);
    expect(isNewSource(null, SOURCE)).toBe(false);
  });
});

describe("a change that is merged into a text", () => {
  const [orders, note] = DEFINITION.steps as [Record<string, unknown>, Record<string, unknown>];

  it.each<[string, Record<string, unknown>, string]>([
    [
      "a value",
      { ...DEFINITION, steps: [{ ...orders, values: { n: 2 } }, note] },
      SOURCE.replace("n: 1", "n: 2"),
    ],
    [
      "a new step",
      { ...DEFINITION, steps: [orders, note, { id: "end", type: "set" }] },
      `${SOURCE}  - id: end\n    type: set\n`,
    ],
    [
      "the order of steps",
      { ...DEFINITION, steps: [note, orders] },
      SOURCE.replace(/( {2}- id: orders[\s\S]*?)( {2}- id: note[\s\S]*)/, "$2$1"),
    ],
    [
      "a field that is gone",
      { steps: DEFINITION.steps },
      SOURCE.replace(/# What it takes\.\ninputs.*\n/, ""),
    ],
    [
      "a new expression",
      { ...DEFINITION, output: "${{ steps.note }}" },
      `${SOURCE}output: "\${{ steps.note }}"\n`,
    ],
  ])("changes %s, and keeps the comments of the rest", (_, definition, expected) => {
    const merged = mergeSource(SOURCE, definition);
    expect(parse(merged!)).toEqual(definition);
    for (const comment of expected.match(/# .*/g)!) expect(merged).toContain(comment);
    expect(merged!.replace(/^\s*#.*\n+/gm, "")).toBe(expected.replace(/^\s*#.*\n+/gm, ""));
  });

  it("is refused where aliases share values, and in a long text", () => {
    expect(mergeSource("a: &x { b: 1 }\nc: *x\n", { a: { b: 2 }, c: { b: 1 } })).toBeNull();
    expect(mergeSource("base: &x { b: 1 }\nc:\n  <<: *x\n", { c: 1 })).toBeNull();
    expect(mergeSource(`# ${"x".repeat(70_000)}\na: 1\n`, { a: 2 })).toBeNull();
  });

  it("moves the items of a list with their comments, each once", () => {
    const list = "- a # 1\n- b # 2\n- a # 3\n- { id: s, n: 1 } # 4\n- { id: s, n: 2 } # 5\n- { m: 1 } # 6\n";
    const text = `x:\n${list.replaceAll(/^/gm, "  ").trimEnd()}\n`;
    const x = [{ m: 1 }, "a", { id: "s", n: 3 }, "a", "c", { id: "s", n: 2 }, "a", { m: 2 }];
    expect(mergeSource(text, { x })).toBe(
      `x:
  - { m: 1 } # 6
  - a # 1
  - { id: s, n: 3 } # 4
  - a # 3
  - c # 5
  - id: s
    n: 2
  - a
  - m: 2
`,
    );
  });

  it("takes the place of an item for a new text, and keeps the first of equal items", () => {
    expect(mergeSource("x:\n  - a # 1\n  - b # 2\n", { x: ["c", "b"] })).toBe("x:\n  - c # 1\n  - b # 2\n");
    expect(mergeSource("x:\n  - a # 1\n  - a # 2\n", { x: ["a"] })).toBe("x:\n  - a # 1\n");
  });

  it("takes a short time for long lists and maps, and is refused for a much longer definition", () => {
    const numbers = `x: [${Array.from({ length: 15_000 }, () => 1).join(",")}]\n`;
    const keys = Array.from({ length: 3_000 }, (_, index) => `a${index}: 1\n`).join("");
    const cpuTime = startCpuTimer();
    expect(mergeSource(numbers, lists(5_000))).not.toBeNull();
    expect(
      mergeSource(keys, Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`b${index}`, 1]))),
    ).not.toBeNull();
    expect(mergeSource(numbers, lists(20_000))).toBeNull();
    expect(mergeSource("a: 1 # one\n", { a: "x".repeat(200_000) })).toBeNull();
    expect(cpuTime()).toBeLessThan(10_000);
  });
});

describe("the text in a workflow's file", () => {
  const FIELDS = 'id: a\nname: "A: b"\ndescription: |\n  Two\n  lines.\ntags: [x]\ndraft: true\n';

  it("has the fields of the workflow behind its first comment, and is the same without them", () => {
    const file = fileOfSource(SOURCE, FIELDS);
    expect(file).toBe(SOURCE.replace("# What", `${FIELDS}# What`));
    expect(sourceOfFile(file!)).toBe(SOURCE);
    expect(fileOfSource("steps: []\n", FIELDS)).toBe(`${FIELDS}steps: []\n`);
  });

  it("is found wherever the fields are", () => {
    expect(sourceOfFile("steps: []\nname: A # why\n\n# end\noutput: 1\nid: a")).toBe(
      "steps: []\n\n# end\noutput: 1\n",
    );
    expect(sourceOfFile("name: A\n")).toBeNull();
    expect(sourceOfFile("name: [A\n")).toBeNull();
    expect(sourceOfFile('{"name": "A", "steps": []}')).toBeNull();
  });
});
