/**
 * Compares what the operations of expressions cost with the processor time that they take: MAX_EXPRESSION_COST bounds the
 * time only if no operation is charged far too little. `CALIBRATE=1` prints all of them.
 */
import { describe, expect, it } from "vitest";
import { compileBlock } from "../../../src/engine/definition/expressions/compile.ts";
import { startEvaluation } from "../../../src/engine/definition/expressions/evaluation-context.ts";
import { parseCel } from "../../../src/engine/definition/expressions/parse.ts";
import { toJson } from "../../../src/engine/definition/expressions/values.ts";
import { cpuTimeOf } from "../../support/cpu-time.ts";
import { scope } from "../../engine/definition/expressions/scope.ts";

const random = (() => {
  let seed = 1;
  return (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
})();
const words = Array.from({ length: 20_000 }, () => Math.floor(random() * 1e9).toString(36));
/** Flat copies: the concatenation of texts is stored as a tree. */
const flat = (text: string): string => Buffer.from(text).toString();
const text = flat(words.join(" "));
const wide = flat(words.join(" é😀 "));
const numbers = words.map(() => Math.floor(random() * 1e9));
const rows = words.map((name, index) => ({
  id: index,
  name,
  total: numbers[index],
  region: `r${index % 20}`,
}));
const object = Object.fromEntries(words.map((name, index) => [name, index]));
const inputs = {
  text,
  wide,
  words,
  numbers,
  rows,
  object,
  same: structuredClone(rows),
  copy: flat(words.join(" ")),
  floats: numbers.map((number) => number / 7),
  texts: numbers.map(String),
  times: numbers.map((number) => new Date(number * 1_000).toISOString()),
  html: flat('<a href="x">&\''.repeat(10_000)),
  surrogates: "\ud800".repeat(100_000),
  json: JSON.stringify(rows),
  jsonNumbers: JSON.stringify(numbers.map((number) => number / 7)),
  csv: rows.map(({ id, name, total, region }) => `${id},"${name}",${total},${region}`).join("\n"),
  nested: numbers.map((number) => [number, [number]]),
  letters: flat(words.map(() => (random() < 0.5 ? "a" : "b")).join("")),
  base64: Buffer.from(flat(words.join(" "))).toString("base64"),
  base64Wide: Buffer.from(
    Uint8Array.from({ length: 200_000 }, (_, index) => [0x82, 0xa0][index % 2]!),
  ).toString("base64"),
  zones: ["Europe/Berlin", "America/New_York"],
  small: [1, 2, 3],
  pattern: "^[a-z0-9]+(?:[-_][a-z0-9]+)*$",
  classes: "(?:\\pL\\pN){500}",
};

/** Operations by name. Each visits thousands of elements, so that starting the evaluation does not count. */
const OPERATIONS = [
  // Operators, reads and loops.
  "inputs.numbers.map(x, x)",
  "inputs.numbers.map(x, x * 2 + 1)",
  "inputs.numbers.map(x, x > 500 && x % 2 == 0 ? x : -x)",
  "inputs.numbers.map(x, (x + 1) * (x + 2) * (x + 3) * (x + 4) / 7 - x)",
  "inputs.rows.map(r, r.total)",
  "inputs.rows.map(r, r['name'])",
  "inputs.rows.map(r, r.nope ?? r.total ?? 1)",
  "inputs.rows.filter(r, has(r.name) && r.total > 5)",
  "inputs.rows.map(r, {'a': r.id})",
  "inputs.rows.map(r, {'a': r.id, 'b': r.name, 'c': r.total, 'd': 1, 'e': 2})",
  "inputs.rows.map(r, [r.id, r.name])",
  "inputs.rows.map(r, inputs.object[r.name])",
  "inputs.rows.all(r, r.id >= 0)",
  "inputs.rows.exists(r, r.id < 0)",
  "inputs.rows.exists_one(r, r.id == 7)",
  "inputs.rows.sort_by(r, r.total)",
  "inputs.rows.sort_by(r, r.name, 'desc')",
  "inputs.rows.group_by(r, r.region)",
  "inputs.rows.group_by(r, r.name)",
  "inputs.rows.map(r, r.id % 2 == 0, r.name)",
  "inputs.object.map(k, k)",
  "inputs.words.map(w, w + 'x')",
  "inputs.words.map(w, w < 'h')",
  "inputs.rows == inputs.same",
  "inputs.text == inputs.copy && inputs.text <= inputs.copy",
  "inputs.rows + inputs.rows",
  "1 in inputs.numbers",
  "inputs.numbers.map(x, 1 in inputs.small)",
  "{'a': 1} in inputs.rows",
  "inputs.rows.all(r, r.nope == 1 || true)",
  // Lists and objects.
  "range(100000)",
  "inputs.numbers.sum()",
  "inputs.numbers.avg()",
  "inputs.numbers.min()",
  "inputs.words.max()",
  "inputs.words.map(w, max(w, 'h'))",
  "inputs.numbers.unique()",
  "inputs.words.unique()",
  "inputs.rows.unique()",
  "inputs.nested.flatten()",
  "inputs.numbers.reverse()",
  "inputs.numbers.sort()",
  "inputs.words.sort()",
  "inputs.times.map(t, timestamp(t)).sort()",
  "inputs.object.keys()",
  "inputs.object.values()",
  "inputs.object.size()",
  "inputs.words.contains('nope')",
  "inputs.small.map(i, inputs.rows.contains({'a': 1}))",
  // Numbers.
  "inputs.texts.map(t, int(t))",
  "inputs.texts.map(t, double(t))",
  "inputs.numbers.map(x, bool('true'))",
  "inputs.floats.map(x, abs(x) + floor(x) + ceil(x))",
  "inputs.floats.map(x, round(x, 2))",
  "inputs.rows.map(r, type(r))",
  // Texts.
  "inputs.small.map(i, inputs.text.lower())",
  "inputs.small.map(i, inputs.text.upper())",
  "inputs.small.map(i, inputs.wide.upper())",
  "inputs.small.map(i, inputs.text.trim())",
  "inputs.words.map(w, w.lower())",
  "inputs.words.map(w, w.startsWith('a') || w.endsWith('b'))",
  "inputs.small.map(i, inputs.text.contains('nope'))",
  "inputs.small.map(i, inputs.text.indexOf('a long text that does not occur in it'))",
  "inputs.small.map(i, inputs.wide.size())",
  "inputs.small.map(i, inputs.wide.substring(10, 20))",
  "inputs.small.map(i, inputs.text.substring(10, 20))",
  "inputs.words.map(w, w.substring(1, 3))",
  "inputs.small.map(i, inputs.text.replace(' ', ', '))",
  "inputs.small.map(i, inputs.text.replace('', 'x'))",
  "inputs.small.map(i, inputs.text.split(' '))",
  "inputs.small.map(i, inputs.wide.split(''))",
  "inputs.small.map(i, inputs.words.join(', '))",
  "inputs.small.map(i, inputs.numbers.join(', '))",
  "inputs.small.map(i, inputs.floats.join(', '))",
  "inputs.rows.join(', ')",
  "inputs.numbers.map(x, string(x))",
  "inputs.floats.map(x, string(x))",
  "inputs.rows.map(r, string(r))",
  "to_json(inputs.rows)",
  "to_json(inputs.text)",
  "to_json(inputs.wide)",
  "to_json(inputs.floats)",
  "parse_json(inputs.json)",
  "parse_json(inputs.jsonNumbers)",
  "inputs.texts.map(t, parse_json(t))",
  "parse_csv(inputs.csv, {'header': false})",
  "parse_csv(inputs.csv)",
  "decode(inputs.base64)",
  "decode(inputs.base64, 'windows-1252')",
  "decode(inputs.base64Wide, 'shift_jis')",
  "decode(inputs.base64Wide, 'utf-16le')",
  "escape_html(inputs.html)",
  "to_json(inputs.surrogates)",
  "escape_html(inputs.text)",
  "url_encode(inputs.wide)",
  "url_encode(inputs.text)",
  "inputs.words.map(w, url_encode(w))",
  "inputs.words.map(w, raw(w))",
  // Regular expressions: the automaton, its states, all instructions at once, compiling.
  "inputs.words.map(w, w.matches('^[a-z]+[0-9]'))",
  "inputs.words.map(w, w.matches('(a|b|c)x?[0-9]{2}'))",
  "inputs.words.map(w, w.matches(inputs.pattern))",
  "inputs.text.matches('[a-z]{3}[0-9]{3}[A-Z]')",
  "inputs.wide.matches('\\\\pL{3}[0-9]{3}[A-Z]')",
  "inputs.text.matches('foo|bar[x]|bazz')",
  "inputs.letters.matches('[ab]*a[ab]{60}[cd]')",
  "inputs.letters.matches('a[ab]{300}[cd]')",
  "inputs.letters.matches('\\\\pL*a\\\\pL{12}[cd]')",
  "range(30).map(i, 'a'.matches(inputs.pattern + string(i)))",
  "range(5).map(i, 'a'.matches(inputs.classes + string(i)))",
  "range(5).map(i, 'a'.matches('[' + range(300).map(j, '\\\\pL').join() + ']' + string(i)))",
  "range(5).map(i, 'a'.matches('^(?:[ab][cd][ef]?){900}' + string(i)))",
  // Times.
  "inputs.times.map(t, timestamp(t))",
  "inputs.times.map(t, timestamp(t) + duration('1h'))",
  "inputs.times.map(t, timestamp(t) - timestamp('2026-01-01'))",
  "inputs.numbers.map(x, duration('1d2h3m'))",
  "inputs.times.map(t, string(timestamp(t)))",
  "inputs.times.map(t, format_date(t, 'yyyy-MM-dd HH:mm'))",
  "inputs.times.map(t, format_date(t, inputs.small.size() > 0 ? 'EEEE, d MMMM' : 'd'))",
  "inputs.times.map(t, timestamp(t).getHours())",
  "range(500).map(i, timestamp(inputs.times[i]).getHours('Europe/Berlin'))",
  "range(500).map(i, timestamp(inputs.times[i].substring(0, 19), 'Europe/Berlin'))",
  "range(500).map(i, format_date(inputs.times[i], 'XXX', 'Europe/Berlin'))",
  "range(500).map(i, add_months(inputs.times[i], 1, 'Europe/Berlin'))",
  "inputs.times.map(t, add_days(t, 3))",
  "inputs.times.map(t, start_of(t, 'week'))",
  "inputs.times.map(t, weekday(t))",
  "inputs.zones.map(z, timestamp('2026-01-01T00:00:00', z))",
];

/** Processor time of one measurement, in milliseconds: several times the resolution of the meter. */
const MEASURED_MS = process.env["CALIBRATE"] === undefined ? 16 : 120;

/** Measures an operation. @returns its work in units, and the processor time of one unit, in nanoseconds */
function measure(source: string): { source: string; units: number; ns: number } {
  const parsed = parseCel(source);
  if ("issues" in parsed) throw new Error(`${source}: ${JSON.stringify(parsed.issues)}`);
  const evaluate = compileBlock(parsed.expr);
  const run = (): number => {
    const evaluation = startEvaluation({ ...scope, inputs }, { input: source, pos: 0 }, 2 ** 30, Infinity);
    toJson(evaluation, evaluate(evaluation));
    return evaluation.cost;
  };
  const units = run();
  let rounds = 1;
  for (;;) {
    const ms = cpuTimeOf(() => {
      for (let round = 0; round < rounds; round += 1) run();
    });
    if (ms >= MEASURED_MS) return { source, units, ns: (ms * 1e6) / (rounds * units) };
    rounds *= ms === 0 ? 4 : Math.min(4, Math.ceil((1.3 * MEASURED_MS) / ms));
  }
}

describe("the work of expressions", () => {
  it("corresponds to processor time: no operation is charged far too little", () => {
    const measured = OPERATIONS.map(measure);
    const sorted = measured.toSorted((a, b) => b.ns - a.ns);
    if (process.env["CALIBRATE"] !== undefined)
      for (const { source, units, ns } of sorted)
        console.log(
          `${ns.toFixed(1).padStart(7)} ns  ${String(Math.round(units)).padStart(9)} units  ${source}`,
        );
    const median = sorted[Math.floor(sorted.length / 2)]!;
    // Collections of garbage, compilations and other programs add time to single measurements, and never take some away. So the
    // comparison is measured again at the same time.
    const isOutlierAgain = ({ source }: { source: string }): boolean =>
      measure(source).ns > 5 * measure(median.source).ns;
    const outliers = sorted.filter(
      (operation) => operation.ns > 5 * median.ns && [1, 2, 3, 4].every(() => isOutlierAgain(operation)),
    );
    expect(outliers).toEqual([]);
  }, 120_000);
});
