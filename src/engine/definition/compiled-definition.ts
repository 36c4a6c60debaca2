/** The parts of a definition that advance a run without evaluating anything: its graph, resources and timeout. */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Definition, StepDefinition } from "../../../schemas/workflow-definition.ts";
import type { Connections } from "../../core/connections.ts";
import type { Rate, RunRecord } from "../../core/model.ts";
import { rateIntervalMs } from "../../core/rate.ts";
import { AppError } from "../../core/errors.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { calledWorkflowIds } from "../../core/workflow-calls.ts";
import { undoneStepId, undoStepId } from "../../core/undo-step-id.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { eventStepIds } from "./event-steps.ts";
import { type Graph, graphOf } from "./graph.ts";

export interface CompiledDefinition {
  definition: Definition;
  graph: Graph;
  /** Position in the list, by step id. */
  position: ReadonlyMap<string, number>;
  /** By position: the resource that the step holds while it runs (`database:shop`); null where it holds none. */
  resources: readonly (string | null)[];
  /** By position: the rate that the step sets; null where it sets none. */
  rates: readonly (Rate | null)[];
  /** Ids of the steps that wait for an event. */
  eventStepIds: readonly string[];
  /** Ids of the workflows that it calls, with its steps and when a run failed. */
  calls: readonly string[];
  /** Maximum duration of a run, in milliseconds; null without a limit. */
  timeoutMs: number | null;
  /** The steps that can be undone, by id, with the step that undoes each. */
  undo: ReadonlyMap<string, { step: StepDefinition; resource: string | null }>;
  /** What finds out whether the effect of a step happened, by the id of that step. */
  lookups: ReadonlyMap<string, { step: LookupStep; resource: string | null }>;
}

/** The `lookup` of a step, under the id of that step. */
export type LookupStep = StepDefinition & NonNullable<StepDefinition["lookup"]>;

/** Returns a step of the definition, or the step that undoes another one, by the id that its records have. */
export function definedStep({ definition, position, undo }: CompiledDefinition, id: string): StepDefinition {
  const undone = undoneStepId(id);
  return undone === undefined ? definition.steps[position.get(id)!]! : undo.get(undone)!.step;
}

/**
 * @param owner what the rates of its steps belong to: its workflow, or the run of a single step
 * @param definition one that its schema accepts
 */
function compileDefinition(
  owner: string,
  definition: Definition,
  stepTypes: ReadonlyMap<string, AnyStepType>,
  connections: Pick<Connections, "defaultDatabase">,
  parsePause: (duration: string) => number,
): CompiledDefinition {
  return {
    definition,
    graph: graphOf(definition.steps),
    position: new Map(definition.steps.map((step, index) => [step.id, index])),
    resources: definition.steps.map((step) => stepTypes.get(step.type)!.resource(step, connections)),
    rates: definition.steps.map(({ id, rate }) =>
      // With the rate as a part of the key, a changed rate holds at once.
      rate === undefined ? null : { key: `step:${owner}/${id}@${rate}`, intervalMs: rateIntervalMs(rate) },
    ),
    eventStepIds: eventStepIds(definition.steps),
    calls: calledWorkflowIds(definition),
    timeoutMs: definition.timeout === undefined ? null : parsePause(definition.timeout),
    undo: new Map(
      definition.steps.flatMap(({ id, undo }) => {
        if (undo === undefined) return [];
        const step: StepDefinition = { ...undo, id: undoStepId(id) };
        return [[id, { step, resource: stepTypes.get(step.type)!.resource(step, connections) }]];
      }),
    ),
    lookups: new Map(
      definition.steps.flatMap(({ id, lookup }) => {
        if (lookup === undefined) return [];
        const step: LookupStep = { ...lookup, id };
        return [[id, { step, resource: stepTypes.get(step.type)!.resource(step, connections) }]];
      }),
    ),
  };
}

/** Identifies the definition that a run follows. */
export type DefinitionRef = Pick<RunRecord, "id" | "workflowId" | "version" | "definition">;

/** The definition of a version; null where it has none, and for a run of a single step, which has its own one. */
export const versionDefinitionOf = async (
  runs: Pick<RunReader, "versionDefinition">,
  { workflowId, version }: Pick<DefinitionRef, "workflowId" | "version">,
): Promise<Record<string, unknown> | null> =>
  workflowId === null ? null : runs.versionDefinition(workflowId, version);

export interface DefinitionCache {
  /**
   * Returns the compiled definition of a run, from the cache where it can: versions never change.
   * @param runs the reader of the transaction, inside one
   * @throws AppError workflow_not_runnable where the version has no definition
   */
  get(ref: DefinitionRef, runs: Pick<RunReader, "versionDefinition">): Promise<CompiledDefinition>;
  /** The same; undefined where the version has no definition, or one that its schema refuses, so that it can't run. */
  find(
    ref: DefinitionRef,
    runs: Pick<RunReader, "versionDefinition">,
  ): Promise<CompiledDefinition | undefined>;
}

/** Maximum number of cached definitions. */
const MAX_DEFINITIONS = 200;

/**
 * @param parse validates a stored definition and fills in its defaults
 * @param parsePause parses the timeout of a run, in milliseconds
 */
export function definitionCache(
  parse: (definition: Record<string, unknown>) => Definition,
  stepTypes: readonly AnyStepType[],
  connections: Pick<Connections, "defaultDatabase">,
  parsePause: (duration: string) => number,
): DefinitionCache {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const cache = new LRUCache<string, CompiledDefinition>({ max: MAX_DEFINITIONS });
  async function find(
    { id, workflowId, version, definition }: DefinitionRef,
    runs: Pick<RunReader, "versionDefinition">,
  ): Promise<CompiledDefinition | undefined> {
    const key = definition === null ? `${workflowId}@${version}` : id;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const stored = definition ?? (await versionDefinitionOf(runs, { workflowId, version }));
    if (stored === null) return undefined;
    const compiled = compileDefinition(workflowId ?? id, parse(stored), types, connections, parsePause);
    cache.set(key, compiled);
    return compiled;
  }

  return {
    async get(ref, runs) {
      const compiled = await find(ref, runs);
      if (compiled !== undefined) return compiled;
      throw new AppError(
        "workflow_not_runnable",
        `Version ${ref.version} of "${ref.workflowId}" has no definition any more: the operator has pruned it. ` +
          "Run another version.",
      );
    },
    async find(ref, runs) {
      try {
        return await find(ref, runs);
      } catch (error) {
        if (error instanceof z.ZodError) return undefined;
        throw error;
      }
    },
  };
}
