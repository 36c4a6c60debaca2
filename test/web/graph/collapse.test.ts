import { describe, expect, it } from "vitest";
import { collapse, findGroups } from "../../../src/web/graph/collapse.ts";
import { stepLabel } from "../../../src/web/graph/step-label.ts";
import { type GraphStep, matches } from "../../../src/web/graph/steps.ts";

const step = (id: string, needs: string[] = [], more: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: "sql",
  needs,
  ...more,
});
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** A first step, a fan of steps, and a chain after them. */
const FAN = names("f", 5);
const CHAIN = names("c", 4);
const STEPS = [
  step("first"),
  ...FAN.map((id) => step(id, ["first"])),
  step("c0", FAN),
  ...CHAIN.slice(1).map((id, index) => step(id, [CHAIN[index]!], { type: "set" })),
];

describe("the groups of a graph", () => {
  it("are steps that are alike beside each other, and chains", () => {
    expect(findGroups(STEPS)).toEqual([
      { id: "group f0", kind: "parallel", members: FAN },
      { id: "group c0", kind: "sequence", members: CHAIN },
    ]);
  });

  it("have at least four steps of one type with the same neighbours", () => {
    expect(findGroups(STEPS.filter(({ id }) => id !== "f0" && id !== "f1"))).toMatchObject([
      { kind: "sequence" },
    ]);
    expect(
      findGroups(STEPS.map((other) => (other.id < "f2" ? other : { ...other, type: other.id }))),
    ).toMatchObject([{ kind: "sequence" }]);
  });

  it("don't include the steps of a circle, which is invalid", () => {
    const circle = CHAIN.map((id, index) => step(id, [CHAIN[(index + 3) % 4]!]));
    expect(findGroups(circle)).toEqual([]);
  });
});

describe("a collapsed graph", () => {
  it("has a card in place of each group, which needs what its steps need", () => {
    const shown = collapse(STEPS, findGroups(STEPS));
    expect(shown.map(({ id, needs }) => [id, needs])).toEqual([
      ["first", []],
      ["group f0", ["first"]],
      ["group c0", ["group f0"]],
    ]);
    expect(shown.map(stepLabel).slice(1)).toEqual([
      "5 steps side by side, sql, from f0 to f4, collapsed",
      "4 steps in sequence, sql and set, from c0 to c3, collapsed",
    ]);
  });

  it("shows the worst status of a group", () => {
    const run = STEPS.map((other): GraphStep => ({
      ...other,
      status: other.id === "f3" ? "failed" : "succeeded",
    }));
    expect(collapse(run, findGroups(run)).map(({ status }) => status)).toEqual([
      "succeeded",
      "failed",
      "succeeded",
    ]);
  });

  it("is the graph itself where no group is collapsed", () => {
    expect(collapse(STEPS, [])).toEqual(STEPS);
    expect(collapse(STEPS, findGroups(STEPS).slice(1)).map(({ id }) => id)).toEqual([
      "first",
      ...FAN,
      "group c0",
    ]);
  });
});

it("finds steps by id and type, whatever the case", () => {
  expect(STEPS.filter((other) => matches(other, " F3")).map(({ id }) => id)).toEqual(["f3"]);
  expect(STEPS.filter((other) => matches(other, "SET"))).toHaveLength(3);
});
