import { describe, expect, it } from "vitest";
import { checkerOf } from "./test-checker.ts";

const steps = [
  { id: "sum", type: "set", values: { a: 1 } },
  { id: "pay", type: "approval", message: "Pay?" },
];

async function issuesOf(allow: unknown, more: object = {}) {
  const definition = { steps, ...more, backtest: { last: 10, allow } };
  const { errors, warnings } = await checkerOf().check(definition, { checkConnections: false });
  return [...errors, ...warnings].map(({ path, code, fix }) => `${path} ${code} ${fix ?? ""}`);
}

describe("backtestIssues", () => {
  it("accepts names of places that can differ", async () => {
    expect(
      await issuesOf([
        "output.a",
        "steps.pay",
        "steps.pay.input.body",
        "steps[].pay",
        "given.pay",
        "definition",
      ]),
    ).toEqual([]);
    const state = { state: { last: { type: "integer", default: 0 } }, commit: { last: 1 } };
    expect(await issuesOf(["committed.last"], state)).toEqual([]);
  });

  it("warns of names that no difference can have", async () => {
    expect(await issuesOf(["steps.pya", "given.xx", "steps.pay.body.to", "committed.last"])).toEqual([
      "backtest.allow[0] no_difference Write steps.pay.",
      "backtest.allow[1] no_difference Remove it, or name a step.",
      "backtest.allow[2] no_difference Write steps.pay.input.body.",
      "backtest.allow[3] no_difference Remove it.",
    ]);
  });

  it("leaves other forms to the schema", async () => {
    expect(await issuesOf([1, "note", "output.note "])).toHaveLength(3);
    expect(await issuesOf("output")).toHaveLength(1);
  });
});
