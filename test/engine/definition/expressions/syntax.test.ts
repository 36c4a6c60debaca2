import { describe, expect, it } from "vitest";
import { parseSyntax, type SyntaxNode } from "../../../../src/engine/definition/expressions/cel-parser.ts";
import { checkCel } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, typeScope } from "./scope.ts";

/** Writes the tree with all its parentheses. */
function written(node: SyntaxNode): string {
  const { op, args } = node;
  if (op === "id") return args;
  if (op === "value") return String(args);
  if (op === "!_" || op === "-_") return `(${op[0]}${written(args)})`;
  if (op === "?:") return `(${written(args[0])} ? ${written(args[1])} : ${written(args[2])})`;
  const [left, right] = args as [SyntaxNode, SyntaxNode];
  return `(${written(left)} ${op} ${written(right)})`;
}

function parsed(source: string): SyntaxNode {
  const result = parseSyntax(source);
  if ("failure" in result) throw new Error(result.failure.summary);
  return result.root;
}

describe("the parser", () => {
  it.each([
    ["a ?? b || c && d == e < f + g * -h", "(a ?? (b || (c && (d == (e < (f + (g * (-h))))))))"],
    ["a * b + c < d == e && f || g ?? h", "(((((((a * b) + c) < d) == e) && f) || g) ?? h)"],
    ["a ?? b ?? c", "((a ?? b) ?? c)"],
    ["a - b - c", "((a - b) - c)"],
    ["a in b == c", "((a in b) == c)"],
    ["a ?? b ? c : d ? e : f", "((a ?? b) ? c : (d ? e : f))"],
    ["!a ?? b", "((!a) ?? b)"],
    ["- -a", "(-(-a))"],
  ])("groups %s as %s", (source, grouped) => {
    expect(written(parsed(source))).toBe(grouped);
  });

  it("keeps the place of each part, with and without its parentheses", () => {
    const { args } = parsed(" ( a + b ) * c") as Extract<SyntaxNode, { op: "*" }>;
    expect(args[0]).toMatchObject({ op: "+", start: 3, end: 8, outerStart: 1, outerEnd: 10 });
    expect(parsed(" ( a + b ) * c")).toMatchObject({ start: 1, end: 14 });
  });

  it.each([
    [".5 + .25", 0.75],
    ["1e3", 1_000],
    ["{'a-b': {'c.d': 3}}.`a-b`.`c.d`", 3],
    ["{'in': 1, 'true': 2}.in + {'loop': 1}.loop", 2],
    ["[1, 2,].size() // two", 2],
    ['r\'\\\\d\' + """a"b""" + \'\\u00e9\\x41\\101\'', '\\\\da"béAA'],
    ["[1].map(loop, loop + 1)", [2]],
  ])("reads %s", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it.each([
    ["'a\nb'", "must not contain a line break", "Write 'a\\nb'."],
    ["'abc", "lacks its closing '", undefined],
    ["'\\q'", "unknown escape \\q", undefined],
    ["'\\ud800'", "unknown escape \\u", undefined],
    ["1e999", "too large for a number", undefined],
    ["inputs.n +", "unexpected the end of the expression", undefined],
    ["(inputs.n", "expected ), got the end of the expression", undefined],
    ["inputs.n ? 1", "expected :, got the end of the expression", undefined],
    ["inputs.", "expected a name, got the end of the expression", 'Write this name in brackets: x["in"].'],
    [
      "inputs?.n",
      "unexpected .",
      "Write . without ?: a field of null is null. For a default, write x ?? …. Write inputs.n.",
    ],
    ["inputs.rows.0.x", "unexpected .0", "Write the position in brackets: list[0]."],
    ["1 + 1.", "expected a name, got the end of the expression", 'Write this name in brackets: x["in"].'],
    ["1 # 2", "unexpected #", undefined],
    ["'a' 😀", "unexpected 😀", undefined],
  ])("explains why %j does not parse", (source, message, fix) => {
    const { issues } = checkCel(source, typeScope);
    expect(issues).toHaveLength(1);
    expect(issues[0]!.message).toContain(message);
    expect(issues[0]!.fix).toBe(fix);
  });

  it("ends deep nesting with an issue", () => {
    for (const source of ["(", "[", "{1:", "-", "!", "a.f(", "a[", "x ? "].map((open) => open.repeat(5_000)))
      expect(parseSyntax(source)).toMatchObject({ failure: { kind: "too_deep" } });
  });
});
