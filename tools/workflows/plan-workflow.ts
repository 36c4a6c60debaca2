import { z } from "zod";
import { projectOf } from "../../schemas/project.ts";
import { Version, WorkflowIdRef, type WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { WorkflowPlan } from "../../schemas/workflow-plan.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { formatWorkflowPlan } from "../../src/core/format-plan.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { sightOfCaller, visiblePlan } from "../../src/core/visible-plan.ts";
import { checkDefinition } from "./check-definition.ts";
import { expectedEffort } from "./expected-effort.ts";
import { plannedAlert } from "./planned-alert.ts";
import { plannedSchedule } from "../schedules/planned-schedule.ts";
import { plannedTriggers } from "../triggers/planned-triggers.ts";

export const planWorkflow = defineTool({
  name: "plan_workflow",
  title: "Plan a run",
  description:
    "Says what a run would read, write and send, and to whom, with rows, time and cost of past runs. Runs nothing.",
  route: "GET /workflows/:workflow_id/plan",
  scope: "read",
  effect: "read",
  selectable: true,
  errors: ["workflow_not_found", "version_not_found", "workflow_not_runnable"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    version: Version.optional().meta({
      description: "Default: the published version, else the newest.",
      example: 3,
    }),
  }),
  output: WorkflowPlan,
  async run({ workflow_id, version: requested }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    const { id, published_version: published } = workflow;
    const version = requested ?? published ?? workflow.version;
    const definition = await plannableDefinition(ctx, workflow, version);
    // Of every called workflow, whichever the caller can see; what it can't see is taken out afterwards.
    const { workflows: all } = await ctx.engine.publicationPlan(unscoped(ctx.read), {
      workflowId: id,
      version,
    });
    const workflows = (await visiblePlan(all, sightOfCaller(ctx.read))).map((planned) =>
      planned.role === "reviewed" ? Object.assign({}, planned, { role: "planned" as const }) : planned,
    );
    const steps = workflows[0]!.steps.filter(({ undo, lookup }) => undo !== true && lookup !== true);
    const plan = {
      workflow_id: id,
      version,
      workflows,
      schedule: plannedSchedule(ctx, definition),
      ...plannedTriggers(definition),
      ...plannedAlert(definition),
      saves_state: Object.keys(definition["commit"] ?? {}),
      expected: await expectedEffort(ctx, id, steps),
    };
    return { ...plan, words: formatWorkflowPlan(plan) };
  },
});

/** @throws AppError version_not_found; workflow_not_runnable where there is no definition, or one with issues */
async function plannableDefinition(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  version: number,
): Promise<Record<string, unknown>> {
  const { id, version: newest } = workflow;
  if (version > newest)
    throw new AppError("version_not_found", `"${id}" has no version ${version}; its newest is ${newest}.`);
  const definition = await ctx.read.runs.versionDefinition(id, version);
  if (definition === null)
    throw new AppError(
      "workflow_not_runnable",
      `Version ${version} of "${id}" has no definition, so there is nothing to plan. ` +
        `Add one with update_workflow (PATCH /workflows/${id}), or plan another version.`,
    );
  const { errors } = await checkDefinition(ctx, definition, {
    checkConnections: false,
    project: projectOf(workflow),
    selfId: id,
  });
  if (errors.length === 0) return definition;
  throw new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" has ${errors.length} issue${errors.length === 1 ? "" : "s"}, so it can't run: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. Fix the definition with update_workflow, then plan again.`,
    { errors },
  );
}
