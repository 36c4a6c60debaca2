/** A step in words, for who hears the graph. Pure. */
import type { GraphStep } from "./steps.ts";

/** As many of the steps that it waits for are named. */
const NAMED = 5;

/** "revenue, sql, succeeded, needs: orders". */
export function stepLabel(step: GraphStep): string {
  const { id, type, name, needs, condition, fanOut, status, progress, attempts } = step;
  const more = needs.length - NAMED;
  const waitsFor = `${needs.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return [
    name === undefined ? id : `${name} ${id}`,
    type === "" ? "no type" : type,
    status,
    condition === true && "conditional",
    fanOut === true && (progress === undefined ? "for each item" : progressInWords(progress)),
    attempts !== undefined && attempts > 1 && `${attempts} attempts`,
    needs.length === 0 ? "needs nothing" : `needs: ${waitsFor}`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

const progressInWords = ({ done, total, failed }: NonNullable<GraphStep["progress"]>): string =>
  `${done} of ${total} items done${failed > 0 ? `, ${failed} failed` : ""}`;
