import { describe, expect, it } from "vitest";
import { checkCel } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, failure, typeScope } from "./scope.ts";

const table = (cases: [string, unknown][]): void => {
  it.each(cases)("%s is %j", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });
};

describe("functions on lists", () => {
  table([
    ["steps.revenue.rows.map(r, r.total).sum()", 9.5],
    ["sum(steps.revenue.rows.map(r, r.total))", 9.5],
    ["sum([])", 0],
    ["[duration('1h'), duration('90m')].sum()", 9_000],
    [
      "[duration('1h'), duration('-90m'), duration('1ns')].sum() + duration('1h') == duration('30m1ns')",
      true,
    ],
    ["avg([1, 2])", 1.5],
    ["avg([])", null],
    ["min([3, 1])", 1],
    ["max(1, 3, 2)", 3],
    ['["b", "a"].min()', "a"],
    ["max([])", null],
    ["[3, 1, 2].sort()", [1, 2, 3]],
    ['[3, 1, 2].sort("desc")', [3, 2, 1]],
    ["steps.revenue.rows.sort_by(r, r.total).map(r, r.total)", [1, 3, 5.5]],
    ['steps.revenue.rows.sort_by(r, r.total, "desc").map(r, r.total)', [5.5, 3, 1]],
    ["sort_by(steps.revenue.rows, r, -r.total)[0].total", 5.5],
    ["steps.revenue.rows.group_by(r, r.region).keys()", ["north", "south"]],
    ["steps.revenue.rows.group_by(r, r.region).north.map(r, r.total)", [3, 1]],
    ['[1, 1.0, "1", {"a": [1]}, {"a": [1]}].unique()', [1, "1", { a: [1] }]],
    ["[[1], 2, [[3]]].flatten()", [1, 2, [3]]],
    ["[1, 2].reverse() + [0]", [2, 1, 0]],
    ["inputs.nested.values()", [{ b: 1 }]],
    ["inputs.nested.map(k, k)", ["a"]],
    ["[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]],
    ["[1, 2].contains(2.0)", true],
    ['"a" in {"a": 1}', true],
    ['{"a": 1, "b": [2]} == {"b": [2.0], "a": 1}', true],
  ]);

  it.each([
    ["['9223372036854775807', '-1'].sum()", "9223372036854775806"],
    ["[duration('1h'), duration('90m')].avg()", 4_500],
    ["[inputs.flag, true].sum()", 2],
    ["[[1], [2, 3]].sum()", 6],
    ["avg(['3'] + ['4'])", 3.5],
  ])("say how to write %s with items that they take", (source, value) => {
    const { message, options } = failure(source, { flag: true });
    expect(message).toMatch(/passes item \d of .* to (?:sum|avg), expected a number/);
    expect(evaluate(/^Write (.*)\.$/.exec(options.fix!)![1]!, { flag: true })).toBe(value);
    const issue = checkCel(source, typeScope).issues[0];
    expect([undefined, options.fix]).toContain(issue?.fix);
  });

  it("add no durations to numbers, and know what a sum of durations is", () => {
    expect(failure("[1, duration('1h')].sum()").message).toContain("applies + to a number and a duration");
    expect(checkCel("[duration('1h')].sum() + duration('1h')", typeScope).issues).toEqual([]);
    expect(checkCel("[duration('1h')].sum() + 1", typeScope).issues).toMatchObject([{ code: "wrong_type" }]);
    expect(checkCel("[1].sum() + duration('1h')", typeScope).issues).toMatchObject([{ code: "wrong_type" }]);
  });

  it("keep the order of equal items when sorting", () => {
    const source = 'steps.revenue.rows.sort_by(r, r.region, "desc").map(r, r.total)';
    expect(evaluate(source)).toEqual([5.5, 3, 1]);
  });

  it.each([
    '[1, "a"].sum()',
    '[1, "a"].sort()',
    "[[1], [2]].max()",
    '[1].sort("u" + "p")',
    "[{}].group_by(x, x)",
  ])("%s fails", (source) => {
    expect(failure(source).code).toBe("expression_failed");
  });
});

describe("functions on text", () => {
  table([
    ['"a,b".split(",")', ["a", "b"]],
    ['["a", 1, null, true, {"x": [1]}].join("-")', 'a-1--true-{"x":[1]}'],
    ['["a", "b"].join()', "ab"],
    ['lower("ÄB") + upper("ß") + " x ".trim()', "äbSSx"],
    ['"a.b.c".replace(".", "$&")', "a$&b$&c"],
    ['"aaa".replace("", "-")', "-a-a-a-"],
    ['"h😀llo".size()', 5],
    ['"h😀llo".substring(1, 3)', "😀l"],
    ['"h😀llo".indexOf("llo")', 2],
    ['"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c")', true],
    ['"order 12".matches("[0-9]+$")', true],
    ['"order".matches("[0-9]+")', false],
    ['string(1.5) + string(true) + string([1, "a"])', '1.5true[1,"a"]'],
    ['to_json({"a": [1, null, "\\""]})', '{"a":[1,null,"\\""]}'],
    ["to_json(null)", "null"],
    ['parse_json("{\\"a\\": [1]}").a[0]', 1],
    ["type([]) + type(1) + type(null)", "listnumbernull"],
  ]);

  it("parse no JSON with a key that occurs twice, and say where it is", () => {
    const { code, message } = failure("parse_json(inputs.s)", { s: '{"hunter2": 1, "hunter2": 2}' });
    expect(code).toBe("expression_failed");
    expect(message).toContain("has a key twice in the same object (at character 16)");
    expect(message).not.toContain("hunter2");
  });

  it("never repeat a string that they can't convert", () => {
    for (const source of [
      "int(inputs.s)",
      "parse_json(inputs.s)",
      "timestamp(inputs.s)",
      "bool(inputs.s)",
      '"".matches(inputs.s)',
    ]) {
      const { code, message } = failure(source, { s: "(hunter2" });
      expect(code).toBe("expression_failed");
      expect(message).not.toContain("hunter2");
    }
  });
});

describe("functions on numbers", () => {
  table([
    ['int("12.7") + int(-1.5) + double("1e2")', 111],
    [
      "[round(2.5), round(-2.5), round(1.005, 2), round(2.345, 2), round(1e300, 3)]",
      [3, -3, 1.01, 2.35, 1e300],
    ],
    ["[floor(-1.5), ceil(1.2), abs(-2)]", [-2, 2, 2]],
    ['bool("true")', true],
    ["int(true)", 1],
  ]);
});

describe("functions on time", () => {
  table([
    ["timestamp(run.started_at)", "2026-11-21T08:00:00.000Z"],
    ["string(timestamp(run.started_at)) == run.started_at", true],
    ['timestamp("2026-11-21T08:00:00.5+02:00")', "2026-11-21T06:00:00.500Z"],
    ["timestamp(inputs.since) + duration('36h')", "2026-02-01T12:00:00.000Z"],
    ['timestamp("2026-11-21") - timestamp("2026-11-20T12:00:00Z")', 43_200],
    ['duration("1h30m")', 5_400],
    ['string(duration("1m30s"))', "90s"],
    ['duration("-2d") < duration("500ms")', true],
    ['timestamp(run.started_at) > timestamp("2026-01-01")', true],
    ['format_date(run.started_at, "yyyy-MM-dd")', "2026-11-21"],
    [
      'format_date(timestamp(run.started_at), "EEE d MMM yyyy \'at\' HH:mm XXX", "Asia/Kolkata")',
      "Sat 21 Nov 2026 at 13:30 +05:30",
    ],
    ['format_date("2026-07-01T00:30:00Z", "hh:mm a", "Europe/Berlin")', "02:30 AM"],
    ['timestamp(run.started_at).getHours("Asia/Tokyo")', 17],
    ['timestamp("2026-03-01").getDayOfYear()', 59],
    ['timestamp("2026-03-01").getDayOfWeek() + timestamp("2026-03-01").getMonth()', 2],
    ['duration("90m").getHours()', 1],
    ['[timestamp("2026-03-01"), timestamp("2026-02-01")].min()', "2026-02-01T00:00:00.000Z"],
    ['{"at": [timestamp(0)]}', { at: ["1970-01-01T00:00:00.000Z"] }],
  ]);

  it.each([
    'timestamp("2026-02-30")',
    'timestamp("9999-12-31") + duration("2d")',
    'duration("1 hour")',
    "format_date(run.started_at, inputs.name)",
    'format_date(run.started_at, "yyyy", "Nowhere/" + "There")',
    'run.started_at < timestamp("2026-01-01")',
  ])("%s fails", (source) => {
    expect(failure(source).code).toBe("expression_failed");
  });
});
