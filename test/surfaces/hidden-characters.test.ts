import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  describeHiddenCharacter,
  findHiddenCharacter,
  removeHiddenCharacters,
  visibleJson,
  visibleText,
} from "../../schemas/hidden-characters.ts";
import { iso } from "../../src/core/clock.ts";
import { connect, outputOf } from "../support/mcp.ts";
import { expectProblem, openRest } from "../support/rest.ts";

/** A character of each kind, with the name in the message. */
const HIDDEN = [
  ["a control character", "\u001B", "U+001B"],
  ["a C1 control character", "\u009B", "U+009B"],
  ["a space of zero width", "\u200B", "U+200B"],
  ["a joiner of zero width", "\u200D", "U+200D"],
  ["a bidirectional override", "\u202E", "U+202E"],
  ["a bidirectional isolate", "\u2066", "U+2066"],
  ["a byte order mark", "\uFEFF", "U+FEFF"],
  ["a soft hyphen", "\u00AD", "U+00AD"],
  ["a tag character", "\u{E0041}", "U+E0041"],
  ["a variation selector of the supplement", "\u{E0100}", "U+E0100"],
  ["a variation selector that chooses no emoji", "\uFE00", "U+FE00"],
  ["the selector of emoji after a letter", "\uFE0F", "U+FE0F"],
  ["the selector of text after a letter", "\uFE0E", "U+FE0E"],
  ["an invisible letter", "\u3164", "U+3164"],
  ["a private character", "\uE000", "U+E000"],
  ["an unassigned character", "\u0378", "U+0378"],
  ["a line separator", "\u2028", "U+2028"],
] as const;

/** Sequences of the Unicode Standard and of UTS #51, and the examples of RFC 5892, appendices A.1 and A.2. */
const SEEN = [
  ["Persian, between joined letters", "می\u200Cخواهم"],
  ["Persian, a plural after a joined letter", "کتاب\u200Cها"],
  // https://github.com/kepano/defuddle/pull/103, https://github.com/alpheios-project/alpheios-core/issues/491
  ["Persian, plugin", "افزونه\u200Cی"],
  ["Persian, database", "پایگاه\u200Cداده"],
  ["Persian, problems", "مشکل\u200Cها"],
  ["Persian, with a mark on the letter", "مِ\u200Cخ"],
  ["Hindi, a half letter", "क्\u200Dष"],
  ["Hindi, no ligature", "क्\u200Cष"],
  ["Malayalam, a chillu", "ന്\u200D"],
  ["Bengali, ra with ya-phalaa", "র\u200D্যাব"],
  ["Sinhala, a conjunct", "ශ්\u200Dරී"],
  ["emoji, a profession", "👩\u200D💻"],
  ["emoji, with a skin tone", "👩🏽\u200D💻"],
  ["emoji, a flag", "🏳️\u200D🌈"],
  ["emoji, a family", "👨\u200D👩\u200D👧"],
  ["emoji, a flag without the selector", "🏳\u200D🌈"],
  ["emoji, a runner with a sign", "🏃🏽\u200D♀\uFE0F"],
  ["emoji, a bubble with one of two selectors", "👁\uFE0F\u200D🗨"],
  ["emoji, a heart as text", "❤\uFE0E"],
  ["emoji, a keycap", "1\uFE0F\u20E3"],
  ["emoji, the flag of England", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"],
] as const;

const UNSEEN = [
  ["between Latin letters", "pay\u200Cpal", "U+200C at character 4", "paypal"],
  ["after a letter that joins nothing", "کار\u200Cها", "U+200C at character 4", "کارها"],
  ["twice", "می\u200C\u200Cخواهم", "U+200C at character 3", "میخواهم"],
  ["before a space", "می\u200C خ", "U+200C at character 3", "می خ"],
  ["after emoji, counted in characters", "👩🏽\u200D", "U+200D at character 3", "👩🏽"],
  ["between emoji that are not one", "😀\u200D😀", "U+200D at character 2", "😀😀"],
  ["between signs", "a©\u200D®", "U+200D at character 3", "a©®"],
  ["a second selector", "❤\uFE0F\uFE0F", "U+FE0F at character 3", "❤\uFE0F"],
  ["a selector after a digit", "Room 1\uFE0F", "U+FE0F at character 7", "Room 1"],
  ["another flag", "🏴\u{E0078}\u{E0078}\u{E007F}", "U+E0078 at character 2", "🏴"],
] as const;

describe("hidden characters", () => {
  it.each(HIDDEN)("are found: %s", (_what, character, name) => {
    const text = `Weekly${character} revenue`;
    for (const kind of ["line", "lines"] as const) {
      expect(findHiddenCharacter(text, kind)).toBe(name);
      expect(findHiddenCharacter(removeHiddenCharacters(text, kind), kind)).toBeUndefined();
    }
    expect(visibleText(text)).toBe(`Weekly\\u{${name.slice(2).toLowerCase().replace(/^0+/, "")}} revenue`);
  });

  it("are not the characters of languages, emoji, and lines where there may be several", () => {
    for (const text of [
      "Umsatz für März €",
      "每周收入",
      "הכנסות",
      "إيرادات",
      "साप्ताहिक",
      "❤️ 👍🏽 🇩🇪",
      "naïve",
    ])
      expect([text, findHiddenCharacter(text, "line"), visibleText(text)]).toEqual([text, undefined, text]);
    for (const text of ["a\nb", "a\tb", "a\r\nb"]) {
      expect(findHiddenCharacter(text, "line")).toBeDefined();
      expect(findHiddenCharacter(text, "lines")).toBeUndefined();
      expect(removeHiddenCharacters(text, "line")).toBe("a b");
    }
    expect(findHiddenCharacter("overwritten\rline", "lines")).toBe("U+000D");
  });

  it.each(SEEN)("are no joiners that people see: %s", (_what, text) => {
    expect(findHiddenCharacter(text, "line")).toBeUndefined();
    expect([removeHiddenCharacters(text, "line"), visibleText(text)]).toEqual([text, text]);
  });

  it.each(UNSEEN)("are joiners and selectors without an effect: %s", (_what, text, place, cleaned) => {
    expect(describeHiddenCharacter(text, "lines")).toBe(place);
    expect(removeHiddenCharacters(text, "line")).toBe(cleaned);
  });

  it("leave no hidden character behind when they are removed", () => {
    const part = fc.constantFrom(
      "\u200C",
      "\u200D",
      "\u0628",
      "\u0631",
      "\u0301",
      "\u0915",
      "\u094D",
      "\u{1F469}",
      "\uFE0F",
      "\u034F",
      "a",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        expect(findHiddenCharacter(removeHiddenCharacters(parts.join(""), "line"), "line")).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it("are escaped in a whole JSON value", () => {
    expect(visibleJson({ "a\u200B": ["b\u202E", 1, null] })).toEqual({
      "a\\u{200b}": ["b\\u{202e}", 1, null],
    });
  });
});

describe("a request with a hidden character in a text for others", () => {
  const hidden = "Weekly\u202E revenue";
  const shown = "Weekly revenue";

  it.each([
    ["name", { name: hidden }, "name"],
    ["description", { name: "A", description: hidden }, "description"],
    ["tag", { name: "A", tags: [hidden] }, "tags[0]"],
    ["reason", { name: "A", reason: hidden }, "reason"],
  ])("is refused with the text without it: %s of a workflow", async (_what, body, path) => {
    const { call } = await openRest();
    const { errors } = expectProblem(
      await call("POST", "/workflows", { description: "", ...body }),
      "invalid_input",
    );
    expect(errors).toMatchObject([{ path, code: "invalid_text", did_you_mean: shown }]);
    expect(errors![0]!.message).toContain("U+202E at character 7");
    expect(errors![0]!.fix).toContain(path === "name" ? `Write "${shown}"` : "");
  });

  it.each([
    ["\u200B", "invalid_text"],
    ["\uFE0F \uFE0F", "invalid_text"],
    ["\u2800", "too_short"],
    ["\u2800\u200B", "invalid_text"],
  ])("is refused without a suggestion where nothing is left: %j", async (name, code) => {
    const { call } = await openRest();
    const { errors } = expectProblem(await call("POST", "/workflows", { name }), "invalid_input");
    expect(errors).toEqual([expect.objectContaining({ path: "name", code })]);
    expect(errors![0]).not.toHaveProperty("did_you_mean");
  });

  it("is refused for the comment of an approval", async () => {
    const { instance, url } = await openRest();
    const { value } = await instance.key({ scopes: ["read", "approve"] });
    const answer = await fetch(`${url}/approvals/apr_1`, {
      method: "POST",
      headers: { "X-API-Key": value, "Content-Type": "application/json" },
      body: JSON.stringify({ decision: "approve", comment: hidden }),
    });
    expect(await answer.json()).toMatchObject({ errors: [{ path: "comment", code: "invalid_text" }] });
  });

  it("gets an issue with a patch for each text of a definition, and can't publish it", async () => {
    const { call } = await openRest();
    const property = { type: "string", title: hidden, description: hidden, default: hidden };
    const schema = { type: "object", title: hidden, properties: { text: property } };
    const definition = {
      inputs: schema,
      output_schema: { type: "object", description: hidden },
      steps: [
        { id: "a", type: "set", description: hidden, values: { text: hidden } },
        { id: "ask", type: "approval", message: "Go?", form: schema },
      ],
      examples: [{ name: hidden, inputs: {} }],
    };
    const { body } = await call("POST", "/workflows", { name: "Sly", description: "", definition });
    const found = (body.issues as { path: string; code: string; patch: { value: string }[] }[]).filter(
      ({ code }) => code === "hidden_characters",
    );
    expect(found.map(({ path }) => path).toSorted()).toEqual([
      "examples[0].name",
      "inputs.properties.text.description",
      "inputs.properties.text.title",
      "inputs.title",
      "output_schema.description",
      "steps[0].description",
      "steps[1].form.properties.text.description",
      "steps[1].form.properties.text.title",
      "steps[1].form.title",
    ]);
    expect(found.map(({ patch }) => patch[0]!.value)).toEqual(found.map(() => shown));
    expectProblem(await call("POST", "/workflows/sly/publish", {}), "workflow_not_runnable");
    const fixed = await call("PATCH", "/workflows/sly", { definition, apply_fixes: true });
    expect((fixed.body.issues as { code: string }[]).map(({ code }) => code)).not.toContain(
      "hidden_characters",
    );
  });

  it("gets an issue for the name of an input", async () => {
    const { call } = await openRest();
    const inputs = { type: "object", properties: { "te\u200Bxt": { type: "string" } } };
    const definition = { inputs, steps: [{ id: "a", type: "set", values: { n: 1 } }] };
    const { body } = await call("POST", "/workflows", { name: "Sly", description: "", definition });
    expect(body.issues).toMatchObject([
      { code: "hidden_characters", fix: expect.stringContaining('"text"') },
    ]);
  });
});

describe("texts that were stored before", () => {
  it("are shown escaped, and their workflow continues to run", async () => {
    const { instance, call, key } = await openRest();
    const executor = await instance.executor();
    const definition = { steps: [{ id: "a", type: "set", values: { n: 1 } }] };
    await call("POST", "/workflows", { name: "Old", description: "", definition });
    await call("POST", "/workflows/old/publish", {});
    await instance.store.transaction(async (trx) => {
      const old = { ...definition, steps: [{ ...definition.steps[0], description: "a\u202E" }] };
      await trx
        .updateTable("workflows")
        .set({ name: "Old\u202E", updated_at: iso(0) })
        .execute();
      await trx
        .updateTable("workflow_versions")
        .set({ definition: JSON.stringify(old) })
        .execute();
    });
    const agent = await connect("v2 pinned to 2026-07-28", (await instance.mcp()).url, key);
    expect(outputOf(await agent.call("list_workflows")).items[0].name).toBe("Old\\u{202e}");
    const run = await call("POST", "/workflows/old/runs", { wait: 20 });
    expect(run.body).toMatchObject({ status: "succeeded", output: { n: 1 } });
    await executor.stop(0);
  });
});
