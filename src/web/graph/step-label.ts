/** The accessible name of a step in the graph. */
import type { GraphStep } from "./steps.ts";

/** Maximum number of needed steps that are named. */
const MAX_NAMED = 5;

/** "revenue, sql, succeeded, needs: orders". */
export function stepLabel(step: GraphStep): string {
  const { id, type, name, needs, condition, fanOut, status, progress, attempts } = step;
  const more = needs.length - MAX_NAMED;
  const neededSteps = `${needs.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return [
    name === undefined ? id : `${name} ${id}`,
    type === "" ? "no type" : type,
    status,
    condition === true && "conditional",
    fanOut === true && (progress === undefined ? "runs once per item" : itemsLabel(progress)),
    attempts !== undefined && attempts > 1 && `${attempts} attempts`,
    needs.length === 0 ? "needs no other step" : `needs: ${neededSteps}`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

const itemsLabel = ({ done, total, failed }: NonNullable<GraphStep["progress"]>): string =>
  `${done} of ${total} items completed${failed > 0 ? `, ${failed} failed` : ""}`;
