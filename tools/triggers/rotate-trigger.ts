import { z } from "zod";
import { TriggerName, TriggerState } from "../../schemas/trigger-delivery.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { replaceUrl } from "./replace-url.ts";
import { keyMayStart } from "../workflows/live-changes.ts";
import { findTrigger, triggerState } from "./trigger-state.ts";

export const rotateTrigger = defineTool({
  name: "rotate_trigger",
  title: "Replace the URL of a trigger",
  description:
    "Replaces the URL of a trigger. The old one is refused from now on, so give its senders the new one.",
  route: "POST /workflows/:workflow_id/triggers/:trigger/rotate",
  surfaces: ["rest"],
  scope: "publish",
  effect: "act",
  errors: ["workflow_not_found", "trigger_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    trigger: TriggerName,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: TriggerState,
  async run({ workflow_id, trigger }, ctx) {
    const assertMayStart = await keyMayStart(
      ctx,
      () => findTrigger(ctx.read, workflow_id, trigger),
      "replace the URL, which starts runs",
    );
    return ctx.write(async (tx) => {
      const before = await findTrigger(tx, workflow_id, trigger);
      await assertMayStart(before);
      await replaceUrl(ctx, tx, before);
      return triggerState(ctx, await findTrigger(tx, workflow_id, trigger));
    });
  },
});
