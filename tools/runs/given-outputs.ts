/** Resolves what a trial is given: outputs as they are written, and outputs of a recorded run. */
import { FAN_OUT_FIX, givenParts } from "../../schemas/given.ts";
import type { Issue } from "../../schemas/problem.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { RunRecord, StepRecord, Trial } from "../../src/core/model.ts";
import { toStepStatus } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { callerMask } from "./caller-mask.ts";

type Given = Trial["given"];

/** Maximum size of the outputs that are taken from a run together, in characters of JSON. */
const MAX_TAKEN_CHARS = 4 * 1024 * 1024;

interface Target {
  /** The path of `given`, for issues. */
  path: string;
  /** The definition that the trial follows, as it is stored. */
  definition: Record<string, unknown>;
  /** The workflow whose runs outputs may be taken from; left out, all that the caller can read. */
  workflowId?: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @returns the outputs by step id, or every issue */
export async function resolveGiven(
  ctx: Pick<ToolContext, "read" | "engine" | "recordRead" | "actor">,
  given: Readonly<Record<string, unknown>>,
  { path, definition, workflowId }: Target,
): Promise<{ given: Given } | { issues: Issue[] }> {
  const { outputs, fromRun, steps } = givenParts(given);
  const listed = stepsOf(definition);
  const types = new Map(listed.map((step) => [String(step["id"]), String(step["type"])]));
  const fanOuts = new Set(listed.flatMap((step) => (step["for_each"] === undefined ? [] : [step["id"]])));
  const issues: Issue[] = [];
  const resolved: Record<string, Record<string, unknown>> = {};
  for (const [id, output] of Object.entries(outputs)) {
    if (!types.has(id)) issues.push(unknownStep(`${path}.${id}`, id, types));
    else if (isObject(output)) resolved[id] = output;
    else
      issues.push({
        path: `${path}.${id}`,
        code: "wrong_type",
        message: "must be an object, the output of the step",
        ...(fanOuts.has(id) && { fix: FAN_OUT_FIX }),
      });
  }
  const chosen = steps?.map(String);
  for (const [index, id] of (chosen ?? []).entries())
    if (!types.has(id)) issues.push(unknownStep(`${path}.steps[${index}]`, id, types));
  if (chosen !== undefined && fromRun === undefined)
    issues.push({
      path: `${path}.steps`,
      code: "not_allowed",
      message: "needs from_run, the run whose outputs are taken",
      fix: "Add from_run: the id of a run.",
    });
  if (issues.length > 0) return { issues };
  if (fromRun === undefined) return { given: resolved };
  const run = await ctx.read.runs.find(fromRun);
  if (run === undefined || (workflowId !== undefined && run.workflowId !== workflowId))
    return { issues: [unknownRun(`${path}.from_run`, workflowId)] };
  const inMemory = new Set(
    ctx.engine.stepTypes.filter(({ compute }) => compute !== undefined).map(({ type }) => type),
  );
  const ids = chosen ?? [...types].flatMap(([id, type]) => (inMemory.has(type) ? [] : [id]));
  const taken = await takeOutputs(ctx, run, { ids, isChosen: chosen !== undefined, path });
  if ("issues" in taken) return taken;
  await ctx.recordRead(run.id);
  return { given: { ...taken.given, ...resolved } };
}

/** The steps of a stored definition. */
const stepsOf = ({ steps }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(steps) ? (steps as unknown[]).filter(isObject) : [];

function unknownStep(path: string, id: string, types: ReadonlyMap<string, string>): Issue {
  const near = nearMatch(id, types.keys());
  return {
    path,
    code: "unknown_step",
    message: "is not a step of this workflow",
    ...(types.size <= 50 && { allowed: [...types.keys()] }),
    ...(near !== undefined && { did_you_mean: near }),
  };
}

const unknownRun = (path: string, workflowId: string | undefined): Issue => ({
  path,
  code: "run_not_found",
  message:
    workflowId === undefined
      ? "is not a run that you can read"
      : `is not a run of "${workflowId}" that you can read`,
  fix: "list_runs (GET /runs) lists runs. Old runs are deleted: write the outputs of the steps instead.",
});

/** Reads recorded outputs of a run. Steps that were not chosen one by one and did not succeed are left out. */
async function takeOutputs(
  ctx: Pick<ToolContext, "read" | "actor">,
  { id: runId }: RunRecord,
  { ids, isChosen, path }: { ids: readonly string[]; isChosen: boolean; path: string },
): Promise<{ given: Given } | { issues: Issue[] }> {
  const { runs } = ctx.read;
  const records = new Map((await runs.steps(runId)).map((record) => [record.stepId, record]));
  const given: Record<string, Record<string, unknown>> = {};
  const issues: Issue[] = [];
  const masked = callerMask(ctx);
  let chars = 0;
  for (const [index, stepId] of ids.entries()) {
    const record = records.get(stepId);
    if (record?.state === "succeeded") {
      chars += await sizeOf(runs, runId, record);
      if (chars > MAX_TAKEN_CHARS) return { issues: [tooLarge(path)] };
      given[stepId] = await masked(await outputOf(runs, runId, record));
    } else if (isChosen)
      issues.push({
        path: `${path}.steps[${index}]`,
        code: "no_output",
        message: `has no output in ${runId}: it ${record === undefined ? "did not run" : toStepStatus(record.state)}`,
        fix: "Remove it, choose another run, or write its output.",
      });
  }
  return issues.length > 0 ? { issues } : { given };
}

type Runs = ToolContext["read"]["runs"];

async function sizeOf(runs: Runs, runId: string, { stepId, items }: StepRecord): Promise<number> {
  if (items !== null) return items.bytes;
  const value = await runs.valueText(
    { runId, what: "step_output", stepId, item: null },
    { from: 0, chars: 0 },
  );
  return value?.chars ?? 0;
}

/** The output of a step as expressions read it; for a fan-out or a loop, with all its items. */
async function outputOf(
  runs: Runs,
  runId: string,
  { stepId, items }: StepRecord,
): Promise<Record<string, unknown>> {
  if (items === null) return (await runs.output({ runId, stepId, item: null })) ?? {};
  const results = await runs.itemOutputs({ runId, stepId });
  return {
    items: results.map(({ output, state, error }) =>
      Object.assign({}, output, { status: toStepStatus(state), error }),
    ),
  };
}

const tooLarge = (path: string): Issue => ({
  path: `${path}.from_run`,
  code: "too_large",
  message: `has outputs of more than ${MAX_TAKEN_CHARS / 1024 / 1024} MiB of JSON`,
  fix: "Choose fewer steps with steps.",
});
