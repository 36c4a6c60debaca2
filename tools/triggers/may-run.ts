import { scopesIn } from "../../src/core/access.ts";
import type { AppError } from "../../src/core/errors.ts";
import { keyLimitRefusal } from "../../src/core/key-limit-refusal.ts";
import { missingScope } from "../../src/core/scope-refusal.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { TriggerRecord } from "../../src/core/trigger-ports.ts";

/**
 * Why a caller could not start the runs of a trigger with run_workflow: missing_scope, or workflow_not_runnable beyond the limits of
 * the key. Undefined where it could.
 */
export async function runRefusal(
  { actor: { principal }, engine }: Pick<ToolContext, "actor" | "engine">,
  { workflowId, version, project }: Pick<TriggerRecord, "workflowId" | "version" | "project">,
): Promise<AppError | undefined> {
  const { access } = principal;
  if (!scopesIn(access, project).has("run"))
    return missingScope(principal, { subject: "What starts runs of a workflow", scope: "run", project });
  const errors = await engine.beyondKeyLimits({ workflowId, version }, access.keyLimits);
  const [first, ...others] = errors;
  return first && keyLimitRefusal({ workflowId, version }, [first, ...others]);
}
