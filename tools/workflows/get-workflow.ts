import { z } from "zod";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { text } from "../../schemas/text.ts";
import {
  DetailedWorkflow,
  Version,
  WorkflowIdRef,
  type WorkflowWithDefinition,
} from "../../schemas/workflow.ts";
import { visibilityOf } from "../../src/core/access.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { lastReviewOf } from "../reviews/last-review.ts";
import { scheduleState } from "../schedules/schedule-state.ts";
import { idOf, type Step, stepsOf, unknownStep } from "./definition-steps.ts";
import { workflowEtag } from "./etag.ts";
import { findVersion } from "./find-version.ts";
import { lastRunOf } from "./last-run.ts";

/** Maximum number of versions in the answer. */
const MAX_VERSIONS = 20;

export const getWorkflow = defineTool({
  name: "get_workflow",
  title: "Get a workflow",
  description:
    "Returns one workflow with its definition (beside a newer draft also the published one), version and callers. Before " +
    "update_workflow; send its version as if_match.",
  route: "GET /workflows/:workflow_id",
  scope: "read",
  effect: "read",
  selectable: true,
  errors: ["workflow_not_found", "version_not_found"],
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    version: Version.optional().meta({ description: "Also this version, with its definition.", example: 3 }),
    include: z
      .array(z.enum(["last_run", "last_review", "versions", "schedule", "text"]))
      .max(5)
      .default([])
      .meta({ description: "What to add; versions: who, with which key, changed what and why." }),
    steps: z
      .array(text(64, 1))
      .min(1)
      .max(100)
      .optional()
      .meta({
        description: "Ids of steps: only these, in place of the definition.",
        example: ["revenue"],
      })
      .register(shortSchemas, {
        type: "array",
        items: { type: "string" },
        description: "Only these steps (ids), no definition.",
      }),
  }),
  output: DetailedWorkflow,
  etag: (output) => (output.schedule === undefined ? workflowEtag(output) : undefined),
  // What `include` and `version` add changes without a change of a workflow. A limited caller also sees what other projects offer.
  revision: async (ctx, { include, version }) =>
    include.length > 0 || version !== undefined || visibilityOf(ctx.actor.principal.access, "read") !== null
      ? undefined
      : String(await ctx.read.workflows.revision()),
  async run({ workflow_id, version, include, steps }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    const found = steps === undefined ? workflow : withSteps(workflow, steps);
    const { id, published_version: published } = found;
    const used_by = await ctx.read.workflows.callers(id, { published: false });
    const isDraftNewer =
      published !== null && published < found.version && found.status === "published" && steps === undefined;
    const live = isDraftNewer ? await ctx.read.workflows.findVersion(id, published) : undefined;
    const schedule = include.includes("schedule") ? await ctx.read.schedules.find(id) : undefined;
    return {
      ...found,
      used_by,
      ...(include.includes("text") && {
        definition_text: await ctx.read.workflows.versionText(id, found.version),
      }),
      ...(live?.definition && { published_definition: live.definition }),
      ...(version !== undefined && {
        requested_version: await findVersion(ctx.read.workflows, found, version),
      }),
      ...(include.includes("last_run") && {
        last_run: lastRunOf((await ctx.read.runs.latestByWorkflow([id])).get(id)),
      }),
      ...(include.includes("last_review") && { last_review: await lastReviewOf(ctx, id) }),
      ...(include.includes("versions") && {
        versions: await ctx.read.workflows.versions({
          id,
          before: null,
          limit: MAX_VERSIONS,
          withDefinition: false,
        }),
      }),
      ...(include.includes("schedule") && {
        schedule: schedule === undefined ? null : scheduleState(ctx, schedule),
      }),
    };
  },
});

/**
 * A workflow with single steps in place of its definition.
 * @throws AppError invalid_input with an issue for each id that no step has
 */
function withSteps(
  { definition, ...workflow }: WorkflowWithDefinition,
  ids: readonly string[],
): Omit<WorkflowWithDefinition, "definition"> & { steps: Step[] } {
  const all = stepsOf(definition ?? {});
  const found = ids.map((id) => all.find((step) => idOf(step) === id));
  const issues = ids.flatMap((id, index) =>
    found[index] === undefined ? [unknownStep(all, id, `steps[${index}]`)] : [],
  );
  if (issues.length > 0) throw invalidInput(issues);
  return { ...workflow, steps: found as Step[] };
}
