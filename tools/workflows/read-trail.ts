/** Reads a trail: runs of single steps, in the order in which they become a workflow. */
import type { Issue } from "../../schemas/problem.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { callerMask } from "../runs/caller-mask.ts";
import { findRun } from "../runs/find-run.ts";
import { inputSourcesOf } from "../runs/single-step.ts";

/** A step of a trail, with what it was given and what it returned. */
export interface TrailStep {
  runId: string;
  step: Readonly<Record<string, unknown>> & { id: string; type: string };
  inputs: Readonly<Record<string, unknown>>;
  /** The runs that inputs were taken from, by name (`run_….rows`). */
  sources: Readonly<Record<string, string>>;
  output: unknown;
}

/**
 * Reads the runs of a trail.
 * @returns the steps, and the project of all of them
 * @throws AppError run_not_found; invalid_input with all runs that can't be a part of it
 */
export async function readTrail(
  ctx: ToolContext,
  ids: readonly string[],
): Promise<{ steps: TrailStep[]; project: string }> {
  const runs: RunRecord[] = [];
  for (const id of ids) runs.push(await findRun(ctx.read.runs, id));
  const issues = runs.flatMap((run, index) => trailIssue(run, index, runs) ?? []);
  if (issues.length > 0) throw invalidInput(issues);
  const masked = callerMask(ctx);
  const steps: TrailStep[] = [];
  for (const { id, definition } of runs) {
    await ctx.recordRead(id);
    steps.push(
      await masked<TrailStep>({
        runId: id,
        step: (definition!["steps"] as [TrailStep["step"]])[0],
        inputs: await ctx.read.runs.inputs(id),
        sources: inputSourcesOf(definition!),
        output: await ctx.read.runs.runOutput(id),
      }),
    );
  }
  return { steps, project: runs[0]!.project };
}

/** Why a run can't be a part of the trail. */
function trailIssue(run: RunRecord, index: number, runs: readonly RunRecord[]): Issue | undefined {
  const path = `from[${index}]`;
  if (run.workflowId !== null)
    return {
      path,
      code: "not_a_step",
      message: `is a run of the workflow "${run.workflowId}", not of a single step`,
      fix: "Name runs of run_step and query_database; a workflow can be called with a step of type workflow.",
    };
  if (run.status !== "succeeded")
    return {
      path,
      code: "no_output",
      message: `has no output: it is ${run.status}`,
      fix: "Leave it out, or name a run of the step that has succeeded.",
    };
  if (run.project !== runs[0]!.project)
    return {
      path,
      code: "other_project",
      message: `belongs to the project ${run.project}, the first one to ${runs[0]!.project}`,
      fix: "Name runs of one project.",
    };
  if (runs.findIndex(({ id }) => id === run.id) < index)
    return { path, code: "duplicate", message: "is named twice", fix: "Name it once." };
  return undefined;
}
