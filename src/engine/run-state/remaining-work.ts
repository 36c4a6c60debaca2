/**
 * Everything that can still run after an approval: the rest of its run and of the runs that wait for it, with what undoes
 * their steps, and all workflows that they can call. A decision is made for exactly this. Versions never change and runs pin
 * them, so it is the same until the configuration of something that it connects to changes. A change request shows the same
 * of a whole version.
 */
import type { ApprovalPlan } from "../../../schemas/approval.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { planDigest } from "../../core/approval-rules.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { ConnectionViews, ViewedProjects } from "../../core/connection-views.ts";
import type { Connections } from "../../core/connections.ts";
import type { PublicationPlan, RemainingWork } from "../../core/engine-port.ts";
import type { RunRecord, StepRef } from "../../core/model.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { shortHash } from "../../core/short-hash.ts";
import type { AnyStepType, StepEffect } from "../../core/step-type.ts";
import { inOneLine } from "../../steps/as-written.ts";
import type { CompiledDefinition, DefinitionCache } from "../definition/compiled-definition.ts";
import { ancestorsOf } from "../definition/graph.ts";

type PlannedWorkflow = ApprovalPlan["workflows"][number];
type PlannedStep = PlannedWorkflow["steps"][number];

interface Readers {
  runs: Pick<RunReader, "find" | "versionDefinition">;
  workflows: Pick<WorkflowReader, "currentVersions" | "projectOf">;
  projects: ViewedProjects;
}

/** A run that exists, or one that is prepared. */
type PlannedRun = Pick<
  RunRecord,
  "id" | "project" | "workflowId" | "version" | "definition" | "pins" | "parent"
>;

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
  /** The ids of the workflows that it calls itself. */
  calls: readonly string[];
  /** The workflows that it can call, directly and through them. */
  called: ReadonlyMap<string, Called>;
  /** Those that the run may use. */
  connections: Connections;
  digest: string;
}

export interface RemainingWorkReader {
  /** What can run after a step of a run, such as an approval. The workflows are for `visiblePlan`. */
  after(read: Readers, run: PlannedRun, stepId: string): Promise<RemainingWork>;
  /** The digest of what can run after it in its own run, the first of the levels. */
  digestAfter(read: Readers, run: PlannedRun, stepId: string): Promise<string>;
  /** What the runs of a version can do, with the versions of called workflows that a run would pin now. */
  ofVersion(
    read: {
      workflows: Pick<WorkflowReader, "liveVersions" | "projectOf">;
      runs: Pick<RunReader, "versionDefinition">;
      projects: ViewedProjects;
    },
    version: { workflowId: string; version: number },
  ): Promise<PublicationPlan>;
}

/** What a plan shows of the workflow of another project: nothing of what it does. */
const FOREIGN: Pick<PlannedWorkflow, "foreign" | "steps"> = { foreign: true, steps: [] };

/** Returns the versions of workflows by id; those that do not exist are left out. */
type FindVersions = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

export function remainingWork({
  definitionCache,
  stepTypes,
  views,
}: {
  definitionCache: DefinitionCache;
  stepTypes: readonly AnyStepType[];
  views: ConnectionViews;
}): RemainingWorkReader {
  const types = new Map(stepTypes.map((type) => [type.type, type]));

  /** @param stepId null for the whole run */
  async function restOf(
    { runs, projects }: { runs: Pick<RunReader, "versionDefinition">; projects: ViewedProjects },
    run: PlannedRun,
    stepId: string | null,
    findVersions: FindVersions,
  ): Promise<RunRest> {
    const compiled = await definitionCache.get(run, runs);
    const positions = stepId === null ? allPositions(compiled) : positionsAfter(compiled, stepId);
    const { steps, on_failure: onFailure } = compiled.definition;
    const direct = positions.flatMap((position) => {
      const { type, workflow } = steps[position]! as StepDefinition & { workflow?: unknown };
      return type === "workflow" && typeof workflow === "string" ? [workflow] : [];
    });
    const calls = [...direct, ...(onFailure === undefined ? [] : [onFailure])];
    const called = await closure(runs, findVersions, calls);
    const entries = new Set(entriesOf(compiled, positions));
    for (const { compiled: callee } of called.values())
      if (callee !== undefined)
        for (const entry of entriesOf(callee, allPositions(callee))) entries.add(entry);
    const { connections } = await views.of(run.project, null, projects);
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
    return { run, compiled, positions, calls, called, connections, digest };
  }

  /** The workflows of these ids, and those that they call. */
  async function closure(
    runs: Pick<RunReader, "versionDefinition">,
    findVersions: FindVersions,
    ids: readonly string[],
  ): Promise<Map<string, Called>> {
    const found = new Map<string, Called>();
    let level = [...new Set(ids)];
    while (level.length > 0) {
      const versions = await findVersions(level);
      const below = new Set<string>();
      for (const id of level) {
        const version = versions.get(id) ?? null;
        const ref = { id: "", workflowId: id, version: version ?? 0, definition: null };
        const compiled = version === null ? undefined : await definitionCache.find(ref, runs);
        found.set(id, { id, version, compiled });
        for (const callee of compiled?.calls ?? []) below.add(callee);
      }
      level = [...below].filter((id) => !found.has(id));
    }
    return found;
  }

  function entriesOf(compiled: CompiledDefinition, positions: readonly number[]) {
    const { definition, resources, undo } = compiled;
    const nested = [...undo.values(), ...lookupsAt(compiled, positions).map(([, lookup]) => lookup)];
    const steps = [
      ...positions.map((position) => definition.steps[position]!),
      ...nested.map(({ step }) => step),
    ];
    return [
      ...positions.map((position) => resources[position]!),
      ...nested.map(({ resource }) => resource),
      ...steps.flatMap((step) => types.get(step.type)?.configurationEntries?.(step) ?? []),
    ].filter((entry) => entry !== null);
  }

  function describeStep(
    step: StepDefinition,
    { called, connections }: Pick<RunRest, "called" | "connections">,
    nested: { id?: string; undo?: true; lookup?: true } = {},
  ): PlannedStep {
    const versionOf = (id: string): number | null => called.get(id)?.version ?? null;
    const effect = types.get(step.type)?.describeEffect?.(step, { connections, versionOf }) ?? NO_EFFECT;
    const { if: condition } = step;
    return {
      id: step.id,
      type: step.type,
      effect: repeated(step, effect.words),
      does: effect.does,
      ...(effect.targets.length > 0 && { targets: effect.targets }),
      ...(condition !== undefined && { if: inOneLine(condition) }),
      ...nested,
    };
  }

  function describe(
    compiled: CompiledDefinition,
    positions: readonly number[],
    rest: Pick<RunRest, "called" | "connections">,
  ): Pick<PlannedWorkflow, "steps" | "on_failure"> {
    const { definition, undo } = compiled;
    return {
      ...(definition.on_failure !== undefined && { on_failure: definition.on_failure }),
      steps: [
        ...positions.map((position) => describeStep(definition.steps[position]!, rest)),
        ...lookupsAt(compiled, positions).map(([, { step }]) => describeStep(step, rest, { lookup: true })),
        ...[...undo].map(([id, { step }]) => describeStep(step, rest, { id, undo: true })),
      ],
    };
  }

  /**
   * @param project that of the run or version that is decided on. Other projects show nothing of their workflows, and only
   *   those that this project calls itself: what these call in turn is a part of what they do.
   */
  async function describeCalled(
    { workflows }: { workflows: Pick<WorkflowReader, "projectOf"> },
    rests: readonly RunRest[],
    project: string,
  ): Promise<PlannedWorkflow[]> {
    const all = new Map<string, PlannedWorkflow>();
    for (const rest of rests) {
      const projects = new Map<string, string | undefined>();
      for (const id of rest.called.keys()) projects.set(id, await workflows.projectOf(id));
      const shown = new Set(rest.run.project === project ? rest.calls : []);
      for (const { id, compiled } of rest.called.values()) {
        if (projects.get(id) !== project) continue;
        shown.add(id);
        for (const callee of compiled?.calls ?? []) shown.add(callee);
      }
      for (const { id, version, compiled } of rest.called.values()) {
        if (!shown.has(id)) continue;
        const isForeign = projects.get(id) !== project;
        all.set(`${id}@${version}`, {
          workflow_id: id,
          version,
          role: "called",
          ...(compiled === undefined
            ? { steps: [] }
            : isForeign
              ? FOREIGN
              : describe(compiled, allPositions(compiled), rest)),
        });
      }
    }
    return [...all.values()];
  }

  return {
    async after(read, run, stepId) {
      const rests: RunRest[] = [];
      for (let [next, at]: [PlannedRun | undefined, string] = [run, stepId]; next !== undefined;) {
        rests.push(await restOf(read, next, at, pinnedVersions(read, next)));
        const parent: StepRef | null = next.parent;
        [next, at] = parent === null ? [undefined, ""] : [await read.runs.find(parent.runId), parent.stepId];
      }
      const runs = rests.map(
        ({ run: { id, project, workflowId, version, definition }, compiled, positions, ...rest }, index) => ({
          workflow_id: workflowId,
          version: workflowId === null ? null : version,
          role: index === 0 ? ("run" as const) : ("parent" as const),
          run_id: id,
          ...(definition !== null && workflowId !== null && { patched: true as const }),
          ...(project === run.project ? describe(compiled, positions, rest) : FOREIGN),
        }),
      );
      const levels = rests.map(({ digest }) => digest);
      const workflows = [...runs, ...(await describeCalled(read, rests, run.project))];
      const versions = workflows.flatMap(({ workflow_id: workflowId, version }) =>
        workflowId !== null && version !== null ? [{ workflowId, version }] : [],
      );
      return { levels, digest: planDigest(levels), workflows, versions };
    },

    digestAfter: async (read, run, stepId) =>
      (await restOf(read, run, stepId, pinnedVersions(read, run))).digest,

    async ofVersion(read, { workflowId, version }) {
      const project = (await read.workflows.projectOf(workflowId))!;
      const run = { id: "", project, workflowId, version, definition: null, pins: null, parent: null };
      // A version that calls itself calls the version that is about to be published.
      const findVersions: FindVersions = async (ids) => {
        const found = new Map(await read.workflows.liveVersions(ids));
        return ids.includes(workflowId) ? found.set(workflowId, version) : found;
      };
      const rest = await restOf(read, run, null, findVersions);
      const { compiled, positions, digest } = rest;
      const reviewed = { workflow_id: workflowId, version, role: "reviewed" as const };
      return {
        digest,
        workflows: [
          { ...reviewed, ...describe(compiled, positions, rest) },
          ...(await describeCalled(read, [rest], project)),
        ],
      };
    },
  };
}

/** The versions that a run has pinned. One of an older release has pinned nothing, and uses those of now. */
const pinnedVersions = ({ workflows }: Pick<Readers, "workflows">, { pins }: PlannedRun): FindVersions =>
  pins === null
    ? (ids) => workflows.currentVersions(ids)
    : (ids) =>
        Promise.resolve(new Map(ids.flatMap((id) => (Object.hasOwn(pins, id) ? [[id, pins[id]!]] : []))));

const NO_EFFECT: StepEffect = {
  words: "Touches nothing outside of the run",
  does: "nothing",
  targets: [],
};

/** The lookups of the steps at these positions. Those of steps that have ended are not executed any more. */
const lookupsAt = ({ definition, lookups }: CompiledDefinition, positions: readonly number[]) => {
  const ids = new Set(positions.map((position) => definition.steps[position]!.id));
  return [...lookups].filter(([id]) => ids.has(id));
};

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
