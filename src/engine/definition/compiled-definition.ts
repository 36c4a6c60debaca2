/** What the engine must know of a definition to move a run along, without evaluating anything. */
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { Connections } from "../../core/connections.ts";
import { durationMs } from "../../core/duration.ts";
import type { RunRecord, RunReader } from "../../core/run-ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { type Graph, graphOf } from "./graph.ts";

export interface CompiledDefinition {
  definition: Definition;
  graph: Graph;
  /** Position by step id. */
  position: ReadonlyMap<string, number>;
  /** For each step what it holds while it runs. */
  resources: readonly (string | null)[];
  /** Milliseconds that a run may take; null for as long as it takes. */
  timeoutMs: number | null;
}

/** The outline of a definition that its schema accepts. */
function compileDefinition(
  definition: Definition,
  stepTypes: ReadonlyMap<string, AnyStepType>,
  connections: Pick<Connections, "defaultDatabase">,
): CompiledDefinition {
  return {
    definition,
    graph: graphOf(definition.steps),
    position: new Map(definition.steps.map((step, index) => [step.id, index])),
    resources: definition.steps.map((step) => stepTypes.get(step.type)!.resource(step, connections)),
    timeoutMs: definition.timeout === undefined ? null : durationMs(definition.timeout),
  };
}

/** Which definition a run follows. */
export type DefinitionRef = Pick<RunRecord, "id" | "workflowId" | "version" | "definition">;

export interface DefinitionCache {
  /**
   * The outline of a run's definition. Versions never change, so those are kept.
   * @param runs in a transaction: its reader
   */
  get(ref: DefinitionRef, runs: Pick<RunReader, "versionDefinition">): Promise<CompiledDefinition>;
}

/** As many outlines are kept. */
const KEPT = 200;

/**
 * Outlines by version, made once.
 * @param parse a stored definition with defaults filled in
 */
export function definitionCache(
  parse: (definition: Record<string, unknown>) => Definition,
  stepTypes: readonly AnyStepType[],
  connections: Pick<Connections, "defaultDatabase">,
): DefinitionCache {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const known = new Map<string, CompiledDefinition>();
  return {
    async get({ id, workflowId, version, definition }, runs) {
      const key = definition === null ? `${workflowId}@${version}` : id;
      const found = known.get(key);
      if (found !== undefined) {
        // The Map's order is that of use: the one that was not used for the longest goes first.
        known.delete(key);
        known.set(key, found);
        return found;
      }
      const stored = definition ?? (await runs.versionDefinition(workflowId, version));
      if (stored === null) throw new Error(`version ${version} of ${workflowId} has no definition`);
      const outline = compileDefinition(parse(stored), types, connections);
      if (known.size >= KEPT) known.delete(known.keys().next().value!);
      known.set(key, outline);
      return outline;
    },
  };
}
