import { z } from "zod";
import { OfferProjects, WorkflowOffer } from "../../schemas/offer.ts";
import { EVERY_PROJECT } from "../../schemas/project.ts";
import { BreakCallers, IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { visibilityOf } from "../../src/core/access.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { projectNotFound } from "../projects/project-for.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { offering } from "./callee-changes.ts";
import { whileCallersFit } from "./go-live.ts";
import { keyMayStart } from "./live-changes.ts";
import { offerResponse } from "./offer-response.ts";
import { saveOffer } from "./save-offer.ts";

export const offerWorkflow = defineTool({
  name: "offer_workflow",
  title: "Offer a workflow to other projects",
  description:
    "Lets the workflows of other projects call the published version. They see its name, its inputs and its output_schema, " +
    "not what it does. It runs in its own project, with what that is granted. Replaces the offer before. It needs the scope " +
    "admin there, as allow_exposure does.",
  route: "POST /workflows/:workflow_id/offer",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  errors: [
    "workflow_not_found",
    "project_not_found",
    "workflow_archived",
    "callers_would_break",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    projects: OfferProjects,
    break_callers: BreakCallers,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: WorkflowOffer,
  async run({ workflow_id, projects, break_callers: allowed }, ctx) {
    await assertKnown(ctx, projects);
    const found = await findWorkflow(ctx.read.workflows, workflow_id);
    const { id: workflowId, published_version: live } = found;
    const find = async () => (live === null ? undefined : { workflowId, version: live });
    const assertMayStart = await keyMayStart(ctx, find, "offer it to callers");
    const check = () => assertCallersFit(ctx, offering(found, projects), allowed);
    const offered = await whileCallersFit(ctx, check, async (tx, assertUnchanged) => {
      const workflow = await findWorkflow(tx.workflows, workflow_id);
      assertNotArchived(workflow);
      const before = await tx.projects.offersOf(workflow.id);
      const after = projects.toSorted();
      if (before.join("\n") !== after.join("\n")) {
        await assertUnchanged();
        const { published_version: version } = workflow;
        if (projects.length > 0 && version !== null) await assertMayStart({ workflowId, version });
        await saveOffer(ctx, tx, workflow.id, after);
      }
      return { id: workflow.id, projects: after };
    });
    return offerResponse(offered.id, offered.projects, ctx.read.projects);
  },
});

/**
 * For somebody who sees every project an unknown id is a mistake. Others learn only which of them they can't see, because a
 * refusal would tell which projects exist.
 */
async function assertKnown({ actor, read }: ToolContext, projects: readonly string[]): Promise<void> {
  if (visibilityOf(actor.principal.access, "read")?.projects !== undefined) return;
  for (const id of projects)
    if (id !== EVERY_PROJECT && (await read.projects.find(id)) === undefined) throw projectNotFound(id);
}
