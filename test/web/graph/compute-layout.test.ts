import { describe, expect, it } from "vitest";
import {
  CARD,
  LAYOUT_LIMIT_MS,
  adjacentCard,
  type Direction,
  type GraphLayout,
  createLayoutRequest,
} from "../../../src/web/graph/geometry.ts";
import { computeLayeredLayout, computeRanks } from "../../../src/web/graph/layered-layout.ts";
import { commonTime } from "../../support/slowness.ts";
import { computeLayout } from "../../../src/web/graph/compute-layout.ts";
import { preferredHeight, isCardVisible, initialViewport } from "../../../src/web/graph/viewport.ts";

/** A seeded random generator (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const list = <T>(length: number, of: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => of(index));

/** Ranks of `wide` steps, each of which needs up to three steps of the previous rank. */
function layered(length: number, wide: number): number[][] {
  const next = numbers(7);
  return list(length, (index) => {
    const rank = Math.floor(index / wide);
    if (rank === 0) return [];
    const some = list(1 + Math.floor(next() * 3), () => (rank - 1) * wide + Math.floor(next() * wide));
    return [...new Set(some)];
  });
}

function random(length: number): number[][] {
  const next = numbers(3);
  return list(length, (index) =>
    index === 0 ? [] : [...new Set(list(1 + Math.floor(next() * 2), () => Math.floor(next() * index)))],
  );
}

const chain = (length: number): number[][] => list(length, (index) => (index === 0 ? [] : [index - 1]));
const fan = (length: number): number[][] =>
  list(length, (index) =>
    index === 0 ? [] : index < length - 1 ? [0] : list(length - 2, (middle) => middle + 1),
  );
const SHAPES: [string, (length: number) => number[][]][] = [
  ["a chain", chain],
  ["a wide fan", fan],
  ["ranks of 10", (length) => layered(length, 10)],
  ["ranks of 50", (length) => layered(length, 50)],
  ["random needs", random],
  [
    "a chain in which each step also needs the first",
    (length) => list(length, (index) => (index < 2 ? chain(2)[index]! : [index - 1, 0])),
  ],
  [
    "ranks of 20 that need the whole previous rank",
    (length) =>
      list(length, (index) => {
        const first = Math.floor(index / 20) * 20;
        return first === 0 ? [] : list(20, (before) => first - 20 + before);
      }),
  ],
  ["no needs at all", (length) => list(length, () => [])],
];

/** Number of pairs of cards that overlap. */
function overlaps({ corners }: GraphLayout): number {
  let count = 0;
  for (const [index, a] of corners.entries())
    for (const b of corners.slice(index + 1))
      if (Math.abs(a.x - b.x) < CARD.width - 1 && Math.abs(a.y - b.y) < CARD.height - 1) count += 1;
  return count;
}

describe.each<Direction>(["LR", "TB"])("computeLayout, %s", (direction) => {
  it.each(SHAPES)("lays 500 steps out within the limit: %s", (_, shape) => {
    const needs = shape(500);
    const layout = computeLayout({ needs, direction });
    const ms = commonTime(() => void computeLayout({ needs, direction }), LAYOUT_LIMIT_MS);
    expect(ms).toBeLessThan(LAYOUT_LIMIT_MS);
    expect(layout.corners).toHaveLength(500);
    expect(layout.edges).toHaveLength(needs.flat().length);
    expect(overlaps(layout)).toBe(0);
    const along = direction === "LR" ? "x" : "y";
    for (const [index, before] of needs.entries())
      for (const one of before)
        expect(layout.corners[one]![along]).toBeLessThan(layout.corners[index]![along]);
  });
});

describe("computeLayout", () => {
  it("lays out a chain that is longer than the call stack", () => {
    expect(overlaps(computeLayout({ needs: chain(1_000), direction: "LR" }))).toBe(0);
  });

  it.each([1, 300])("lays out circular needs, %i times", (times) => {
    const needs = list(times * 3, (index) => [index % 3 === 0 ? index + 2 : index - 1]);
    expect(overlaps(computeLayout({ needs, direction: "LR" }))).toBe(0);
    expect(overlaps(computeLayeredLayout({ needs, direction: "TB" }))).toBe(0);
  });

  it("routes edges past the cards in between", () => {
    const { corners, edges } = computeLayout({ needs: [[], [0], [1, 0]], direction: "LR" });
    const { path } = edges.find(({ from, to }) => from === 0 && to === 2)!;
    expect(path.startsWith(`M${CARD.width} ${corners[0]!.y + CARD.height / 2}`)).toBe(true);
    // The edge is straight where it passes the card in between.
    expect(path).toMatch(new RegExp(`C[^A-Z]* ${corners[1]!.x} [\\d.]+L${corners[1]!.x + CARD.width} `));
  });
});

describe("computeRanks", () => {
  it("ranks a step after all steps that it needs", () => {
    expect(computeRanks([[], [0], [0], [1, 2], [0, 3], []])).toEqual([0, 1, 1, 2, 3, 0]);
  });
});

describe("createLayoutRequest", () => {
  it("skips unknown ids and steps that need themselves", () => {
    const steps = [
      { id: "a", needs: ["b", "gone"] },
      { id: "b", needs: ["b", "a", "a"] },
    ];
    expect(createLayoutRequest(steps, "TB")).toEqual({ needs: [[1], [0]], direction: "TB" });
  });

  it("returns null without steps, since an empty layout has no first card to show", () => {
    expect(createLayoutRequest([], "LR")).toBeNull();
  });
});

describe("adjacentCard", () => {
  it.each<Direction>(["LR", "TB"])("reaches every card, %s", (direction) => {
    const layout = computeLayout({ needs: random(60), direction });
    const reached = new Set([0]);
    for (const from of reached)
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] as const) {
        const next = adjacentCard(layout, from, key);
        if (next !== undefined) reached.add(next);
      }
    expect(reached.size).toBe(60);
  });

  it("follows the flow and stops at its ends", () => {
    const layout = computeLayout({ needs: chain(3), direction: "LR" });
    expect(adjacentCard(layout, 1, "ArrowRight")).toBe(2);
    expect(adjacentCard(layout, 1, "ArrowLeft")).toBe(0);
    expect(adjacentCard(layout, 2, "ArrowRight")).toBeUndefined();
    expect(adjacentCard(layout, 1, "ArrowDown")).toBeUndefined();
  });
});

describe("initialViewport", () => {
  it("shows the whole of a small graph", () => {
    const layout = computeLayout({ needs: chain(4), direction: "LR" });
    const size = { width: 1_200, height: preferredHeight(layout, 1_200) };
    const view = initialViewport(layout, size);
    expect(layout.corners.every((corner) => isCardVisible(corner, view, size))).toBe(true);
  });

  it("starts a large graph at its first step, at a legible zoom", () => {
    for (const [direction, needs] of [
      ["LR", chain(200)],
      ["TB", fan(200)],
    ] as const) {
      const layout = computeLayout({ needs, direction });
      const size = { width: 700, height: 480 };
      const view = initialViewport(layout, size);
      expect(view.zoom).toBeGreaterThan(0.5);
      expect(isCardVisible(layout.corners[0]!, view, size)).toBe(true);
    }
  });
});
