import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEqualJson } from "../../schemas/json-diff.ts";
import { toYaml } from "../../schemas/to-yaml.ts";
import { rewriteYaml } from "../../schemas/yaml-rewrite.ts";
import { readSource } from "../../src/engine/definition/check/source.ts";

type Definition = Record<string, unknown>;
type Step = Record<string, unknown>;

const read = (text: string): Definition => readSource(text).value as Definition;

const TEXT = `# Revenue by region. Owner: the finance team.

timeout:   10m   # the database is slow on Mondays

# What the board reads.
steps:
  # The orders of the week.
  - id: orders    # all of them
    type: sql
    # Prepared by the shop team.
    query: |
      SELECT id # no comment
      FROM orders

    params: { from: 2026-01-01, digits: 9007199254740993, ratio: 3.10 }
    # until the new schema is there
  # Two sentences.

  # The model is cheap.
  - id: text
    type: model
    needs: [orders]
    prompt: >-
      Write two
      sentences.
  - id: 'note'
    type: set
    values:
        deep: "\${{ steps.orders.row_count }}" # four spaces
# The answer.
output: "\${{ steps.text.output }}"
# end
`;

/** Changes a copy of the definition of `TEXT`, and returns the text that says it. */
function rewrite(change: (definition: Definition & { steps: Step[] }) => void, text = TEXT): string {
  const before = read(text);
  const after = structuredClone(before) as Definition & { steps: Step[] };
  change(after);
  const changed = rewriteYaml(text, before, after);
  expect(read(changed)).toEqual(after);
  return changed;
}

describe("rewriteYaml", () => {
  it("returns the same text for the same value", () => {
    expect(rewrite(() => {})).toBe(TEXT);
  });

  it("changes only the value in a line", () => {
    expect(rewrite((workflow) => (workflow["timeout"] = "20m"))).toBe(TEXT.replace("10m", "20m"));
    expect(rewrite(({ steps }) => ((steps[2]!["values"] as Step)["deep"] = "x"))).toBe(
      TEXT.replace('"${{ steps.orders.row_count }}"', '"x"'),
    );
  });

  it("changes a value in a flow collection, and keeps the digits of the others", () => {
    expect(rewrite(({ steps }) => ((steps[0]!["params"] as Step)["from"] = "${{ run.date }}"))).toBe(
      TEXT.replace("from: 2026-01-01", 'from: "${{ run.date }}"'),
    );
    expect(rewrite(({ steps }) => (steps[1]!["needs"] = ["orders", "note"]))).toBe(
      TEXT.replace("[orders]", "[orders, note]"),
    );
  });

  it("writes a long flow collection as a block, where changing it entry by entry would take long", () => {
    const list = Array.from({ length: 5_000 }, (_, index) => index);
    const text = `# The list.\nsteps:\n  # Long.\n  - { id: a, values: { x: [${list.join(", ")}] } }\n`;
    const after = { steps: [{ id: "a", values: { x: list.toReversed() } }] };
    const changed = rewriteYaml(text, read(text), after);
    expect(read(changed)).toEqual(after);
    expect(changed.startsWith("# The list.\nsteps:\n  # Long.\n  -")).toBe(true);
  });

  it("gives each of many renamed keys its own line", () => {
    const [before, after] = ["k", "n"].map((prefix) => {
      const values = Array.from({ length: 300 }, (_, index) => [`${prefix}${index}`, `v${index % 7}`]);
      return { steps: [{ id: "a", values: Object.fromEntries(values) as Step }] };
    });
    const text = `# Kept.\n${toYaml(before!)}`;
    expect(read(rewriteYaml(text, before, after))).toEqual(after);
  });

  it("removes a step with the comments above it, and leaves those of the next one", () => {
    const changed = rewrite(({ steps }) => void steps.shift());
    expect(changed).toContain("steps:\n  # Two sentences.\n\n  # The model is cheap.\n  - id: text\n");
    expect(changed).not.toMatch(/orders of the week|shop team|new schema/);
    expect(rewrite(({ steps }) => void steps.pop())).toBe(
      TEXT.replace(/  - id: 'note'\n[^]*(?=# The answer)/, ""),
    );
  });

  it("inserts a step, and leaves the comments of the others", () => {
    const step = { values: { n: 1 }, type: "set", id: "first" };
    expect(rewrite(({ steps }) => void steps.unshift(step))).toBe(
      TEXT.replace("steps:\n", 'steps:\n  - id: first\n    type: set\n    values:\n      "n": 1\n'),
    );
    expect(rewrite(({ steps }) => void steps.push(step))).toBe(
      TEXT.replace("# The answer", '  - id: first\n    type: set\n    values:\n      "n": 1\n# The answer'),
    );
  });

  it("moves a step with its comments, also into the first place", () => {
    const changed = rewrite(({ steps }) => void steps.unshift(...steps.splice(1, 1)));
    expect(changed).toContain("steps:\n  # Two sentences.\n\n  # The model is cheap.\n  - id: text\n");
    expect(changed).toContain(
      "      sentences.\n  # The orders of the week.\n  - id: orders    # all of them\n",
    );
  });

  it("renames a step in its place", () => {
    expect(rewrite(({ steps }) => (steps[0]!["id"] = "sales"))).toBe(TEXT.replace("id: orders", "id: sales"));
  });

  it("renames a key in its place", () => {
    expect(
      rewrite(({ steps }) => {
        steps[0]!["statement"] = steps[0]!["query"];
        delete steps[0]!["query"];
      }),
    ).toBe(TEXT.replace("query:", "statement:"));
  });

  it("adds fields where people expect them, and replaces blocks", () => {
    const changed = rewrite((workflow) => {
      workflow["inputs"] = { type: "object" };
      workflow.steps[0]!["retry"] = { attempts: 3 };
      workflow.steps[1]!["prompt"] = "one\nword";
      workflow.steps[0]!["query"] = "SELECT 1";
    });
    expect(changed).toContain("\n\ninputs:\n  type: object\ntimeout:   10m ");
    expect(changed).toContain("    retry:\n      attempts: 3\n    # until the new schema is there\n  # Two");
    expect(changed).toContain("    prompt: |-\n      one\n      word\n  - id: 'note'");
    expect(changed).toContain("    # Prepared by the shop team.\n    query: SELECT 1\n\n    params: {");
  });

  it("keeps the blank lines between steps", () => {
    const text = "steps:\n  - id: a\n\n  - id: b\n\n  - id: c\n";
    const add = (index: number) => rewrite(({ steps }) => void steps.splice(index, 0, { id: "x" }), text);
    expect(add(0)).toBe("steps:\n  - id: x\n\n  - id: a\n\n  - id: b\n\n  - id: c\n");
    expect(add(1)).toBe("steps:\n  - id: a\n\n  - id: x\n\n  - id: b\n\n  - id: c\n");
    expect(rewrite(({ steps }) => void steps.shift(), text)).toBe("steps:\n  - id: b\n\n  - id: c\n");
  });

  it("keeps Windows line ends, the byte order mark and the indentation", () => {
    const text =
      "\ufeff# Grüße 🦄\r\nsteps:\r\n- id: a # é\r\n  type: set\r\n  values:\r\n    x: 1\r\n    y: 2\r\n";
    const changed = rewrite(({ steps }) => {
      (steps[0]!["values"] as Step)["y"] = { z: 1 };
      steps.push({ id: "b", type: "set", values: { z: [1] } });
    }, text);
    expect(changed).toBe(
      text.replace("y: 2\r\n", "y:\r\n      z: 1\r\n") +
        "- id: b\r\n  type: set\r\n  values:\r\n    z:\r\n    - 1\r\n",
    );
  });

  it("writes out aliases and merged fields where they no longer agree, if that is asked for", () => {
    const text =
      "steps:\n  - &a\n    id: a # one\n    type: set\n  - <<: *a # same\n    id: b\n  - id: c # three\n";
    const before = read(text);
    const after = structuredClone(before) as { steps: Step[] };
    after.steps[0]!["type"] = "assert";
    const changed = rewriteYaml(text, before, after, { expand: true });
    expect(read(changed)).toEqual(after);
    expect(changed).toContain("  - id: c # three\n");
  });
});

/** A key or a text that is written in every way that YAML has. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "values", "type", "x y", "é", "n", "null", "12", "é🦄") },
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => !/__proto__/.test(text)),
);
const scalar = fc.oneof(
  word,
  fc.constantFrom(
    "line one\nline two\n",
    "# no comment",
    "a: b",
    " x",
    "\n",
    "- a",
    "${{ inputs.a }}",
    "a\n\n # b\n",
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(word, tie("value"), { maxKeys: 4 }),
  ),
}));
const fields = fc.dictionary(word, json, { maxKeys: 4 });
const steps = fc.uniqueArray(
  fc
    // Keys that are numbers would come before the id.
    .tuple(
      fc.constantFrom("a", "b", "c", "d", "e"),
      fields.filter((rest) => !Object.keys(rest).some(Number)),
    )
    .map(([id, rest]) => Object.assign({}, rest, { id })),
  { maxLength: 5, selector: ({ id }) => id },
);
const definition = fc
  .tuple(fields, steps)
  .map(([rest, list]): Definition => Object.assign({}, rest, { steps: list }));

/** Writes a comment above each step and each key that can have one, and sometimes a blank line. */
function withComments(value: Definition, blank: boolean): string {
  let inBlock = Infinity;
  return toYaml(value)
    .split("\n")
    .flatMap((line) => {
      const indent = /^ */.exec(line)![0].length;
      if (line.trim() === "" || indent > inBlock) return [line];
      inBlock = /[|>][-+\d]*$/.test(line) ? indent : Infinity;
      const step = /^ {2}- id: (\w)$/.exec(line)?.[1];
      if (step !== undefined)
        return (blank ? [""] : []).concat(`  # about ${step}`, `${line} # inline ${step}`);
      return indent === 0 ? [`# above`, line] : [line];
    })
    .join("\n");
}

describe("rewriteYaml of any definition", () => {
  it("says the new definition, and keeps the comments of the steps that stay", () => {
    fc.assert(
      fc.property(definition, definition, fc.boolean(), fc.boolean(), (before, after, blank, crlf) => {
        const written = withComments(before, blank);
        const text = crlf ? written.replaceAll("\n", "\r\n") : written;
        const said = read(text);
        fc.pre(isEqualJson(said, readSource(before).value));
        const wanted = readSource(after).value as { steps: Step[] };
        const changed = rewriteYaml(text, said, wanted);
        expect(isEqualJson(read(changed), wanted), `${text}\n→\n${changed}`).toBe(true);
        const ids = new Set((said["steps"] as Step[]).map(({ id }) => id));
        for (const { id } of wanted.steps.filter((step) => ids.has(step["id"])))
          expect(changed).toMatch(new RegExp(`# about ${id as string}[^]*# inline ${id as string}`));
      }),
      { numRuns: 200 },
    );
  });
});
