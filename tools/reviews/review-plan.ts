/** What a change request is about: everything that goes live with a version, in words and as a digest. */
import type { ReviewPlan } from "../../schemas/review.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { AppError } from "../../src/core/errors.ts";
import { exposureOf } from "../../src/core/exposure.ts";
import type { Readers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { shortHash } from "../../src/core/short-hash.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { plannedAlert } from "../workflows/planned-alert.ts";
import { plannedSchedule } from "../schedules/planned-schedule.ts";
import { plannedTriggers } from "../triggers/planned-triggers.ts";

export interface PlannedPublication {
  plan: ReviewPlan;
  /**
   * Stands for the content of the version, what its runs can do with the called workflows and the configuration of now, and
   * the version that is published now.
   */
  digest: string;
  /** The version that is published now; null for none. */
  baseVersion: number | null;
}

/**
 * Describes what would go live with a version.
 * @param breakCallers ids of callers that may break
 * @throws AppError workflow_not_runnable when it has no definition, or calls a workflow that has no published version
 */
export async function planPublication(
  ctx: Pick<ToolContext, "engine" | "now">,
  limited: Pick<Readers, "workflows" | "runs" | "projects">,
  { id, published_version: baseVersion }: WorkflowWithDefinition,
  version: number,
  breakCallers: readonly string[],
): Promise<PlannedPublication> {
  // The same for every caller, whichever of the called workflows they may see.
  const read = unscoped(limited);
  const publication = await ctx.engine.publicationPlan(read, { workflowId: id, version });
  const draft = publication.workflows.find((called) => called.version === null)?.workflow_id ?? null;
  if (draft !== null) throw notPublished(id, version, draft);
  const { name, description, tags, ...rest } = (await read.workflows.findVersion(id, version))!;
  const definition = rest.definition ?? {};
  const asksForTool = definition["expose_as_tool"] === true;
  const tool = asksForTool ? await exposureOf(read.workflows, { id, name, description, definition }) : null;
  const broken = [...new Set(breakCallers)].toSorted();
  const plan: ReviewPlan = {
    workflows: publication.workflows,
    schedule: plannedSchedule(ctx, definition),
    ...plannedTriggers(definition),
    ...plannedAlert(definition),
    tool: tool && { effects: tool.effects, read_only: tool.readOnly },
    saves_state: Object.keys(definition["commit"] ?? {}),
    break_callers: broken,
  };
  const content = { name, description, tags, definition };
  const parts = [id, version, baseVersion, content, publication.digest, tool?.digest ?? null, broken];
  return { plan, digest: shortHash(canonicalJson(parts)), baseVersion };
}

const notPublished = (id: string, version: number, called: string): AppError =>
  new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" was not published: it calls "${called}", which has no published version, and in a project ` +
      `with review what is published calls nothing that was not reviewed. Publish "${called}" first.`,
    {
      errors: [
        {
          path: "steps",
          code: "not_published",
          message: `call "${called}", which has no published version`,
          fix: `Publish it first (POST /workflows/${called}/publish).`,
        },
      ],
    },
  );
