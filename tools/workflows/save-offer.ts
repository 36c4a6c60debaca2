import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { detailsOfChange } from "../../src/core/workflow-change-details.ts";

/**
 * Replaces the projects that a workflow is offered to, with the audit entry.
 * @param projects not those that it is offered to already
 */
export async function saveOffer(
  ctx: ToolContext,
  tx: Pick<Writers, "projects" | "recordAudit">,
  workflowId: string,
  projects: readonly string[],
): Promise<void> {
  const before = await tx.projects.offersOf(workflowId);
  const after = projects.toSorted();
  await tx.projects.saveOffers(workflowId, after, ctx.actor.principal.owner, iso(ctx.now()));
  await tx.recordAudit(workflowId, undefined, {
    details: detailsOfChange({ before: { offers: before }, after: { offers: after } }),
  });
}
