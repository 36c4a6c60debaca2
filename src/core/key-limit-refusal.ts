import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "./errors.ts";

/**
 * Refuses what would run beyond the limits of a key.
 * @param errors the issues of `beyondKeyLimits`
 * @param options.code `workflow_not_runnable` for a start, `not_permitted` for what makes later runs happen
 * @param options.consequence what does not happen, as a sentence
 */
export const keyLimitRefusal = (
  { workflowId, version }: { workflowId: string | null; version: number },
  errors: readonly [Issue, ...Issue[]],
  {
    code = "workflow_not_runnable",
    consequence = "Nothing was started.",
  }: { code?: "workflow_not_runnable" | "not_permitted"; consequence?: string } = {},
): AppError => {
  const [{ message, fix }] = errors;
  const subject = workflowId === null ? "The step" : `Version ${version} of "${workflowId}"`;
  return new AppError(code, `${subject} ${message}. ${consequence} ${fix}`, { errors: [...errors] });
};
