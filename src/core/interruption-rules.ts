/** What the configuration says of the interrupted effects of a step. */
import type { Connections, InterruptionRule } from "./connections.ts";
import type { AnyStepType, UnresolvedStep } from "./step-type.ts";

const NO_RULE: InterruptionRule = { idempotent: false, onInterrupted: null };

/** @param step with its fields resolved, or as its definition has it */
export function interruptionRuleOf(
  type: AnyStepType,
  step: UnresolvedStep,
  connections: Pick<Connections, "defaultDatabase" | "interruptionRule">,
): InterruptionRule {
  const target = targetOf(type, step, connections);
  return target === null ? NO_RULE : connections.interruptionRule(target);
}

function targetOf(
  type: AnyStepType,
  step: UnresolvedStep,
  connections: Pick<Connections, "defaultDatabase">,
): { url: string } | { resource: string } | null {
  if (type.effectTarget !== undefined) return type.effectTarget(step);
  const resource = type.resource(step, connections);
  return resource === null ? null : { resource };
}
