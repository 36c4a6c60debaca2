/** Makes a run ready to be taken in: which definition, whether it can run, and whether the inputs fit. */
import type { Fault } from "../../schemas/problem.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import type { WholeWorkflow } from "../../schemas/workflow.ts";
import { AppError } from "../core/errors.ts";
import { dotted, invalidInput } from "../core/faults.ts";
import { findWorkflow } from "../core/find-workflow.ts";
import { newRunId } from "../core/ids.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type { EngineApi, RunRequest } from "../core/engine-port.ts";
import type { RunReader } from "../core/run-ports.ts";
import { inputsValidator } from "../core/json-schema/index.ts";

/** How deep workflows may call each other. */
export const MAX_DEPTH = 8;

export type PrepareRun = EngineApi["prepareRun"];

interface Options {
  workflows: WorkflowReader;
  runs: Pick<RunReader, "versionDefinition">;
  /** The faults of a definition, kept for a while; none when it can run. */
  faultsOf(definition: Record<string, unknown>, selfId: string): Promise<Fault[]>;
  /** A definition without faults, defaults filled in. */
  parse(definition: Record<string, unknown>): Definition;
}

export function prepareRun({ workflows, runs, faultsOf, parse }: Options): PrepareRun {
  return async (request) => {
    const workflow = await findWorkflow(workflows, request.workflowId);
    if (workflow.status === "archived") {
      throw new AppError(
        "workflow_archived",
        `"${workflow.id}" is archived and can't run. Restore it first (POST /workflows/${workflow.id}/restore).`,
      );
    }
    const version = request.version ?? workflow.published_version ?? workflow.version;
    const definition = request.definition ?? (await versionOf(runs, workflow, version));
    const faults = await faultsOf(definition, workflow.id);
    if (faults.length > 0) throw notRunnable(workflow.id, version, faults);
    const parsed = parse(definition);
    const id = newRunId();
    return {
      id,
      workflowId: workflow.id,
      version,
      definition: request.definition ?? null,
      trigger: request.trigger,
      priority: parsed.priority ?? 0,
      depth: request.depth ?? 0,
      firstRun: request.retryOf?.firstRun ?? id,
      retryOf: request.retryOf?.id ?? null,
      parent: request.parent ?? null,
      scheduledFor: request.scheduledFor ?? null,
      actor: request.actor,
      inputs: checkedInputs(parsed, request),
    };
  };
}

async function versionOf(
  runs: Pick<RunReader, "versionDefinition">,
  workflow: WholeWorkflow,
  version: number,
): Promise<Record<string, unknown>> {
  if (version > workflow.version) {
    throw new AppError(
      "version_not_found",
      `"${workflow.id}" has no version ${version}; its newest is ${workflow.version}.`,
    );
  }
  const definition = await runs.versionDefinition(workflow.id, version);
  if (definition !== null) return definition;
  throw new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${workflow.id}" has no definition yet, so there is nothing to run. ` +
      "Give it one with update_workflow (PATCH /workflows/" +
      workflow.id +
      ").",
  );
}

const notRunnable = (id: string, version: number, errors: Fault[]): AppError =>
  new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" has ${errors.length} fault${errors.length === 1 ? "" : "s"} and can't run: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. Mend them with update_workflow; ` +
      "validate_workflow tells the same before saving.",
    { errors },
  );

function checkedInputs(definition: Definition, { inputs, looseInputs }: RunRequest): Record<string, unknown> {
  const schema = definition.inputs ?? { type: "object", properties: {} };
  const known = new Set(Object.keys(schema["properties"] ?? {}));
  const given =
    looseInputs === true
      ? Object.fromEntries(Object.entries(inputs).filter(([name]) => known.has(name)))
      : inputs;
  const parsed = inputsValidator(schema).parse(given);
  if ("value" in parsed) return parsed.value;
  throw invalidInput(
    parsed.faults.map((fault) => Object.assign(fault, { path: dotted(["inputs", ...(fault.path ?? [])]) })),
  );
}
