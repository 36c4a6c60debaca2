/** The triggers whose URLs a key replaced. A URL that was replaced never works again, so a revert can only replace it once more. */
import type { RotatedTrigger } from "../../schemas/key-changes.ts";
import { scopesIn } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { recordedOperation } from "../../src/core/recorded-operations.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { TriggerRecord } from "../../src/core/trigger-ports.ts";
import type { TriggerRotation } from "../../src/core/workflow-change-ports.ts";
import { replaceUrl } from "../triggers/replace-url.ts";

/** A trigger, with what a revert does to it. */
export interface TriggerByKey {
  /** Undefined where an older release recorded only a name that the published version does not have. */
  record: TriggerRecord | undefined;
  result: RotatedTrigger;
}

const ROTATION = "rotate_trigger";

/**
 * Reads the triggers as they are now.
 * @param rotations of workflows that the caller sees, the newest first
 * @param replace whether to replace their URLs once more
 */
export async function readTriggers(
  ctx: ToolContext,
  rotations: readonly TriggerRotation[],
  replace: boolean,
): Promise<TriggerByKey[]> {
  const byTrigger = Map.groupBy(rotations, ({ workflowId, trigger }) =>
    JSON.stringify([workflowId, trigger]),
  );
  const triggers: TriggerByKey[] = [];
  for (const [last, ...earlier] of byTrigger.values()) {
    const { workflowId, trigger, at } = last!;
    const record = await findRecord(ctx, last!);
    const base = { workflow_id: workflowId, trigger, count: earlier.length + 1, rotated_at: at };
    triggers.push({ record, result: { ...base, ...planOf(ctx, record, at, replace) } });
  }
  return triggers;
}

/** Also of a workflow that is not published now: a trigger keeps its URL for the next publication. */
async function findRecord(
  { read }: ToolContext,
  { workflowId, trigger, triggerId }: TriggerRotation,
): Promise<TriggerRecord | undefined> {
  const { triggers } = unscoped(read);
  if (triggerId !== null) return triggers.find(triggerId);
  return (await triggers.ofWorkflow(workflowId)).find(({ name }) => name === trigger);
}

type Plan = Pick<RotatedTrigger, "outcome" | "effects" | "reason" | "remains">;

const inForce = (more: Partial<Plan> = {}): Plan => ({
  outcome: "in_force",
  effects: [],
  reason: null,
  remains: [recordedOperation(ROTATION).remains],
  ...more,
});

function planOf(
  { actor }: ToolContext,
  record: TriggerRecord | undefined,
  rotatedAt: string,
  replace: boolean,
): Plan {
  if ((record?.rotatedAt ?? "") > rotatedAt)
    return { outcome: "unchanged", effects: [], reason: null, remains: [] };
  if (!replace || record === undefined) return inForce();
  if (!scopesIn(actor.principal.access, record.project).has("publish"))
    return skippedTrigger(
      "missing_scope",
      "Only editors and admins of its project can replace its URL. Ask one of them.",
    );
  return {
    outcome: "revertible",
    effects: ["its URL is replaced again: give its senders the new one"],
    reason: null,
    remains: [],
  };
}

const skippedTrigger = (code: string, message: string): Plan =>
  inForce({ outcome: "skipped", reason: { code, message } });

/** Replaces the URL of one trigger, unless somebody has done so since it was read. */
export async function revertTrigger(
  ctx: ToolContext,
  { record, result }: TriggerByKey,
): Promise<RotatedTrigger> {
  if (record === undefined || result.outcome !== "revertible") return result;
  try {
    const isReplaced = await ctx.write(
      (tx) => replaceUrl(ctx, tx, record),
      `${record.workflowId}.${record.id}`,
    );
    return isReplaced ? { ...result, outcome: "reverted" } : { ...result, outcome: "unchanged", effects: [] };
  } catch (error) {
    // The others are reverted all the same.
    if (error instanceof AppError && error.status < 500)
      return { ...result, ...skippedTrigger(error.code, error.message) };
    throw error;
  }
}
