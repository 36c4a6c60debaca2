import { z } from "zod";
import { DEFAULT_GROUPS, GROUP_FIELDS, MAX_GROUPS, RunGroups } from "../../schemas/run-groups.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { text } from "../../schemas/text.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { groupQuery } from "./group-query.ts";
import { readGroups } from "./read-groups.ts";
import { Expression, runFilter, toRunFilter } from "./run-page.ts";

const { status, trigger, trial, since, until } = runFilter;

const expressions = (max: number) => z.array(Expression).max(max).optional();

export const groupRuns = defineTool({
  name: "group_runs",
  title: "Group runs",
  description:
    "Counts runs in groups, with the first and last run of each: by version, day, or a value. Answers which version or day a change came with, in one call.",
  route: "GET /runs/groups",
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "project_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Only of this workflow.",
      example: "weekly-revenue",
    }),
    project: ProjectFilter,
    status: status
      .meta({ description: "Only runs with one of these statuses.", example: ["failed"] })
      .register(shortSchemas, { type: "array", items: { type: "string" }, description: "As in list_runs." }),
    trigger: trigger
      .meta({ description: "Only runs started by this.", example: "schedule" })
      .register(shortSchemas, { type: "string", description: "As in list_runs." }),
    trial: trial
      .meta({ description: "Only trials, or none.", example: false })
      .register(shortSchemas, { type: "boolean", description: "Only trials, or none." }),
    since,
    until,
    where: Expression.optional()
      .meta({
        description:
          "Only runs for which this is true: an expression over `inputs`, `output`, `state`, `steps.<id>` (its output and status) and `run` " +
          "(`version`, `status`, `trigger`, `created_at`, `duration_ms`, `error`). Runs of which it has no value are left out, and counted in `without_value`.",
        example: 'output.total > 1000 && inputs.region == "north"',
      })
      .register(shortSchemas, {
        type: "string",
        description: 'Condition: output.total != 3 && steps.load.status == "failed" && run.version > 2.',
      }),
    group_by: expressions(4)
      .meta({
        description:
          `What the runs of a group have in common: ${GROUP_FIELDS.join(", ")}, or expressions as in \`where\`. ` +
          "Left out: one group of all runs.",
        example: ["version", "output.currency"],
      })
      .register(shortSchemas, {
        type: "array",
        items: { type: "string" },
        description: `${GROUP_FIELDS.join(", ")}; or expressions: output.total, inputs.n > 5.`,
      }),
    measures: expressions(5)
      .meta({
        description: "Numbers of which each group shows minimum, maximum, sum and mean, as expressions.",
        example: ["output.total", "run.duration_ms"],
      })
      .register(shortSchemas, {
        type: "array",
        items: { type: "string" },
        description: "Expressions: min, max, sum and mean in each group.",
      }),
    timezone: text(100, 1)
      .optional()
      .meta({ description: "Of hour, day and month. Default: UTC.", example: "Europe/Berlin" })
      .register(shortSchemas, { type: "string", description: "Such as Europe/Berlin; default: UTC." }),
    max_groups: z
      .int()
      .min(1)
      .max(MAX_GROUPS)
      .default(DEFAULT_GROUPS)
      .meta({ description: "Maximum number of groups: those with the most runs.", example: 50 })
      .register(shortSchemas, { type: "integer", description: "Groups; default: 50." }),
  }),
  output: RunGroups,
  async run(
    {
      workflow_id: workflowId,
      project,
      where,
      group_by: groupBy = [],
      measures = [],
      timezone,
      max_groups: maxGroups,
      ...filter
    },
    ctx,
  ) {
    await assertProjectFilter(ctx, project);
    const query = await groupQuery(ctx.engine, { where, groupBy, measures, timezone });
    const found = workflowId === undefined ? undefined : await findWorkflow(ctx.read.workflows, workflowId);
    return readGroups(
      { runs: ctx.read.runs, signal: ctx.signal },
      toRunFilter({ ...filter, project, workflow_id: found?.id }),
      query,
      maxGroups,
    );
  },
});
