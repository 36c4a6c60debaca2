/** The runs that a bulk action is to handle: those of a filter, or named ones. */
import { z } from "zod";
import { MAX_BULK_RUNS } from "../../schemas/bulk-action.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { RunId, type RunStatus } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ListPosition, RunRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { findRun } from "../runs/find-run.ts";
import { toRunFilter, runFilter } from "../runs/run-page.ts";

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
type ChosenRuns = z.output<z.ZodObject<typeof chosenRuns>> & { action: "retry" | "cancel" };

const ENDED: readonly RunStatus[] = ["succeeded", "failed", "cancelled"];
const UNFINISHED: readonly RunStatus[] = ["queued", "running", "waiting"];

interface Chosen {
  /** The oldest first; at least one. */
  runs: RunRecord[];
  /** Whether more fit the filter. */
  more: boolean;
}

/** @throws AppError invalid_input, workflow_not_found, project_not_found, run_not_found */
export async function chooseRuns(ctx: ToolContext, input: ChosenRuns): Promise<Chosen> {
  assertStatuses(input);
  const chosen = input.run_ids === undefined ? await filtered(ctx, input) : await named(ctx, input);
  if (chosen.runs.length === 0)
    throw new AppError(
      "run_not_found",
      "No run fits the filter, so there is nothing to do. list_runs (GET /runs) lists runs with the same filter.",
    );
  assertOneProject(chosen.runs);
  return chosen;
}

/** @throws AppError invalid_input */
function assertStatuses({ action, status: wanted = [] }: ChosenRuns): void {
  const possible = action === "retry" ? ENDED : UNFINISHED;
  const issues = wanted.flatMap((one, index) =>
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
  if (issues.length > 0) throw invalidInput(issues);
}

const FILTERS = ["workflow_id", "project", "status", "trigger", "since", "until"] as const;

async function named(ctx: ToolContext, input: ChosenRuns): Promise<Chosen> {
  const others = FILTERS.filter((name) => input[name] !== undefined);
  if (others.length > 0)
    throw invalidInput(
      others.map((path) => ({
        path,
        code: "not_allowed",
        message: "can't be combined with run_ids",
        fix: "Send run_ids, or a filter.",
      })),
    );
  const runs: RunRecord[] = [];
  for (const id of new Set(input.run_ids)) runs.push(await findRun(ctx.read.runs, id, "run_ids"));
  return { runs: runs.toSorted(oldestFirst), more: false };
}

async function filtered(ctx: ToolContext, input: ChosenRuns): Promise<Chosen> {
  await assertProjectFilter(ctx, input.project);
  if (input.workflow_id !== undefined) await findWorkflow(ctx.read.workflows, input.workflow_id);
  const filter = toRunFilter({
    ...input,
    status: input.status ?? (input.action === "retry" ? ["failed"] : [...UNFINISHED]),
    // A trial has no effects that anybody would miss.
    ...(input.action === "retry" && { trial: false }),
  });
  const runs: RunRecord[] = [];
  let after: ListPosition | null = null;
  do {
    const page: { items: RunRecord[]; next: ListPosition | null } = await ctx.read.runs.page({
      filter,
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
function assertOneProject(runs: readonly RunRecord[]): void {
  const projects = [...new Set(runs.map(({ project }) => project))].toSorted();
  if (projects.length < 2) return;
  throw invalidInput([
    {
      path: "project",
      code: "ambiguous",
      message: `must be given, because the runs are of several projects: ${projects.slice(0, 10).join(", ")}`,
      allowed: projects.slice(0, 10),
      fix: `Send project: "${projects[0]}", and the same request again for the next one.`,
    },
  ]);
}
