import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeJson } from "../../src/core/json-merge.ts";

const step = (id: string, more: object = {}) => ({ id, type: "set", ...more });
const merged = (base: unknown, ours: unknown, theirs: unknown) => mergeJson(base, ours, theirs);

const apply = (list: ReturnType<typeof step>[], changes: Record<string, string>, value: number) =>
  list.flatMap((one) => {
    const change = changes[one.id];
    if (change === undefined) return [one];
    return change === "remove" ? [] : [step(one.id, { value })];
  });

describe("mergeJson", () => {
  it("applies changes of different fields", () => {
    expect(
      merged({ a: 1, b: { c: 1, d: 1 } }, { a: 2, b: { c: 1, d: 1 } }, { a: 1, b: { c: 1, d: 3 }, e: null }),
    ).toEqual({ merged: { a: 2, b: { c: 1, d: 3 }, e: null } });
  });

  it("distinguishes a removed field from one that is null", () => {
    expect(merged({ a: null }, {}, { a: null })).toEqual({ merged: {} });
    expect(merged({}, { a: null }, { b: 1 })).toEqual({ merged: { a: null, b: 1 } });
    expect(merged({ a: 1 }, {}, { a: null })).toEqual({ conflicts: ["a"] });
  });

  it("merges steps by their ids, and keeps the order", () => {
    const base = { steps: [step("a"), step("b"), step("c")] };
    const ours = { steps: [step("a", { x: 1 }), step("c")] };
    const theirs = { steps: [step("a"), step("b"), step("n"), step("c", { y: 2 })] };
    expect(merged(base, ours, theirs)).toEqual({
      merged: { steps: [step("a", { x: 1 }), step("n"), step("c", { y: 2 })] },
    });
    const reordered = { steps: [step("c"), step("b"), step("a")] };
    expect(merged(base, ours, reordered)).toEqual({ merged: { steps: [step("c"), step("a", { x: 1 })] } });
    expect(merged(base, reordered, ours)).toEqual({ merged: { steps: [step("c"), step("a", { x: 1 })] } });
  });

  it("reports what both sides changed, with its path", () => {
    const base = { steps: [step("a"), step("b")], list: [1] };
    expect(
      merged(
        base,
        { steps: [step("a", { x: 1 })], list: [1, 2] },
        { steps: [step("a", { x: 2 }), step("b", { y: 1 })], list: [3] },
      ),
    ).toEqual({ conflicts: ["steps.a.x", "steps.b", "list"] });
    const [a, b, c] = ["a", "b", "c"].map((id) => step(id));
    expect(merged([a, b, c], [b, a, c], [a, c, b])).toEqual({ conflicts: [""] });
    expect(merged(1, 2, 3)).toEqual({ conflicts: ["everything"] });
    expect(merged([step("a"), step("a")], [], [step("b")])).toEqual({ conflicts: ["everything"] });
  });

  it("gives a side that is alone, whatever the values are", () => {
    const content = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(content, content, (base, changed) => {
        expect(mergeJson(base, base, changed)).toEqual({ merged: changed });
        expect(mergeJson(base, changed, base)).toEqual({ merged: changed });
        expect(mergeJson(base, changed, changed)).toEqual({ merged: changed });
      }),
    );
  });

  it("merges changes of different steps, in whichever order they are given", () => {
    const ids = ["a", "b", "c", "d", "e"];
    const edit = fc.dictionary(fc.constantFrom(...ids), fc.constantFrom("remove", "edit"));
    const steps = ids.map((id) => step(id));
    fc.assert(
      fc.property(edit, edit, (first, second) => {
        const rest = Object.fromEntries(Object.entries(second).filter(([id]) => !Object.hasOwn(first, id)));
        const expected = { merged: apply(apply(steps, first, 1), rest, 2) };
        const [ours, theirs] = [apply(steps, first, 1), apply(steps, rest, 2)];
        expect(mergeJson(steps, ours, theirs)).toEqual(expected);
        expect(mergeJson(steps, theirs, ours)).toEqual(expected);
      }),
    );
  });
});
