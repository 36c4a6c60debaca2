/** The steps of a definition as it is stored: a draft may have anything in the place of them. */
import type { Issue } from "../../schemas/problem.ts";
import { nearMatch } from "../../src/core/near-match.ts";

export type Step = Record<string, unknown>;

/** Maximum number of ids that an issue names. */
const MAX_IDS = 100;

export const stepsOf = ({ steps }: Readonly<Record<string, unknown>>): Step[] =>
  Array.isArray(steps) ? (steps as Step[]) : [];

export const idOf = (step: Step | null): unknown => step?.["id"];

/** The issue of an id that no step has. @param path of the id in the request */
export function unknownStep(steps: readonly Step[], id: string, path: string): Issue {
  const ids = steps.map(idOf).filter((stepId) => typeof stepId === "string");
  const near = nearMatch(id, ids);
  return {
    path,
    code: "unknown_step",
    message: `names no step: there is no "${id}"`,
    allowed: ids.slice(0, MAX_IDS),
    ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
  };
}
