import { assert, double, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { placeLabel, textWidth } from "../../../src/web/timeline/place-label.ts";

const SPAN = { from: 1_000, to: 2_000 };

describe("the label of a bar", () => {
  it("is after the bar where it fits", () => {
    expect(placeLabel("1.2 s", { from: 1_100, to: 1_700 }, SPAN, 400)).toEqual({ side: "after", left: 0.7 });
  });

  it("is before a short bar at the end", () => {
    expect(placeLabel("20 ms", { from: 1_980, to: 2_000 }, SPAN, 400)).toMatchObject({ side: "before" });
  });

  it("is on a bar as long as the axis, at its end", () => {
    expect(placeLabel("1.0 s", SPAN, SPAN, 400)).toEqual({ side: "inside", right: 0 });
  });

  it("begins with the axis where the step has not started", () => {
    expect(placeLabel("not started", null, SPAN, 400)).toEqual({ side: "after", left: 0 });
  });

  it("stays within the axis wherever the axis is wide enough, and covers no bar that it is beside", () => {
    const part = double({ min: 0, max: 1, noNaN: true });
    assert(
      property(
        part,
        part,
        integer({ min: 1, max: 40 }),
        integer({ min: 320, max: 1_200 }),
        (a, b, size, width) => {
          const [from, to] = a < b ? [a, b] : [b, a];
          const label = "x".repeat(size);
          const place = placeLabel(
            label,
            { from: 1_000 + 1_000 * from, to: 1_000 + 1_000 * to },
            SPAN,
            width,
          );
          const room = textWidth(label) / width;
          const [start, end] =
            place.side === "after"
              ? [place.left, place.left + room]
              : [1 - place.right - room, 1 - place.right];
          expect(start).toBeGreaterThanOrEqual(-1e-9);
          expect(end).toBeLessThanOrEqual(1 + 1e-9);
          const overlap = Math.min(end, to) - Math.max(start, from);
          expect(place.side === "inside" || overlap <= 1e-9).toBe(true);
        },
      ),
    );
  });
});
