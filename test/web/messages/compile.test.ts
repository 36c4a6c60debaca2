import { describe, expect, it } from "vitest";
import { compileCatalogues } from "../../../bin/messages/compile.ts";

/** Compiles one area from its English and German messages. */
const compile = (en: object, de: object = en) =>
  compileCatalogues(
    ["en", "de"],
    [
      { language: "en", area: "runs", content: JSON.stringify(en, null, 2) },
      { language: "de", area: "runs", content: JSON.stringify(de, null, 2) },
    ],
  );

/** @returns the declarations of a module, without its comment and imports */
function english(messages: object): string {
  const { modules, problems } = compile(messages);
  expect(problems).toEqual([]);
  return modules["en/runs.ts"]!.split("\n\n").slice(1).join("\n\n");
}

describe("a compiled message", () => {
  it("is a constant without arguments, and a function with them", () => {
    expect(english({ heading: "Runs", can: "It can't" })).toBe(
      'export const heading = "Runs";\nexport const can = "It can\'t";\n',
    );
    expect(english({ hello: "{name}: `\\ $'{'x'}'" })).toContain(
      "({ name }: { name: string | number }): string =>\n  `${name}: \\`\\\\ \\${x}`;\n",
    );
  });

  it("chooses by number and by value, and types the argument", () => {
    const code = english({
      selected: "{count, plural, =0 {None} one {# run} other {# runs}}",
      state: "{state, select, on {On} off {Off}}",
      kind: "{kind, select, a {A} other {{kind}}}",
    });
    expect(code).toContain("{ count: number }): string =>");
    expect(code).toContain(
      '(count === 0 ? "None" : pluralForm(count) === "one" ? `${formatNumber(count)} run` : `${formatNumber(count)} runs`)',
    );
    expect(code).toContain('{ state: "off" | "on" }): string =>\n  (state === "on" ? "On" : "Off")');
    expect(code).toContain("{ kind: string }");
  });

  it("formats numbers, with a skeleton too", () => {
    expect(english({ a: "{n, number} {s, number, ::percent}" })).toContain(
      '`${formatNumber(n)} ${formatNumber(s, {"style":"percent"})}`',
    );
  });

  it("puts tags and elements into a fragment", () => {
    const { modules } = compile({ help: "See <link>the {name}</link> of <time/>." });
    expect(modules["en/runs.ts"]).toContain('import type { ReactNode } from "react";');
    expect(modules["en/runs.ts"]).toContain(
      "{ link: (children: ReactNode) => ReactNode; name: string | number; time: ReactNode }): ReactNode =>\n" +
        '  rich("See ", link(`the ${name}`), " of ", time, ".");',
    );
  });

  it("has arguments that satisfy all languages, and takes the text of an object", () => {
    const { modules, problems } = compile(
      { shown: { text: "{n} shown", note: "of a list" } },
      { shown: "{n, plural, one {# ist da} other {# sind da}}" },
    );
    expect(problems).toEqual([]);
    expect(modules["en/runs.ts"]).toContain("{ n: number }");
  });
});

describe("the compiler", () => {
  it("reports everything that differs between the languages, at once", () => {
    const { problems } = compile(
      { a: "A", b: "{n}", c: "<x>C</x>", d: "{k, select, a {1} b {2}}" },
      { b: "B", c: "<y>C</y>", d: "{k, select, a {1} c {2}}", e: "E" },
    );
    expect(problems).toEqual([
      'src/web/messages/de/runs.json: "a" is missing. Translate it from en/runs.json.',
      'src/web/messages/de/runs.json: "b" lacks the argument or tag "n". Use it as in the English message.',
      'src/web/messages/de/runs.json: "c" lacks the argument or tag "x". Use it as in the English message.',
      'src/web/messages/de/runs.json: "c" has the argument or tag "y", which the English message lacks. Remove it.',
      'src/web/messages/de/runs.json: "d" uses "k" differently from the English message. Use it in the same way.',
      'src/web/messages/de/runs.json: "e" is not in en/runs.json. Remove it, or add it there.',
    ]);
  });

  it.each([
    ["{n", "is not a valid ICU message"],
    ["{n, plural, other {#}}", "lacks the plural form one"],
    ["{n, plural, one {#} few {#} other {#}}", "has the plural form few"],
    ["{n, plural, offset:1 one {#} other {#}}", "has an offset"],
    ["{n, selectordinal, other {#}}", "has a selectordinal"],
    ["{n, number, percent}", 'has the number style "percent"'],
    ["{at, date}", 'formats "at" as a date or time'],
    ["{N}", 'has the argument or tag "N"'],
    ["{n, number} {n, select, a {1} other {2}}", 'uses "n" in two ways'],
    ["", "must be a text"],
  ])("refuses %j", (text, problem) => {
    expect(compile({ a: text }).problems[0]).toContain(`src/web/messages/en/runs.json: "a" ${problem}`);
  });

  it("refuses keys that can't be constants, that look like hooks, and that occur twice", () => {
    expect(compile({ delete: "A", useIt: "B", "a-b": "C" }).problems.slice(0, 3)).toEqual([
      expect.stringContaining('"delete" is a reserved word'),
      expect.stringContaining('"useIt" begins with "use"'),
      expect.stringContaining('"a-b" must be a key in camelCase'),
    ]);
    const content = '{\n  "a": "1",\n  "a": "2"\n}\n';
    expect(compileCatalogues(["en"], [{ language: "en", area: "runs", content }]).problems).toEqual([
      'src/web/messages/en/runs.json: "a" occurs twice. Remove one of them.',
    ]);
  });

  it("names a language that lacks an area", () => {
    const content = '{ "a": "A" }';
    expect(compileCatalogues(["en", "de"], [{ language: "en", area: "runs", content }]).problems).toEqual([
      "src/web/messages/de/runs.json: is missing. Create it with the keys of the others.",
    ]);
  });
});
