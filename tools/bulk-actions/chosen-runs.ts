/** The runs that a bulk action is to handle: those of a filter, or named ones. */
import { z } from "zod";
import { MAX_BULK_RUNS } from "../../schemas/bulk-action.ts";
import type { Issue } from "../../schemas/problem.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunId, type RunStatus } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ListPosition, RunFilter, RunRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { runFilter, toRunFilter } from "../runs/run-page.ts";

/** Number of runs that are read at a time. */
const PAGE = 200;

const { status, trigger, since, until } = runFilter;

/** Input fields that choose the runs. */
export const chosenRuns = {
  workflow_id: WorkflowIdRef.optional().meta({
    description: "Only runs of this workflow.",
    example: "weekly-revenue",
  }),
  project: ProjectFilter,
  status: status
    .meta({
      description:
        "Only runs with one of these statuses. Default: `failed` for `retry`, all unfinished ones for `cancel`.",
      example: ["failed"],
    })
    .register(shortSchemas, {
      type: "array",
      items: { type: "string" },
      description: "Default: failed for retry, all unfinished for cancel.",
    }),
  trigger: trigger
    .meta({ description: "Only runs started by this.", example: "schedule" })
    .register(shortSchemas, { type: "string", description: "As in list_runs." }),
  since,
  until,
  run_ids: z
    .array(RunId)
    .min(1)
    .max(MAX_BULK_RUNS)
    .optional()
    .meta({ description: "Instead of a filter: these runs.", example: ["run_8dkq2m0sfj3a"] }),
};
export type ChosenRuns = z.output<z.ZodObject<typeof chosenRuns>>;
type Action = "retry" | "cancel";

const ENDED: readonly RunStatus[] = ["succeeded", "failed", "cancelled"];
const UNFINISHED: readonly RunStatus[] = ["queued", "running", "waiting"];
const FILTERS = ["workflow_id", "project", "status", "trigger", "since", "until"] as const;

export interface Chosen {
  /** The oldest first; at least one. */
  runs: RunRecord[];
  /** Whether more fit the filter. */
  more: boolean;
}

/** Issues of the fields that choose the runs. */
export function issuesOfChoice(action: Action, input: ChosenRuns): Issue[] {
  const possible = action === "retry" ? ENDED : UNFINISHED;
  const ofStatus = (input.status ?? []).flatMap((one, index): Issue[] =>
    possible.includes(one)
      ? []
      : [
          {
            path: `status[${index}]`,
            code: "not_allowed",
            message: action === "retry" ? "is of runs that have not ended" : "is of runs that have ended",
            allowed: [...possible],
            fix: `Send ${possible.join(", ")}; or leave it out.`,
          },
        ],
  );
  const filters = input.run_ids === undefined ? [] : FILTERS.filter((name) => input[name] !== undefined);
  return [
    ...ofStatus,
    ...filters.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be combined with run_ids",
      fix: "Send run_ids, or a filter.",
    })),
  ];
}

/** The filter of a request without `run_ids`. A trial has no effects that anybody would miss. */
export const filterOf = (action: Action, input: ChosenRuns): RunFilter =>
  toRunFilter({
    ...input,
    status: input.status ?? (action === "retry" ? ["failed"] : [...UNFINISHED]),
    ...(action === "retry" && { trial: false }),
  });

/**
 * @param before only runs that were created before, as ISO text; left out, all
 * @throws AppError invalid_input, workflow_not_found, project_not_found, run_not_found
 */
export async function chooseRuns(
  ctx: ToolContext,
  action: Action,
  { input, before }: { input: ChosenRuns; before?: string | undefined },
): Promise<Chosen> {
  const chosen =
    input.run_ids === undefined
      ? await filtered(ctx, input, filterOf(action, input), before)
      : await named(ctx, input.run_ids);
  if (chosen.runs.length === 0)
    throw new AppError(
      "run_not_found",
      "No run fits the filter, so there is nothing to do. list_runs (GET /runs) lists runs with the same filter.",
    );
  assertOneProject(chosen.runs, input);
  return chosen;
}

async function named(ctx: ToolContext, ids: readonly string[]): Promise<Chosen> {
  const runs = new Map<string, RunRecord>();
  const issues: Issue[] = [];
  for (const [index, id] of ids.entries()) {
    const run = await ctx.read.runs.find(id);
    if (run === undefined)
      issues.push({ path: `run_ids[${index}]`, code: "not_found", message: "is not the id of a run" });
    else runs.set(id, run);
  }
  if (issues.length > 0)
    throw new AppError(
      "run_not_found",
      `${issues.length} of the run_ids are not those of runs, see errors. list_runs (GET /runs) lists runs; old ones are deleted.`,
      { errors: issues },
    );
  return { runs: [...runs.values()].toSorted(oldestFirst), more: false };
}

async function filtered(
  ctx: ToolContext,
  { project, workflow_id: workflowId }: ChosenRuns,
  filter: RunFilter,
  before: string | undefined,
): Promise<Chosen> {
  await assertProjectFilter(ctx, project);
  if (workflowId !== undefined) await findWorkflow(ctx.read.workflows, workflowId);
  const last = [filter.until, before].filter((time) => time !== undefined).toSorted()[0];
  const runs: RunRecord[] = [];
  let after: ListPosition | null = null;
  do {
    const page: { items: RunRecord[]; next: ListPosition | null } = await ctx.read.runs.page({
      filter: { ...filter, until: last },
      after,
      limit: Math.min(PAGE, MAX_BULK_RUNS - runs.length),
    });
    runs.push(...page.items);
    after = page.next;
  } while (after !== null && runs.length < MAX_BULK_RUNS);
  return { runs: runs.toReversed(), more: after !== null };
}

const oldestFirst = (a: RunRecord, b: RunRecord): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;

/** One bulk action, one project: who may see it follows from that. @throws AppError invalid_input */
function assertOneProject(runs: readonly RunRecord[], { run_ids: ids }: ChosenRuns): void {
  const projects = [...new Set(runs.map(({ project }) => project))].toSorted();
  if (projects.length < 2) return;
  const names = projects.slice(0, 10).join(", ");
  throw invalidInput([
    ids === undefined
      ? {
          path: "project",
          code: "ambiguous",
          message: `must be given, because the runs are of several projects: ${names}`,
          allowed: projects.slice(0, 10),
          fix: `Send project: "${projects[0]}", and the same request again for the next one.`,
        }
      : {
          path: "run_ids",
          code: "ambiguous",
          message: `must be of one project, but they are of ${names}`,
          fix: "Send the runs of one project, and the same request again for the next one.",
        },
  ]);
}
