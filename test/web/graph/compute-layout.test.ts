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
import { computeLayout } from "../../../src/web/graph/compute-layout.ts";
import { preferredHeight, isCardVisible, initialViewport } from "../../../src/web/graph/viewport.ts";

/** The same numbers each time (mulberry32). */
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

/** Ranks of so many, each step waiting for up to three of the rank before. */
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
    "a chain that always needs the first",
    (length) => list(length, (index) => (index < 2 ? chain(2)[index]! : [index - 1, 0])),
  ],
  [
    "ranks of 20 that need all before",
    (length) =>
      list(length, (index) => {
        const first = Math.floor(index / 20) * 20;
        return first === 0 ? [] : list(20, (before) => first - 20 + before);
      }),
  ],
  ["no needs at all", (length) => list(length, () => [])],
];

/** Pairs of cards that lie on each other. */
function overlaps({ corners }: GraphLayout): number {
  let count = 0;
  for (const [index, a] of corners.entries())
    for (const b of corners.slice(index + 1))
      if (Math.abs(a.x - b.x) < CARD.width - 1 && Math.abs(a.y - b.y) < CARD.height - 1) count += 1;
  return count;
}

describe.each<Direction>(["LR", "TB"])("place, %s", (direction) => {
  it.each(SHAPES)("lays 500 steps out within the limit: %s", (_, shape) => {
    const needs = shape(500);
    // The processor's time: what else this machine does at the moment is not counted.
    const start = process.cpuUsage();
    const placement = computeLayout({ needs, direction });
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(LAYOUT_LIMIT_MS);
    expect(placement.corners).toHaveLength(500);
    expect(placement.edges).toHaveLength(needs.flat().length);
    expect(overlaps(placement)).toBe(0);
    const along = direction === "LR" ? "x" : "y";
    for (const [index, before] of needs.entries())
      for (const one of before)
        expect(placement.corners[one]![along]).toBeLessThan(placement.corners[index]![along]);
  });
});

describe("place", () => {
  it("gives a chain longer than a stack is deep", () => {
    expect(overlaps(computeLayout({ needs: chain(1_000), direction: "LR" }))).toBe(0);
  });

  it.each([1, 300])("draws a circle of faulty needs, %i times", (times) => {
    const needs = list(times * 3, (index) => [index % 3 === 0 ? index + 2 : index - 1]);
    expect(overlaps(computeLayout({ needs, direction: "LR" }))).toBe(0);
    expect(overlaps(computeLayeredLayout({ needs, direction: "TB" }))).toBe(0);
  });

  it("leads lines from card to card, past the cards between", () => {
    const { corners, edges } = computeLayout({ needs: [[], [0], [1, 0]], direction: "LR" });
    const { path } = edges.find(({ from, to }) => from === 0 && to === 2)!;
    expect(path.startsWith(`M${CARD.width} ${corners[0]!.y + CARD.height / 2}`)).toBe(true);
    // It is straight where it passes the card between.
    expect(path).toMatch(new RegExp(`C[^A-Z]* ${corners[1]!.x} [\\d.]+L${corners[1]!.x + CARD.width} `));
  });
});

describe("ranksOf", () => {
  it("puts a step behind all that it waits for", () => {
    expect(computeRanks([[], [0], [0], [1, 2], [0, 3], []])).toEqual([0, 1, 1, 2, 3, 0]);
  });
});

describe("requestOf", () => {
  it("leaves out what is not there and what waits for itself", () => {
    const steps = [
      { id: "a", needs: ["b", "gone"] },
      { id: "b", needs: ["b", "a", "a"] },
    ];
    expect(createLayoutRequest(steps, "TB")).toEqual({ needs: [[1], [0]], direction: "TB" });
  });

  it("asks for nothing where there is nothing: an empty placement has no first card to look at", () => {
    expect(createLayoutRequest([], "LR")).toBeNull();
  });
});

describe("cardAt", () => {
  it.each<Direction>(["LR", "TB"])("reaches every card, %s", (direction) => {
    const placement = computeLayout({ needs: random(60), direction });
    const reached = new Set([0]);
    for (const from of reached)
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] as const) {
        const next = adjacentCard(placement, from, key);
        if (next !== undefined) reached.add(next);
      }
    expect(reached.size).toBe(60);
  });

  it("follows the flow, and stops at its ends", () => {
    const placement = computeLayout({ needs: chain(3), direction: "LR" });
    expect(adjacentCard(placement, 1, "ArrowRight")).toBe(2);
    expect(adjacentCard(placement, 1, "ArrowLeft")).toBe(0);
    expect(adjacentCard(placement, 2, "ArrowRight")).toBeUndefined();
    expect(adjacentCard(placement, 1, "ArrowDown")).toBeUndefined();
  });
});

describe("viewOf", () => {
  it("shows the whole of a small graph, in the middle", () => {
    const placement = computeLayout({ needs: chain(4), direction: "LR" });
    const size = { width: 1_200, height: preferredHeight(placement, 1_200) };
    const view = initialViewport(placement, size);
    expect(placement.corners.every((corner) => isCardVisible(corner, view, size))).toBe(true);
  });

  it("begins at the first step of a large one, legibly", () => {
    for (const [direction, needs] of [
      ["LR", chain(200)],
      ["TB", fan(200)],
    ] as const) {
      const placement = computeLayout({ needs, direction });
      const size = { width: 700, height: 480 };
      const view = initialViewport(placement, size);
      expect(view.zoom).toBeGreaterThan(0.5);
      expect(isCardVisible(placement.corners[0]!, view, size)).toBe(true);
    }
  });
});
