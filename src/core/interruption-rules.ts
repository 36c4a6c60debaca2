/** What the configuration says of interrupted effects. It is data, so that checks in threads have it too. */
import type { OnInterrupted } from "../../schemas/interruption.ts";
import type { Connections, InterruptionRule } from "./connections.ts";
import { hostPortOf, mostSpecificHost } from "./host-patterns.ts";
import type { AnyStepType, UnresolvedStep } from "./step-type.ts";

export interface InterruptionRules {
  /** By host pattern. */
  hosts: readonly ({ host: string } & InterruptionRule)[];
  /** By resource: `database:shop`, `mcp_server:tickets`, `mail`. */
  resources: Readonly<Record<string, InterruptionRule>>;
}

/** What an effect is sent to. */
export type EffectTarget = { url: string } | { resource: string };

const NO_RULE: InterruptionRule = { idempotent: false, onInterrupted: null };

/** Makes a rule of the settings of an entry of the configuration. */
export const toInterruptionRule = ({
  idempotent = false,
  on_interrupted: onInterrupted = null,
}: {
  idempotent?: boolean | undefined;
  on_interrupted?: OnInterrupted | null | undefined;
}): InterruptionRule => ({ idempotent, onInterrupted });

/** Returns the rule of a resource, or of the most specific pattern that matches the host of a URL. */
export function interruptionRuleIn(rules: InterruptionRules, target: EffectTarget): InterruptionRule {
  if ("resource" in target) {
    const { resource } = target;
    return Object.hasOwn(rules.resources, resource) ? rules.resources[resource]! : NO_RULE;
  }
  const url = URL.parse(target.url);
  const found = url === null ? undefined : mostSpecificHost(rules.hosts, hostPortOf(url));
  return found === undefined ? NO_RULE : { idempotent: found.idempotent, onInterrupted: found.onInterrupted };
}

/**
 * Returns what is known of interrupted attempts of a step: what it says itself, else what the configuration says of its target.
 * @param step with its fields resolved, or as its definition has it
 */
export function interruptionRuleOf(
  type: AnyStepType,
  step: UnresolvedStep & { on_interrupted?: OnInterrupted | undefined },
  connections: Pick<Connections, "defaultDatabase" | "interruptionRules">,
): InterruptionRule {
  const target = effectTargetOf(type, step, connections);
  const { idempotent, onInterrupted } =
    target === null ? NO_RULE : interruptionRuleIn(connections.interruptionRules, target);
  return { idempotent, onInterrupted: step.on_interrupted ?? onInterrupted };
}

/** Returns what the effect of a step is sent to; null where that is not known. */
export function effectTargetOf(
  type: AnyStepType,
  step: UnresolvedStep,
  connections: Pick<Connections, "defaultDatabase">,
): EffectTarget | null {
  if (type.effectTarget !== undefined) return type.effectTarget(step);
  const resource = type.resource(step, connections);
  return resource === null ? null : { resource };
}
