import { z } from "zod";
import { Exposure } from "../../schemas/exposure.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { readExposure, saveConsent } from "./exposure.ts";

export const withdrawExposure = defineTool({
  name: "withdraw_exposure",
  title: "Withdraw a workflow as a tool",
  description: "Withdraws the consent: agents no longer get the workflow as a tool. It stays published.",
  route: "POST /workflows/:workflow_id/exposure/withdraw",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  errors: ["workflow_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({ workflow_id: WorkflowIdRef, idempotency_key: IdempotencyKey.optional() }),
  output: Exposure,
  run: ({ workflow_id }, ctx) =>
    ctx.write(async (tx) => {
      const { id } = await findWorkflow(tx.workflows, workflow_id);
      const { state } = await readExposure(tx.workflows, id);
      if (state === "allowed") await saveConsent(tx, id, null);
      return readExposure(tx.workflows, id);
    }),
});
