/** Triggers and their deliveries as the API returns them. */
import type { TriggerDelivery, TriggerState } from "../../schemas/trigger-delivery.ts";
import { projectField } from "../../schemas/project.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { TriggerDeliveryRecord, TriggerRecord } from "../../src/core/trigger-ports.ts";
import { runRefusal } from "./may-run.ts";

/**
 * Finds a trigger of a workflow's published version.
 * @throws AppError workflow_not_found, trigger_not_found
 */
export async function findTrigger(
  read: Pick<Readers, "workflows" | "triggers">,
  workflowId: string,
  name: string,
): Promise<TriggerRecord> {
  const { id, status } = await findWorkflow(read.workflows, workflowId);
  const triggers = await read.triggers.ofWorkflow(id);
  const found = triggers.find((trigger) => trigger.name === name);
  if (found !== undefined) return found;
  const names = triggers.map((trigger) => trigger.name).join(", ");
  throw new AppError(
    "trigger_not_found",
    `"${id}" has no trigger "${name.slice(0, 64)}": ` +
      (status !== "published"
        ? `it is ${status}, and only published workflows have some. Publish it (POST /workflows/${id}/publish).`
        : names === ""
          ? "its published version has none. Add `triggers` to its definition and publish it."
          : `its published version has ${names}.`),
  );
}

/** @throws AppError workflow_not_found, trigger_delivery_not_found */
export async function findDelivery(
  read: Pick<Readers, "workflows" | "triggerDeliveries">,
  workflowId: string,
  deliveryId: string,
): Promise<TriggerDeliveryRecord> {
  const { id } = await findWorkflow(read.workflows, workflowId);
  const found = await read.triggerDeliveries.find(deliveryId);
  if (found?.workflowId === id) return found;
  throw new AppError(
    "trigger_delivery_not_found",
    `"${id}" has received no delivery "${deliveryId.slice(0, 100)}", or it was purged. ` +
      `List its deliveries with GET /workflows/${id}/deliveries.`,
  );
}

/**
 * The URL is shown to those who may change the workflow: anyone who has it can send deliveries. Without a signature it starts runs, so
 * it is shown only to those who may do that themselves.
 */
export async function triggerState(ctx: ToolContext, record: TriggerRecord): Promise<TriggerState> {
  const { workflowId, project, version, name, createdAt, rotatedAt, actor } = record;
  const definition = await ctx.read.runs.versionDefinition(workflowId, version);
  const declared = TOP_FIELDS.triggers.parse(definition?.["triggers"])?.find(({ id }) => id === name);
  const signature = declared?.signature ?? null;
  const mayEdit = scopesIn(ctx.actor.principal.access, project).has("write");
  const showsUrl = mayEdit && (signature !== null || (await runRefusal(ctx, record)) === undefined);
  return {
    workflow_id: workflowId,
    ...projectField(project),
    id: name,
    version,
    type: "webhook",
    ...(showsUrl && { url: await ctx.engine.triggers.url(record) }),
    signature,
    created_at: createdAt,
    rotated_at: rotatedAt,
    owner: actor.owner,
  };
}

/** @param trigger the id of its trigger in the definition */
export const serializeTriggerDelivery = (
  record: TriggerDeliveryRecord,
  trigger: string,
): TriggerDelivery => ({
  id: record.id,
  workflow_id: record.workflowId,
  trigger,
  received_at: record.receivedAt,
  status: record.status,
  run_id: record.status === "started" ? record.runId : null,
  sender_id: record.senderId,
  repeats: record.repeats,
  bytes: record.bytes,
  code: record.code,
  reason: record.reason,
  redelivery_of: record.redeliveryOf,
  redelivered_by: record.redeliveredBy?.owner ?? null,
  has_body: record.hasEvent,
});

/** The id that the trigger of a delivery has in the definition. */
export async function triggerNameOf(
  { triggers }: Pick<Readers, "triggers">,
  { triggerId }: Pick<TriggerDeliveryRecord, "triggerId">,
): Promise<string> {
  return (await triggers.find(triggerId))?.name ?? triggerId;
}
