/** Where the label of a bar has room: the places are tried in the order in which people look for it. */
import type { TimeRange } from "./bars.ts";

/** Average width of a character of a label, in pixels. */
const CHAR_WIDTH = 7;
/** Between a bar and its label, and after it, in pixels. The mark of a decision at the end of a bar reaches into it. */
const PADDING = 7;

/** Where a label begins or ends, as parts of the axis. `inside` is on the bar. */
export type LabelPlace = { side: "after"; left: number } | { side: "before" | "inside"; right: number };

/** The width of a text in a small size, in pixels. */
export const textWidth = (text: string): number => text.length * CHAR_WIDTH;

/**
 * @param bar null if the step has not started: its label begins with the axis
 * @param axisWidth in pixels
 */
export function placeLabel(
  label: string,
  bar: TimeRange | null,
  span: TimeRange,
  axisWidth: number,
): LabelPlace {
  const length = span.to - span.from;
  const from = bar === null ? 0 : (bar.from - span.from) / length;
  const to = bar === null ? 0 : (bar.to - span.from) / length;
  const room = (textWidth(label) + 2 * PADDING) / axisWidth;
  if (to + room <= 1) return { side: "after", left: to };
  if (from >= room) return { side: "before", right: 1 - from };
  // On a bar that is shorter than its label the label ends with the axis, where it is never cut.
  return { side: "inside", right: to - from >= room ? 1 - to : 0 };
}
