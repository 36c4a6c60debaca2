/**
 * Everything that can still run after an approval: the rest of its run and of the runs that wait for it, with what undoes
 * their steps, and all workflows that they can call. A decision is made for exactly this. Versions never change and runs pin
 * them, so it is the same until the configuration of something that it connects to changes.
 */
import type { ApprovalPlan } from "../../../schemas/approval.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { Connections } from "../../core/connections.ts";
import type { RemainingWork } from "../../core/engine-port.ts";
import type { RunPins, RunRecord, StepRef } from "../../core/model.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import { inOneLine } from "../../steps/as-written.ts";
import type { CompiledDefinition, DefinitionCache } from "../definition/compiled-definition.ts";
import { ancestorsOf } from "../definition/graph.ts";

type PlannedWorkflow = ApprovalPlan["workflows"][number];
type PlannedStep = PlannedWorkflow["steps"][number];

interface Readers {
  runs: Pick<RunReader, "find" | "versionDefinition">;
  workflows: Pick<WorkflowReader, "currentVersions">;
}

/** A run that exists, or one that is prepared. */
type PlannedRun = Pick<RunRecord, "id" | "workflowId" | "version" | "definition" | "pins" | "parent">;

/** A workflow that can be called. */
interface Called {
  id: string;
  /** Null if it does not exist. */
  version: number | null;
  /** Undefined if it can't run. */
  compiled: CompiledDefinition | undefined;
}

/** The rest of one run. */
interface RunRest {
  run: PlannedRun;
  compiled: CompiledDefinition;
  /** The steps that can still run, by position. */
  positions: readonly number[];
  called: ReadonlyMap<string, Called>;
  digest: string;
}

export interface RemainingWorkReader {
  /** What can run after a step of a run, such as an approval. */
  after(read: Readers, run: PlannedRun, stepId: string): Promise<RemainingWork>;
  /** The digest of what can run after it in its own run, the first of the levels. */
  digestAfter(read: Readers, run: PlannedRun, stepId: string): Promise<string>;
}

/** The digest of all levels together. */
const planDigest = (levels: readonly string[]): string => shortHash(levels.join(" "));

export function remainingWork({
  definitionCache,
  stepTypes,
  connections,
}: {
  definitionCache: DefinitionCache;
  stepTypes: readonly AnyStepType[];
  connections: Connections;
}): RemainingWorkReader {
  const types = new Map(stepTypes.map((type) => [type.type, type]));

  async function restOf(read: Readers, run: PlannedRun, stepId: string): Promise<RunRest> {
    const compiled = await definitionCache.get(run, read.runs);
    const positions = positionsAfter(compiled, stepId);
    const { steps, on_failure: onFailure } = compiled.definition;
    const direct = positions.flatMap((position) => {
      const { type, workflow } = steps[position]! as StepDefinition & { workflow?: unknown };
      return type === "workflow" && typeof workflow === "string" ? [workflow] : [];
    });
    const called = await closure(read, run.pins, [
      ...direct,
      ...(onFailure === undefined ? [] : [onFailure]),
    ]);
    const entries = new Set(entriesOf(compiled, positions));
    for (const { compiled: callee } of called.values())
      if (callee !== undefined)
        for (const entry of entriesOf(callee, allPositions(callee))) entries.add(entry);
    const digest = shortHash(
      canonicalJson([
        run.workflowId,
        run.version,
        run.definition,
        stepId,
        Object.fromEntries([...called.values()].map(({ id, version }) => [id, version])),
        Object.fromEntries([...entries].map((entry) => [entry, connections.configurationOf(entry)])),
      ]),
    );
    return { run, compiled, positions, called, digest };
  }

  /** The workflows of these ids, and those that they call. */
  async function closure(
    read: Readers,
    pins: RunPins | null,
    ids: readonly string[],
  ): Promise<Map<string, Called>> {
    const found = new Map<string, Called>();
    let level = [...new Set(ids)];
    while (level.length > 0) {
      const versions = pins === null ? await read.workflows.currentVersions(level) : undefined;
      const below = new Set<string>();
      for (const id of level) {
        const pinned = pins !== null && Object.hasOwn(pins, id) ? pins[id] : undefined;
        const version = pinned ?? versions?.get(id) ?? null;
        const ref = { id: "", workflowId: id, version: version ?? 0, definition: null };
        const compiled = version === null ? undefined : await definitionCache.find(ref, read.runs);
        found.set(id, { id, version, compiled });
        for (const callee of compiled?.calls ?? []) below.add(callee);
      }
      level = [...below].filter((id) => !found.has(id));
    }
    return found;
  }

  function entriesOf({ definition, resources, undo }: CompiledDefinition, positions: readonly number[]) {
    const undoSteps = [...undo.values()];
    const steps = [
      ...positions.map((position) => definition.steps[position]!),
      ...undoSteps.map(({ step }) => step),
    ];
    return [
      ...positions.map((position) => resources[position]!),
      ...undoSteps.map(({ resource }) => resource),
      ...steps.flatMap((step) => types.get(step.type)?.configurationEntries?.(step) ?? []),
    ].filter((entry) => entry !== null);
  }

  function describeStep(
    step: StepDefinition,
    called: ReadonlyMap<string, Called>,
    undoneId?: string,
  ): PlannedStep {
    const effect = types
      .get(step.type)
      ?.describeEffect?.(step, { connections, versionOf: (id) => called.get(id)?.version ?? null });
    const { if: condition } = step;
    return {
      id: undoneId ?? step.id,
      type: step.type,
      effect: repeated(step, effect ?? NO_EFFECT),
      ...(condition !== undefined && { if: inOneLine(condition) }),
      ...(undoneId !== undefined && { undo: true as const }),
    };
  }

  function describe(
    { definition, undo }: CompiledDefinition,
    positions: readonly number[],
    called: ReadonlyMap<string, Called>,
  ): Pick<PlannedWorkflow, "steps" | "on_failure"> {
    return {
      ...(definition.on_failure !== undefined && { on_failure: definition.on_failure }),
      steps: [
        ...positions.map((position) => describeStep(definition.steps[position]!, called)),
        ...[...undo].map(([id, { step }]) => describeStep(step, called, id)),
      ],
    };
  }

  return {
    async after(read, run, stepId) {
      const rests: RunRest[] = [];
      for (let [next, at]: [PlannedRun | undefined, string] = [run, stepId]; next !== undefined;) {
        rests.push(await restOf(read, next, at));
        const parent: StepRef | null = next.parent;
        [next, at] = parent === null ? [undefined, ""] : [await read.runs.find(parent.runId), parent.stepId];
      }
      const all = new Map<string, PlannedWorkflow>();
      for (const { called } of rests)
        for (const { id, version, compiled } of called.values())
          all.set(`${id}@${version}`, {
            workflow_id: id,
            version,
            role: "called",
            ...(compiled === undefined ? { steps: [] } : describe(compiled, allPositions(compiled), called)),
          });
      const runs = rests.map(
        ({ run: { id, workflowId, version, definition }, compiled, positions, called }, index) => ({
          workflow_id: workflowId,
          version,
          role: index === 0 ? ("run" as const) : ("parent" as const),
          run_id: id,
          ...(definition !== null && { patched: true as const }),
          ...describe(compiled, positions, called),
        }),
      );
      const levels = rests.map(({ digest }) => digest);
      return { levels, digest: planDigest(levels), workflows: [...runs, ...all.values()] };
    },

    digestAfter: async (read, run, stepId) => (await restOf(read, run, stepId)).digest,
  };
}

const NO_EFFECT = "Touches nothing outside of the run";

const repeated = ({ for_each: forEach, repeat }: StepDefinition, effect: string): string =>
  forEach !== undefined
    ? `For each item: ${effect}`
    : repeat !== undefined
      ? `Repeatedly: ${effect}`
      : effect;

const allPositions = ({ definition }: CompiledDefinition): number[] => [...definition.steps.keys()];

/**
 * The positions of the steps that can run after a step has begun: all but those that had to end before it. The step itself
 * can run again if it has items, iterations or a retry.
 */
function positionsAfter(
  { definition: { steps }, graph, position }: CompiledDefinition,
  stepId: string,
): number[] {
  const at = position.get(stepId)!;
  const before = ancestorsOf(graph, at);
  const { for_each: forEach, repeat, retry } = steps[at]!;
  const isRepeated = forEach !== undefined || repeat !== undefined || retry !== undefined;
  return [...steps.keys()].filter((index) => !before.has(index) && (index !== at || isRepeated));
}
