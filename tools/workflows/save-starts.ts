import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../../src/core/clock.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { saveExpectation } from "./save-expectation.ts";
import { saveSchedule } from "./save-schedule.ts";

/**
 * Stores what starts runs of the published version without a caller: its schedule and its triggers; and within which time one
 * must succeed. What that version does not have is removed. A trigger keeps its URL.
 * @param actor whom the runs belong to; default: the caller
 */
export async function saveStarts(
  ctx: ToolContext,
  tx: Writers,
  workflow: WorkflowWithDefinition,
  actor: ScheduleRecord["actor"] = ctx.actor.principal,
): Promise<void> {
  await saveSchedule(ctx, tx, workflow, actor);
  const { id, published_version: version } = workflow;
  const definition = version === null ? null : await tx.runs.versionDefinition(id, version);
  await saveExpectation(ctx, tx, { id, version, definition, owner: actor.owner });
  const triggers = TOP_FIELDS.triggers.parse(definition?.["triggers"]) ?? [];
  if (version === null || triggers.length === 0) return tx.triggers.removeAll(id);
  const { owner, keyName, lineage } = actor;
  await tx.triggers.save(
    { workflowId: id, version, actor: { owner, keyName, lineage } },
    triggers.map((trigger) => trigger.id),
    iso(ctx.now()),
  );
}

/** Removes the schedule and the triggers, and what is expected, of a workflow that is no longer published. */
export async function removeStarts(
  tx: Pick<Writers, "schedules" | "triggers" | "expectations">,
  workflowId: string,
): Promise<void> {
  await tx.schedules.remove(workflowId);
  await tx.expectations.remove(workflowId);
  await tx.triggers.removeAll(workflowId);
}
