/** Outputs that replace steps of a trial run. */
import { z } from "zod";
import { exceedsDepth, MAX_JSON_DEPTH } from "./text.ts";

/** A step's output is an object, so no step can be meant by a text `from_run` or a list `steps`. */
export const Given = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  });
export type Given = z.output<typeof Given>;

/** What to send for a step with `for_each`, whose output is no object. */
export const FAN_OUT_FIX =
  'Write {"items": […]} with an output for each item, or one output, which counts for all items.';

/** What `given` says: outputs by step id, and the run that others are taken from. */
export interface GivenParts {
  outputs: Record<string, unknown>;
  fromRun?: string;
  /** The steps whose outputs are taken from the run; left out, all that are not done in memory. */
  steps?: unknown[];
}

/** Tells outputs of steps from the two words beside them. */
export function givenParts({
  from_run: fromRun,
  steps,
  ...rest
}: Readonly<Record<string, unknown>>): GivenParts {
  const isRun = typeof fromRun === "string";
  const isList = Array.isArray(steps);
  return {
    outputs: {
      ...rest,
      ...(fromRun !== undefined && !isRun && { from_run: fromRun }),
      ...(steps !== undefined && !isList && { steps }),
    },
    ...(isRun && { fromRun }),
    ...(isList && { steps: steps as unknown[] }),
  };
}
