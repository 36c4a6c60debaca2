/** The accessible name of a step in the graph. */
import * as texts from "#texts/graph";
import { status as statusLabel } from "#texts/ui";
import { isStartId } from "./starts.ts";
import type { GraphStep } from "./steps.ts";

/** Maximum number of needed steps that are named. */
const MAX_NAMED = 5;

/** "revenue, sql, succeeded, needs: orders"; of what starts runs "pushed, webhook, starts runs". */
export function stepLabel(step: GraphStep): string {
  const { id, name, group } = step;
  if (group !== undefined) return groupLabel(step, group);
  const named = name === undefined ? id : isStartId(id) ? name : `${name} ${id}`;
  return `${named}, ${stepDetails(step)}`;
}

/** "sql, succeeded, needs: orders". */
export function stepDetails(step: GraphStep): string {
  const { needs, condition, fanOut, repeats, undoable, rate, required, status, progress, attempts } = step;
  const more = Math.max(0, needs.length - MAX_NAMED);
  const names = needs.slice(0, MAX_NAMED).map((needed) => needed.trim());
  return [
    typeLabel(step),
    status !== undefined && statusLabel({ status }),
    condition === true && texts.conditional,
    fanOut === true && (progress === undefined ? texts.fanOut : itemsLabel(progress)),
    repeats === true && (progress === undefined ? texts.repeats : iterationsLabel(progress)),
    rate !== undefined && texts.rate({ rate }),
    required !== undefined && texts.required({ required }),
    undoable === true && texts.undoable,
    attempts !== undefined && attempts > 1 && texts.attempts({ attempts }),
    isStartId(step.id)
      ? texts.startsRuns
      : needs.length === 0
        ? texts.needsNothing
        : texts.needs({ names: names.join(", "), more }),
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

/** "12 steps side by side, sql, from a to z, failed, collapsed". */
const groupLabel = ({ name = "", status }: GraphStep, { from, to, types }: Group): string =>
  [
    name,
    types.reduce((first, second) => texts.both({ first, second })),
    texts.range({ from, to }),
    status !== undefined && statusLabel({ status }),
    texts.collapsed,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");

/** "sql"; a start has a word for what it is. */
export function typeLabel({ id, type }: Pick<GraphStep, "id" | "type">): string {
  if (isStartId(id)) return texts.startType({ type });
  return type === "" ? texts.noType : type;
}

type Group = NonNullable<GraphStep["group"]>;
type Progress = NonNullable<GraphStep["progress"]>;

/** "2 of 5 items completed, 1 failed". */
export const itemsLabel = ({ done, total, failed }: Progress): string =>
  texts.itemsCompleted({ done, total, failed });

/** "2 iterations completed, at most 50, 1 failed". */
export const iterationsLabel = ({ done, failed, max }: Progress): string =>
  max === undefined
    ? texts.iterationsCompleted({ done, failed })
    : texts.iterationsCompletedOf({ done, max, failed });
