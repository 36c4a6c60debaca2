import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSteps } from "../../../src/web/graph/find-steps.ts";
import { foldSteps } from "../../../src/web/graph/fold-steps.ts";
import { stepLabel } from "../../../src/web/graph/step-label.ts";
import type { GraphStep } from "../../../src/web/graph/steps.ts";

const step = (id: string, needs: readonly string[], given: Partial<GraphStep> = {}): GraphStep => ({
  id,
  type: "set",
  needs,
  ...given,
});

/** Steps in a row, of which the first needs nothing. */
const row = (...ids: string[]): GraphStep[] =>
  ids.map((id, index) => step(id, index === 0 ? [] : [ids[index - 1]!]));

const NONE: ReadonlySet<string> = new Set();
const shapeOf = (steps: readonly GraphStep[]) => steps.map(({ id, needs }) => [id, needs]);

describe("foldSteps", () => {
  it("makes one card of steps in a row, between those that they join", () => {
    const steps = [
      ...row("a", "b"),
      step("other", ["a"]),
      step("c", ["b", "other"]),
      step("d", ["c"]),
      step("e", ["d"]),
      step("f", ["e"]),
    ];
    expect(shapeOf(foldSteps(steps, NONE))).toEqual([
      ["a", []],
      ["b", ["a"]],
      ["other", ["a"]],
      ["c…f", ["b", "other"]],
    ]);
  });

  it("makes one card of steps beside each other, and names its steps", () => {
    const beside = ["north", "south", "east"].map((id) => step(id, ["load"], { status: "succeeded" }));
    const steps = [step("load", []), ...beside, step("sum", ["north", "south", "east"])];
    const folded = foldSteps(steps, NONE);
    expect(shapeOf(folded)).toEqual([
      ["load", []],
      ["north…east", ["load"]],
      ["sum", ["north…east"]],
    ]);
    expect(folded[1]).toMatchObject({ status: "succeeded", folded: ["north", "south", "east"] });
    expect(stepLabel(folded[1]!)).toBe("3 steps, north to east, succeeded, folded");
  });

  it.each<[string, Partial<GraphStep>]>([
    ["that has failed", { status: "failed" }],
    ["that runs", { status: "running" }],
    ["that waits", { status: "waiting" }],
    ["with a failed item", { status: "succeeded", progress: { done: 9, total: 9, failed: 1 } }],
  ])("keeps the card of a step %s", (_, given) => {
    const steps = row("a", "b", "c", "d", "e", "f", "g").map(({ id, needs }) =>
      step(id, needs, id === "d" ? given : { status: "succeeded" }),
    );
    expect(foldSteps(steps, NONE).map(({ id }) => id)).toEqual(["a…c", "d", "e…g"]);
  });

  it("keeps the cards of steps that are shown, and parts steps of different status", () => {
    expect(foldSteps(row("a", "b", "c", "d"), new Set(["d"])).map(({ id }) => id)).toEqual(["a…c", "d"]);
    const halted = row("a", "b", "c", "d", "e", "f").map(({ id, needs }, index) =>
      step(id, needs, { status: index < 3 ? "succeeded" : "cancelled" }),
    );
    expect(shapeOf(foldSteps(halted, NONE))).toEqual([
      ["a…c", []],
      ["d…f", ["a…c"]],
    ]);
  });

  it("draws every step once, and every need of steps in different cards", () => {
    const graphs = fc
      .array(fc.array(fc.nat({ max: 30 }), { maxLength: 3 }), { maxLength: 30 })
      .map((rows) =>
        rows.map((needs, index) =>
          step(`s${index}`, [...new Set(needs.filter((need) => need < index).map((need) => `s${need}`))]),
        ),
      );
    const keptIds = fc.array(
      fc.nat({ max: 30 }).map((index) => `s${index}`),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(graphs, keptIds, (steps, kept) => {
        const drawn = foldSteps(steps, new Set(kept));
        const cardOf = new Map(drawn.flatMap(({ id, folded = [id] }) => folded.map((one) => [one, id])));
        expect([...cardOf.keys()].toSorted()).toEqual(steps.map(({ id }) => id).toSorted());
        for (const id of kept) expect(cardOf.get(id) ?? id).toBe(id);
        const edges = new Set(drawn.flatMap(({ id, needs }) => needs.map((need) => `${need} ${id}`)));
        const wanted = steps.flatMap(({ id, needs }) =>
          needs.flatMap((need) =>
            cardOf.get(need) === cardOf.get(id) ? [] : [`${cardOf.get(need)!} ${cardOf.get(id)!}`],
          ),
        );
        expect([...edges].toSorted()).toEqual([...new Set(wanted)].toSorted());
      }),
    );
  });

  it("ends for needs in a circle, which are invalid", () => {
    const circle = [step("a", ["c"]), step("b", ["a"]), step("c", ["b"])];
    expect(foldSteps(circle, NONE).flatMap(({ id, folded = [id] }) => folded)).toEqual(["a", "b", "c"]);
  });
});

describe("findSteps", () => {
  it("finds steps by a part of their id, type or status", () => {
    const steps = [
      { id: "load_orders", type: "sql", status: "succeeded" },
      { id: "sum_up", type: "set", status: "failed" },
      { id: "größe", type: "http" },
    ];
    const ids = (text: string) => findSteps(steps, text).map(({ id }) => id);
    expect(ids(" ORDERS ")).toEqual(["load_orders"]);
    expect(ids("fail")).toEqual(["sum_up"]);
    expect(ids("http")).toEqual(["größe"]);
    expect(ids("nope")).toEqual([]);
    expect(ids("")).toHaveLength(3);
  });
});
