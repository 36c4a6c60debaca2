import { z } from "zod";
import { Run, RunInputs, WaitSeconds } from "../../schemas/run.ts";
import { IdempotencyKey, Version, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { runActor } from "./run-actor.ts";
import { runLocation, startAndWait } from "./start-run.ts";

export const runWorkflow = defineTool({
  name: "run_workflow",
  title: "Run a workflow",
  description:
    "Runs a workflow (its published version, unless version is given) and waits for it. Returns the output, the error, or, " +
    "while it is still running, its id and what to do next.",
  route: "POST /workflows/:workflow_id/runs",
  scope: "run",
  effect: "act",
  openWorld: true,
  errors: [
    "workflow_not_found",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    inputs: RunInputs.default({}).meta({
      description: "The workflow's inputs, as its definition declares them.",
      example: { since: "2026-01-01" },
    }),
    version: Version.optional().meta({
      description: "Default: the published version, else the newest.",
      example: 3,
    }),
    wait: WaitSeconds.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Run,
  pollLocation: runLocation,
  run: ({ workflow_id, inputs, version, wait, idempotency_key }, ctx) =>
    startAndWait(
      ctx,
      () =>
        ctx.engine.prepareRun({
          workflowId: workflow_id,
          version,
          inputs,
          actor: runActor(ctx),
          trigger: ctx.actor.client.surface,
          trace: ctx.trace,
        }),
      { wait, repeatable: idempotency_key !== undefined },
    ),
});
