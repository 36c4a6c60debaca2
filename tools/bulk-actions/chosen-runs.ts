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
  let read = 0;
  let more = false;
  for await (const page of named === null ? pagesOf(ctx, action, { input, before }) : [named]) {
    ctx.signal.throwIfAborted();
    if ((more = runs.length === MAX_BULK_RUNS || read >= MAX_READ)) break;
    read += page.length;
    const reasons = action === "retry" ? await reasonsToSkip(ctx, page, ids) : new Map<string, Reason>();
    for (const run of page) {
      const reason = reasons.get(run.id);
      if (reason !== undefined) {
        passed.push(run);
        skipped.push({ ...reason, runs: 1, first: [run.id] });
      } else if (runs.length < MAX_BULK_RUNS) runs.push(run);
      else more = true;
    }
  }
  if (runs.length + passed.length === 0)
    throw new AppError(
      "run_not_found",
      "No run fits the filter, so there is nothing to do. list_runs (GET /runs) lists runs with the same filter.",
    );
  // Those that are passed over say nothing about where the bulk action belongs, unless there are no others.
  const all = runs.length > 0 ? runs : passed;
  return {
    runs: runs.toSorted(oldestFirst),
    skipped: addUpSkipped(skipped),
    more,
    project: oneProject(all, input),
    workflows: new Set(all.map(({ workflowId }) => workflowId)),
  };
}

type Reason = Pick<SkippedRuns, "reason" | "message">;

/**
 * Why retries of runs are left to others: another run retries it, or another one started it, whose retry starts it again.
 * @param ids those of all runs, where the caller has named them: to name the run of a call is to mean it; null for a filter
 * @returns the reasons by run
 */
async function reasonsToSkip(
  ctx: ToolContext,
  runs: readonly RunRecord[],
  ids: ReadonlySet<string> | null,
): Promise<Map<string, Reason>> {
  const retried = await ctx.read.runs.retriedOf(runs.map(({ id }) => id));
  const reasons = new Map<string, Reason>();
  for (const run of runs) {
    if (retried.has(run.id)) reasons.set(run.id, { reason: "already_retried" });
    else if (run.parent !== null && (ids === null || (await isPartOf(ctx, run, ids))))
      reasons.set(run.id, {
        reason: "part_of_run",
        message: `${run.id} was started by ${run.parent.runId}: retry that one.`,
      });
  }
  return reasons;
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

/** The runs that fit, the newest first, in pages. The caller stops when it has enough. */
async function* pagesOf(
  ctx: ToolContext,
  action: Action,
  { input, before }: { input: ChosenRuns; before?: string | undefined },
): AsyncGenerator<readonly RunRecord[]> {
  await assertProjectFilter(ctx, input.project);
  if (input.workflow_id !== undefined) await findWorkflow(ctx.read.workflows, input.workflow_id);
  const filter = filterOf(action, input);
  const last = [filter.until, before].filter((time) => time !== undefined).toSorted()[0];
  let after: ListPosition | null = null;
  do {
    const page: { items: RunRecord[]; next: ListPosition | null } = await ctx.read.runs.page({
      filter: { ...filter, until: last },
      after,
      limit: PAGE,
    });
    yield page.items;
    after = page.next;
  } while (after !== null);
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
