import { describe, expect, it } from "vitest";
import { toYaml } from "../../../../schemas/to-yaml.ts";
import { definitionText } from "../../../../src/engine/definition/check/definition-text.ts";
import { readSource } from "../../../../src/engine/definition/check/source.ts";

const TEXT = "# Greets.\nsteps:\n  - id: hello # first\n    type: set\n    values: { n: 1 }\n";
const DEFINITION = readSource(TEXT).value as { steps: Record<string, unknown>[] };
const BASE = { text: TEXT, definition: JSON.stringify(DEFINITION) };
const written = (source: unknown) => ({ source, value: readSource(source).value });

describe("definitionText", () => {
  it("is the text as it was written", () => {
    expect(definitionText(written(TEXT), DEFINITION, null)).toBe(TEXT);
  });

  it("leaves out a text that the generated one equals, and JSON", () => {
    for (const text of [toYaml(DEFINITION), JSON.stringify(DEFINITION)])
      expect(definitionText(written(text), DEFINITION, null)).toBeUndefined();
  });

  it("is the text of a file without the fields of the workflow", () => {
    const file = TEXT.replace("steps:", "id: hello # unique\nname: Hello\n\nsteps:");
    expect(definitionText(written(file), DEFINITION, null)).toBe(TEXT);
  });

  it("keeps the comments of the text that an object changes", () => {
    const changed = { steps: [{ ...DEFINITION.steps[0], values: { n: 2 } }] };
    expect(definitionText(written(changed), changed, BASE)).toBe(TEXT.replace("n: 1", "n: 2"));
    expect(definitionText(written(changed), changed, null)).toBeUndefined();
  });

  it("writes aliases out where only one of their places changes", () => {
    const text = "steps:\n  - &a { id: a, type: set, values: { n: 1 } } # one\n  - *a\n  - id: c # three\n";
    const before = readSource(text).value as typeof DEFINITION;
    const after = { steps: [before.steps[0]!, { ...before.steps[1], id: "b" }, before.steps[2]!] };
    const found = definitionText(written(after), after, { text, definition: JSON.stringify(before) })!;
    expect(readSource(found).value).toEqual(after);
    expect(found).toContain("# three");
  });

  it("is never a text that says something else", () => {
    // A text that does not say its definition stands for a mistake in changing it.
    const base = { text: TEXT, definition: JSON.stringify({ steps: [] }) };
    const wanted = { steps: [], timeout: "1m" };
    expect(definitionText(written(wanted), wanted, base)).toBeUndefined();
  });
});
