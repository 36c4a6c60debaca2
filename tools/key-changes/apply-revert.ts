/** Reverts one workflow inside a transaction. */
import type { WorkflowStatus, WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { WorkflowContent, Writers } from "../../src/core/ports.ts";
import { detailsOfRevert } from "../../src/core/workflow-change-details.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { savePaused } from "../schedules/schedule-state.ts";
import { saveConsent } from "../workflows/exposure.ts";
import { saveOffer } from "../workflows/save-offer.ts";
import { removeStarts, saveStarts } from "../workflows/save-starts.ts";
import { recordPublished } from "../workflows/go-live.ts";
import type { RevertPlan } from "./plan-revert.ts";

/**
 * Applies a plan. It stores nothing new beside the content of an earlier version, so the limit of stored bytes, which the key
 * may have used up, does not refuse it.
 * @param current as it was read in this transaction
 * @param plan that checkReverts has accepted for the caller
 */
export async function applyRevert(
  ctx: ToolContext,
  tx: Writers,
  current: WorkflowWithDefinition,
  { content, facts, record }: RevertPlan,
  reason: string,
): Promise<WorkflowWithDefinition> {
  const archived = facts.archived ?? current.status === "archived";
  const published = facts.published === undefined ? current.published_version : facts.published;
  const status: WorkflowStatus = archived ? "archived" : published === null ? "draft" : "published";
  let workflow = current;
  if (content !== undefined || facts.archived !== undefined) {
    const kind = content !== undefined ? "updated" : archived ? "archived" : "restored";
    const next = {
      ...(content?.value ?? current),
      ...(await textOf(tx, current.id, content)),
      status,
    } as const;
    workflow = await tx.workflows.addVersion(workflow, next, { kind, reason, actor: ctx.actor });
  }
  if (workflow.published_version !== published || workflow.status !== status)
    workflow = await tx.workflows.publish(workflow, { version: published, status });
  if (facts.archived !== undefined || facts.published !== undefined) {
    if (archived) await removeStarts(tx, workflow.id);
    else await saveStarts(ctx, tx, workflow);
  }
  if (facts.published !== undefined && facts.published !== null && !archived)
    await recordPublished(ctx, tx, workflow, facts.published);
  if (facts.paused !== undefined) {
    const schedule = await tx.schedules.find(workflow.id);
    if (schedule !== undefined && schedule.paused !== facts.paused)
      await savePaused(ctx, tx, schedule, facts.paused);
  }
  if (facts.consent !== undefined) await saveConsent(tx, workflow.id, facts.consent);
  if (facts.offers !== undefined) await saveOffer(ctx, tx, workflow.id, facts.offers);
  await tx.recordAudit(workflow.id, undefined, { details: detailsOfRevert(record) });
  return workflow;
}

/** The text of an earlier version, if its content returns as it was. */
async function textOf(
  { workflows }: Writers,
  id: string,
  content: RevertPlan["content"],
): Promise<Pick<WorkflowContent, "definition_text">> {
  if (content === undefined || content.isMerged) return {};
  return { definition_text: await workflows.versionText(id, content.from) };
}
