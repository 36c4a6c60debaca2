/** Prepares a run: finds its definition, and checks that it can run and that the inputs are valid. */
import type { Issue } from "../../../schemas/problem.ts";
import type { Definition } from "../../../schemas/workflow-definition.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { projectOf } from "../../../schemas/project.ts";
import { inputsCause } from "../../core/authored-work.ts";
import { AppError } from "../../core/errors.ts";
import { formatPath, invalidInput } from "../../core/issues.ts";
import { findWorkflow } from "../../core/find-workflow.ts";
import { newRunId } from "../../core/ids.ts";
import { keyLimitRefusal } from "../../core/key-limit-refusal.ts";
import { listInputs, readByNames } from "../../core/listed-inputs/index.ts";
import type { RunPins } from "../../core/model.ts";
import { causesOfRun } from "../../core/run-causes.ts";
import { assertMayRunUnsaved, type Unsaved } from "../../core/unsaved-runs.ts";
import type { WorkflowReader } from "../../core/ports.ts";
import type { EngineApi, PreparedRun, RunRequest } from "../../core/engine-port.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { DefinitionRef, DefinitionCache } from "../definition/compiled-definition.ts";
import type { RunCheck } from "../definition/run-checks.ts";
import { type BeyondLimits, type KeyOfStart, pinnedVersions } from "./key-limits.ts";
import type { PinCalls } from "./pin-calls.ts";
import type { QueueAdmission } from "./queue-admission.ts";
import type { UnsignedApprovals } from "./unsigned-approvals.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Validation } from "../../core/validation.ts";

export type PrepareRun = EngineApi["prepareRun"];

interface Options {
  workflows: WorkflowReader;
  runs: Pick<RunReader, "find" | "versionDefinition">;
  definitionCache: DefinitionCache;
  /** @throws AppError storage_full while the disk has too little space for new runs */
  assertDiskSpace(): Promise<void>;
  assertQueueMoves: QueueAdmission;
  /** Checks the definition, cached. @param options.pins what the run that calls this one has pinned; null for none */
  check(
    ref: DefinitionRef,
    options: { pins: RunPins | null; owner: string; project: string },
  ): Promise<RunCheck>;
  pinCalls: PinCalls;
  /** Whether the workflows of a project may call this one of another project. */
  isOffered(workflowId: string, project: string): Promise<boolean>;
  beyondLimits: BeyondLimits;
  keyOfStart: KeyOfStart;
  unsignedApprovals: UnsignedApprovals;
  validation: Validation;
}

export function prepareRun({
  workflows,
  runs,
  definitionCache,
  assertDiskSpace,
  assertQueueMoves,
  check,
  pinCalls,
  isOffered,
  beyondLimits,
  keyOfStart,
  unsignedApprovals,
  validation,
}: Options): PrepareRun {
  return async (request) => {
    await assertDiskSpace();
    if (request.workflowId === null) {
      const { project, definition } = request;
      return prepareDefinition({ workflowId: null, version: 0, project, definition }, request);
    }
    const { caller } = request;
    const workflow = await findWorkflow(caller?.workflows ?? workflows, request.workflowId);
    const { calledFrom = projectOf(workflow) } = request;
    if (calledFrom === projectOf(workflow)) return prepare(workflow, request);
    if (!(await isCallable(workflow, request, calledFrom))) throw notOffered(workflow.id);
    try {
      return await prepare(workflow, request);
    } catch (error) {
      throw withoutInside(error, workflow);
    }
  };

  /** Whether another project may run the version that a request asks for: it is offered, and is or was published. */
  async function isCallable(
    { id, published_version: published }: WorkflowWithDefinition,
    { pins }: RunRequest,
    calledFrom: string,
  ): Promise<boolean> {
    if (published === null || !(await isOffered(id, calledFrom))) return false;
    const pinned = pins?.[id] ?? published;
    if (pinned === published) return true;
    const { reviews } = await workflows.authorship(id, pinned);
    return reviews.some(({ version }) => version === pinned);
  }

  async function prepare(workflow: WorkflowWithDefinition, request: RunRequest): Promise<PreparedRun> {
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
    const definition = request.definition ?? null;
    if (definition === null) await assertHasDefinition(runs, workflow, version);
    const live = isLive(workflow, { version, definition });
    return prepareDefinition(
      { workflowId: workflow.id, version, definition, project: projectOf(workflow), live },
      request,
    );
  }

  /** Prepares a run of a version, or of a definition that belongs to none. */
  async function prepareDefinition(
    { project, live = false, ...source }: RunSource,
    request: RunRequest,
  ): Promise<PreparedRun> {
    const unsaved = unsavedPart(request, source);
    if (unsaved !== undefined && request.caller !== null)
      assertMayRunUnsaved(request.caller.principal, project, unsaved);
    const { limits, key } = await keyOfStart(request);
    const inherited = request.pins ?? null;
    const ref: DefinitionRef = { id: request.runId ?? newRunId(), ...source };
    const { retryOf } = request;
    // The retry of a called run has no parent, but keeps the inputs that its parent wrote.
    const parents = retryOf?.parent ? [await inputsCause(runs, retryOf)] : [];
    const causes = causesOfRun({
      ...ref,
      actor: request.actor,
      retryOf,
      causes: [...(request.causes ?? []), ...parents],
    });
    const assertAllowed = async (versions: readonly DefinitionRef[]): Promise<void> => {
      const [first, ...others] = await beyondLimits(versions, limits, key);
      const undecidable = causes.some(({ kind }) => kind === "unsigned")
        ? await unsignedApprovals(versions)
        : [];
      if (first !== undefined) throw keyLimitRefusal(ref, [first, ...others, ...undecidable]);
      if (undecidable.length > 0) throw notRunnable(ref, undecidable);
    };
    await assertAllowed([ref]);
    const { issues, facts } = await check(ref, {
      pins: inherited,
      owner: usageSubjectOf(request.actor),
      project,
    });
    if (issues.length > 0) throw notRunnable(ref, issues);
    const { definition, calls } = await definitionCache.get(ref, runs);
    const priority = Math.min(definition.priority ?? 0, request.maxPriority ?? Infinity);
    // Runs that the engine starts are needed for earlier ones to end, and the operator on the machine is not limited.
    if (request.caller !== null && request.trigger !== "cli")
      await assertQueueMoves({ owner: usageSubjectOf(request.actor), priority });
    const pins = calls.length === 0 ? null : (inherited ?? (await pinCalls(calls, { live })));
    await assertAllowed(pinnedVersions(pins ?? {}));
    return {
      ...ref,
      project,
      pins,
      trigger: request.trigger,
      priority,
      depth: request.depth ?? 0,
      firstRunId: request.retryOf?.firstRunId ?? ref.id,
      retryOf: request.retryOf?.id ?? null,
      isTrial: request.trial !== undefined,
      trial: request.trial ?? null,
      replay: request.replay ?? null,
      parent: request.parent ?? null,
      scheduledFor: request.scheduledFor ?? null,
      backfill: request.backfill ?? null,
      trace: request.trace ?? null,
      actor: request.actor,
      causes,
      facts,
      inputs: await parseInputs(validation, definition, request),
    };
  }
}

/** What a run has that no saved version has; undefined for nothing. */
function unsavedPart(
  { trial, trigger }: Pick<RunRequest, "trial" | "trigger">,
  { workflowId, definition }: Pick<DefinitionRef, "workflowId" | "definition">,
): Unsaved | undefined {
  if (workflowId === null) return "step";
  if (definition !== null) return "definition";
  // A backtest replaces steps by what its runs have recorded: only what it is given beside is new.
  const isGiven = trigger === "backtest" ? Object.keys(trial?.given ?? {}).length > 0 : trial !== undefined;
  // The examples of a version are saved with it.
  return isGiven && trigger !== "example" ? "given" : undefined;
}

/** What a run follows. */
interface RunSource extends Omit<DefinitionRef, "id"> {
  project: string;
  /** Whether it follows the published version; default: false. */
  live?: boolean;
}

/** For the caller it does not exist. */
const notOffered = (id: string): AppError =>
  new AppError(
    "workflow_not_found",
    `There is no workflow "${id}" in the project of the run that calls it, and none is offered to it. ` +
      "Choose another workflow, or ask an admin of its project to offer it to the project.",
  );

/** Errors that say why a workflow can't run, and with that what it does. */
const SHOWS_INSIDE: ReadonlySet<string> = new Set([
  "version_not_found",
  "workflow_archived",
  "workflow_not_runnable",
]);

/** The error for a caller of another project, who knows the contract of the workflow and nothing else. */
function withoutInside(error: unknown, workflow: WorkflowWithDefinition): unknown {
  if (!(error instanceof AppError) || !SHOWS_INSIDE.has(error.code)) return error;
  const project = projectOf(workflow);
  return new AppError(
    "workflow_not_runnable",
    `"${workflow.id}" can't run now. It belongs to the project "${project}": ask somebody there why.`,
    { cause: error },
  );
}

/** Whether a run follows the published version, as scheduled runs and those of callers do. */
const isLive = (
  { status, published_version: published }: WorkflowWithDefinition,
  { version, definition }: Pick<DefinitionRef, "version" | "definition">,
): boolean => definition === null && status === "published" && version === published;

/** The run that calls a workflow has started before it was created, or published where a review is needed. */
const notPinned = (id: string): AppError =>
  new AppError(
    "workflow_not_found",
    `There was no workflow "${id}" when the run that calls it started, or it was not published and its project requires ` +
      "reviews, and a run uses the versions of its start. Retry that run to use the workflow.",
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

const notRunnable = ({ workflowId, version }: DefinitionRef, errors: readonly Issue[]): AppError =>
  new AppError(
    "workflow_not_runnable",
    `${workflowId === null ? "The step" : `Version ${version} of "${workflowId}"`} has ` +
      `${errors.length} issue${errors.length === 1 ? "" : "s"} and can't run: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. ` +
      (workflowId === null
        ? "Fix the step and send it again."
        : "Fix them with update_workflow; validate_workflow finds the same issues before you save."),
    { errors: [...errors] },
  );

/** @throws AppError invalid_input */
async function parseInputs(
  validation: Validation,
  definition: Definition,
  { inputs, ignoreUnknownInputs, areInputsStored, actor, trigger }: RunRequest,
): Promise<Record<string, unknown>> {
  const schema = definition.inputs ?? { type: "object", properties: {} };
  const declared = new Set(Object.keys(schema["properties"] ?? {}));
  const accepted =
    ignoreUnknownInputs === true
      ? Object.fromEntries(Object.entries(inputs).filter(([name]) => declared.has(name)))
      : inputs;
  // Stored inputs were read when they were given, and are data from then on.
  const asWritten = trigger === "mcp" && areInputsStored !== true;
  const owner = usageSubjectOf(actor);
  // An agent that has seen the tool of the workflow knows the names that it lists; another one knows those of the definition.
  const isListed = asWritten && definition.expose_as_tool === true;
  const read = isListed
    ? await readByNames(validation, listInputs(schema), accepted, { owner, keepsAllowed: true })
    : { value: accepted, issues: [] };
  const parsed = await validation.parseInputs(schema, read.value, { owner, asWritten });
  if ("value" in parsed && read.issues.length === 0) return parsed.value;
  const issues = [...read.issues, ...("issues" in parsed ? parsed.issues : [])];
  throw invalidInput(
    issues.map((issue) => Object.assign({}, issue, { path: formatPath(["inputs", ...(issue.path ?? [])]) })),
  );
}
