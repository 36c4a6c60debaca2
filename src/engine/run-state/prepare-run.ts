/** Prepares a run: finds its definition, and checks that it can run and that the inputs are valid. */
import type { Issue } from "../../../schemas/problem.ts";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { AppError } from "../../core/errors.ts";
import { formatPath, invalidInput } from "../../core/issues.ts";
import { findWorkflow } from "../../core/find-workflow.ts";
import { newRunId } from "../../core/ids.ts";
import type { RunPins } from "../../core/model.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { EngineApi, RunRequest } from "../../core/engine-port.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { DefinitionRef, DefinitionCache } from "../definition/compiled-definition.ts";
import type { RunCheck } from "../definition/run-checks.ts";
import type { PinCalls } from "./pin-calls.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Validation } from "../../core/validation.ts";

export type PrepareRun = EngineApi["prepareRun"];

interface Options {
  workflows: WorkflowReader;
  runs: Pick<RunReader, "versionDefinition">;
  definitionCache: DefinitionCache;
  /** @throws AppError storage_full while the disk has too little space for new runs */
  assertDiskSpace(): Promise<void>;
  /** Checks the definition, cached. @param options.pins what the run that calls this one has pinned; null for none */
  check(ref: DefinitionRef, options: { pins: RunPins | null; owner: string }): Promise<RunCheck>;
  pinCalls: PinCalls;
  validation: Validation;
}

export function prepareRun({
  workflows,
  runs,
  definitionCache,
  assertDiskSpace,
  check,
  pinCalls,
  validation,
}: Options): PrepareRun {
  return async (request) => {
    await assertDiskSpace();
    const workflow = await findWorkflow(workflows, request.workflowId);
    if (workflow.status === "archived") {
      throw new AppError(
        "workflow_archived",
        `"${workflow.id}" is archived and can't run. Restore it (POST /workflows/${workflow.id}/restore).`,
      );
    }
    const inherited = request.pins ?? null;
    if (inherited !== null && !Object.hasOwn(inherited, workflow.id)) throw notPinned(workflow.id);
    const version =
      request.version ?? inherited?.[workflow.id] ?? workflow.published_version ?? workflow.version;
    const ref: DefinitionRef = {
      id: newRunId(),
      workflowId: workflow.id,
      version,
      definition: request.definition ?? null,
    };
    if (ref.definition === null) await assertHasDefinition(runs, workflow, version);
    const { issues, facts } = await check(ref, {
      pins: inherited,
      owner: usageSubjectOf(request.actor),
    });
    if (issues.length > 0) throw notRunnable(workflow.id, version, issues);
    const { definition, calls } = await definitionCache.get(ref, runs);
    return {
      ...ref,
      pins: calls.length === 0 ? null : (inherited ?? (await pinCalls(calls))),
      trigger: request.trigger,
      priority: definition.priority ?? 0,
      depth: request.depth ?? 0,
      firstRunId: request.retryOf?.firstRunId ?? ref.id,
      retryOf: request.retryOf?.id ?? null,
      parent: request.parent ?? null,
      scheduledFor: request.scheduledFor ?? null,
      trace: request.trace ?? null,
      actor: request.actor,
      facts,
      inputs: await parseInputs(validation, definition, request),
    };
  };
}

/** A workflow of this id was created after the run that calls it had started. */
const notPinned = (id: string): AppError =>
  new AppError(
    "workflow_not_found",
    `There was no workflow "${id}" when the run that calls it started, and a run uses the versions of its start. ` +
      "Retry that run to use the workflow.",
  );

/** @throws AppError version_not_found, workflow_not_runnable */
async function assertHasDefinition(
  runs: Pick<RunReader, "versionDefinition">,
  workflow: WorkflowWithDefinition,
  version: number,
): Promise<void> {
  if (version > workflow.version) {
    throw new AppError(
      "version_not_found",
      `"${workflow.id}" has no version ${version}. Its newest version is ${workflow.version}.`,
    );
  }
  // The workflow itself holds the definition of its newest version.
  const isNewest = version === workflow.version;
  const definition = isNewest ? workflow.definition : await runs.versionDefinition(workflow.id, version);
  if (definition !== null) return;
  throw new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${workflow.id}" has no definition, so there is nothing to run. ` +
      (isNewest
        ? `Add one with update_workflow (PATCH /workflows/${workflow.id}).`
        : "The operator has pruned it, or it never had one: run another version."),
  );
}

const notRunnable = (id: string, version: number, errors: readonly Issue[]): AppError =>
  new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" has ${errors.length} issue${errors.length === 1 ? "" : "s"} and can't run: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. Fix them with update_workflow; ` +
      "validate_workflow finds the same issues before you save.",
    { errors: [...errors] },
  );

/** @throws AppError invalid_input */
async function parseInputs(
  validation: Validation,
  definition: Definition,
  { inputs, ignoreUnknownInputs, actor }: RunRequest,
): Promise<Record<string, unknown>> {
  const schema = definition.inputs ?? { type: "object", properties: {} };
  const declared = new Set(Object.keys(schema["properties"] ?? {}));
  const accepted =
    ignoreUnknownInputs === true
      ? Object.fromEntries(Object.entries(inputs).filter(([name]) => declared.has(name)))
      : inputs;
  const parsed = await validation.parseInputs(schema, accepted, { owner: usageSubjectOf(actor) });
  if ("value" in parsed) return parsed.value;
  throw invalidInput(
    parsed.issues.map((issue) =>
      Object.assign({}, issue, { path: formatPath(["inputs", ...(issue.path ?? [])]) }),
    ),
  );
}
