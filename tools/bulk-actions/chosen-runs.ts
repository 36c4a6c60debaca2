/** The runs that a bulk action is to handle: those of a filter, or named ones. */
import { z } from "zod";
import { MAX_BULK_RUNS } from "../../schemas/bulk-action-limits.ts";
import type { SkippedRuns } from "../../schemas/bulk-action.ts";
import type { Issue } from "../../schemas/problem.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunId, type RunStatus } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ListPosition, RunFilter, RunRecord } from "../../src/core/model.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { addUpSkipped } from "../../src/core/skipped-runs.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { runFilter, toRunFilter } from "../runs/run-page.ts";

/** Number of runs that are read at a time, and at most, where many were retried already. */
const PAGE = 200;
const MAX_READ = 10_000;

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
  /** The oldest first. */
  runs: RunRecord[];
  /** Those that fit, and with which nothing happens. One of both lists has at least one. */
  skipped: SkippedRuns[];
  /** Whether more fit the filter. */
  more: boolean;
  /** The project of all of them, and their workflows; null stands for single steps. */
  project: string;
  workflows: ReadonlySet<string | null>;
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
  const named = input.run_ids === undefined ? null : await namedRuns(ctx, input.run_ids);
  const ids = named && new Set(named.map(({ id }) => id));
  const runs: RunRecord[] = [];
  const passed: RunRecord[] = [];
  const skipped: SkippedRuns[] = [];
  let more = false;
  for await (const run of named ?? filteredRuns(ctx, action, { input, before })) {
    if ((more = runs.length === MAX_BULK_RUNS)) break;
    const reason = action === "retry" ? await reasonToSkip(ctx, run, ids) : undefined;
    if (reason === undefined) runs.push(run);
    else {
      passed.push(run);
      skipped.push({ ...reason, runs: 1, first: [run.id] });
    }
  }
  more ||= runs.length + passed.length >= MAX_READ;
  if (runs.length + passed.length === 0)
    throw new AppError(
      "run_not_found",
      "No run fits the filter, so there is nothing to do. list_runs (GET /runs) lists runs with the same filter.",
    );
  const all = [...runs, ...passed];
  return {
    runs: runs.toSorted(oldestFirst),
    skipped: addUpSkipped(skipped),
    more,
    project: oneProject(all, input),
    workflows: new Set(all.map(({ workflowId }) => workflowId)),
  };
}

/**
 * Why a retry of a run is left to others: another run retries it, or another one started it, whose retry starts it again.
 * @param ids those of all runs, where the caller has named them: who names the run of a call means it; null for a filter
 */
async function reasonToSkip(
  ctx: ToolContext,
  run: RunRecord,
  ids: ReadonlySet<string> | null,
): Promise<Pick<SkippedRuns, "reason" | "message"> | undefined> {
  const { items } = await ctx.read.runs.page({ filter: { retryOf: run.id }, after: null, limit: 1 });
  if (items.length > 0) return { reason: "already_retried" };
  if (run.parent === null || (ids !== null && !(await isPartOf(ctx, run, ids)))) return undefined;
  return { reason: "part_of_run", message: `${run.parent.runId} started it: retry that one.` };
}

/** Whether one of these runs started it, or started what did: its retry starts it again. */
async function isPartOf(ctx: ToolContext, run: RunRecord, ids: ReadonlySet<string>): Promise<boolean> {
  // Runs between them may belong to a project that the caller can't see. Only whether there are some leaves this function.
  const { runs } = unscoped(ctx.read);
  for (let child: RunRecord | undefined = run; child !== undefined && child.parent !== null;) {
    const { runId } = child.parent;
    if (ids.has(runId)) return true;
    child = await runs.find(runId);
  }
  return false;
}

async function namedRuns(ctx: ToolContext, ids: readonly string[]): Promise<RunRecord[]> {
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
  return [...runs.values()];
}

/** The runs that fit, the newest first: up to `MAX_READ`, of which the caller takes as many as it needs. */
async function* filteredRuns(
  ctx: ToolContext,
  action: Action,
  { input, before }: { input: ChosenRuns; before?: string | undefined },
): AsyncGenerator<RunRecord> {
  await assertProjectFilter(ctx, input.project);
  if (input.workflow_id !== undefined) await findWorkflow(ctx.read.workflows, input.workflow_id);
  const filter = filterOf(action, input);
  const last = [filter.until, before].filter((time) => time !== undefined).toSorted()[0];
  let after: ListPosition | null = null;
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page: { items: RunRecord[]; next: ListPosition | null } = await ctx.read.runs.page({
      filter: { ...filter, until: last },
      after,
      limit: PAGE,
    });
    yield* page.items;
    after = page.next;
    if (after === null) return;
  }
}

const oldestFirst = (a: RunRecord, b: RunRecord): number =>
  a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;

/** One bulk action, one project: who may see it follows from that. @throws AppError invalid_input */
function oneProject(runs: readonly RunRecord[], { run_ids: ids }: ChosenRuns): string {
  const projects = [...new Set(runs.map(({ project }) => project))].toSorted();
  if (projects.length === 1) return projects[0]!;
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
