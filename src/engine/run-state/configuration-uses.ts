/** What the steps that can still run use of the configuration. */
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { ConfigurationUse, Connections } from "../../core/connections.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { CompiledDefinition } from "../definition/compiled-definition.ts";

/** A step that uses something. */
export interface UsingStep {
  /** Null in a run of a single step. */
  workflowId: string | null;
  stepId: string;
}

/** By the use as text, which is the same for equal uses. */
export type Uses = ReadonlyMap<string, { use: ConfigurationUse; steps: readonly UsingStep[] }>;

interface Part {
  workflowId: string | null;
  compiled: CompiledDefinition;
  /** The steps that can run. */
  positions: readonly number[];
}

/** The uses of the steps that can run, and of what undoes steps. */
export function usesOf(parts: readonly Part[], types: ReadonlyMap<string, AnyStepType>): Uses {
  const found = new Map<string, { use: ConfigurationUse; steps: UsingStep[] }>();
  const add = (workflowId: string | null, stepId: string, step: StepDefinition, resource: string | null) => {
    const uses =
      types.get(step.type)?.configurationUses?.(step) ?? (resource === null ? [] : [{ entry: resource }]);
    for (const use of uses) {
      const key = canonicalJson(use);
      const known = found.get(key) ?? { use, steps: [] };
      found.set(key, known);
      if (!known.steps.some((other) => other.workflowId === workflowId && other.stepId === stepId))
        known.steps.push({ workflowId, stepId });
    }
  };
  for (const { workflowId, compiled, positions } of parts) {
    const { definition, resources, undo } = compiled;
    for (const position of positions) {
      const step = definition.steps[position]!;
      add(workflowId, step.id, step, resources[position]!);
    }
    for (const [stepId, { step, resource }] of undo) add(workflowId, stepId, step, resource);
  }
  return found;
}

/** The settings of each use now; null for what is not configured. */
export const settingsOf = (
  uses: Uses,
  connections: Pick<Connections, "configurationOf">,
): Record<string, Readonly<Record<string, unknown>> | null> =>
  Object.fromEntries([...uses].map(([key, { use }]) => [key, connections.configurationOf(use.entry, use)]));
