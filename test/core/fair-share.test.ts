import { array, assert, boolean, integer, nat, property, record } from "fast-check";
import { expect, test } from "vitest";
import { mayTakePlace, shareAlone } from "../../src/core/fair-share.ts";

const size = integer({ min: 1, max: 200 });

/** A pool in which owners take places until the rule refuses all of them; some places are given back in between. */
function fill(places: number, requests: readonly { owner: number; returns?: boolean }[]) {
  const held = new Map<number, number>();
  let free = places;
  for (const { owner, returns } of requests) {
    const count = held.get(owner) ?? 0;
    if (returns === true) {
      if (count === 0) continue;
      held.set(owner, count - 1);
      free += 1;
    } else if (mayTakePlace({ held: count, free })) {
      held.set(owner, count + 1);
      free -= 1;
    }
  }
  return { held, free };
}

/** Owners who take turns until none may take more. */
const filledBy = (owners: number, places: number) =>
  fill(
    places,
    Array.from({ length: places * owners }, (_, turn) => ({ owner: turn % owners })),
  );

const request = record({ owner: nat(9), returns: boolean() });

test("no owner takes the last place of a pool of two or more, whatever came before", () => {
  assert(
    property(size, array(request, { maxLength: 500 }), (places, requests) => {
      const { held, free } = fill(places, requests);
      expect(free).toBeGreaterThanOrEqual(0);
      for (const count of held.values()) expect(count).toBeLessThanOrEqual(Math.max(1, places - 1));
    }),
  );
});

test("an owner without a place gets one while one is free, and only then", () => {
  assert(
    property(integer({ min: 0, max: 1_000 }), (free) => {
      expect(mayTakePlace({ held: 0, free })).toBe(free > 0);
    }),
  );
});

test("shareAlone: one owner alone gets about three quarters, and leaves a place", () => {
  expect([1, 2, 3, 4, 5, 8, 16, 64].map((places) => filledBy(1, places).held.get(0))).toEqual([
    1, 1, 2, 3, 4, 6, 12, 48,
  ]);
  assert(
    property(size, (places) => {
      expect(shareAlone(places)).toBe(filledBy(1, places).held.get(0));
    }),
  );
});

test("owners who want as much as they can get hold equal parts, and the pool is well used", () => {
  assert(
    property(size, integer({ min: 1, max: 8 }), (places, owners) => {
      const { held, free } = filledBy(owners, places);
      const counts = Array.from({ length: owners }, (_, owner) => held.get(owner) ?? 0);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(free).toBeLessThanOrEqual(1 + places / (1 + 3 * owners));
    }),
  );
});

test("who comes later gets as much as the others when their places return", () => {
  const early = Array.from({ length: 8 }, () => ({ owner: 0 }));
  const late = Array.from({ length: 3 }, () => [
    { owner: 0, returns: true },
    { owner: 1 },
    { owner: 0 },
  ]).flat();
  expect(fill(8, early).held).toEqual(new Map([[0, 6]]));
  const { held, free } = fill(8, [...early, ...late]);
  expect([...held, free]).toEqual([[0, 4], [1, 3], 1]);
});
