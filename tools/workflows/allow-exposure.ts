import { z } from "zod";
import { ConsentDigest, Exposure } from "../../schemas/exposure.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { readExposure, saveConsent } from "./exposure.ts";
import { keyMayStart } from "./live-changes.ts";

export const allowExposure = defineTool({
  name: "allow_exposure",
  title: "Allow a workflow as a tool",
  description:
    "Allows that agents get the published version as a tool of its own. The consent holds until the name, the description, " +
    "the inputs or what its runs reach change.",
  route: "POST /workflows/:workflow_id/exposure/allow",
  surfaces: ["rest"],
  scope: "admin",
  effect: "act",
  errors: ["workflow_not_found", "exposure_not_requested", "exposure_changed", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    digest: ConsentDigest,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Exposure,
  async run({ workflow_id, digest }, ctx) {
    const find = async () => {
      const { id: workflowId } = await findWorkflow(ctx.read.workflows, workflow_id);
      const { version } = await readExposure(ctx.read.workflows, workflowId);
      return version === null ? undefined : { workflowId, version };
    };
    const assertMayStart = await keyMayStart(ctx, find, "allow a tool that starts runs");
    return ctx.write(async (tx) => {
      const { id } = await findWorkflow(tx.workflows, workflow_id);
      const current = await readExposure(tx.workflows, id);
      if (current.version === null) {
        throw new AppError(
          "exposure_not_requested",
          `The published version of "${id}" does not ask to be a tool. Publish one with expose_as_tool: true first.`,
        );
      }
      if (current.digest !== digest) {
        throw new AppError(
          "exposure_changed",
          `What "${id}" shows to agents or reaches has changed since you read it. Nothing was allowed. ` +
            `Read it again with get_exposure (GET /workflows/${id}/exposure), then decide.`,
        );
      }
      if (current.state === "allowed") return current;
      await assertMayStart({ workflowId: id, version: current.version });
      await saveConsent(tx, id, {
        digest,
        version: current.version,
        allowedBy: ctx.actor.principal.owner,
        allowedAt: iso(ctx.now()),
      });
      return readExposure(tx.workflows, id);
    });
  },
});
