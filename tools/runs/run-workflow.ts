import { z } from "zod";
import { Given, givenParts } from "../../schemas/given.ts";
import type { Issue } from "../../schemas/problem.ts";
import { projectOf } from "../../schemas/project.ts";
import { Run, RunInputs, WaitSeconds } from "../../schemas/run.ts";
import {
  IdempotencyKey,
  Version,
  WorkflowIdRef,
  type WorkflowWithDefinition,
} from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { Trial } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { checkDefinition } from "../workflows/check-definition.ts";
import { resolveGiven } from "./given-outputs.ts";
import { runActor, runCaller } from "./run-actor.ts";
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
  selectable: true,
  readsValues: true,
  openWorld: true,
  errors: [
    "workflow_not_found",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
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
    given: Given.optional().meta({
      description:
        "A trial without effects: these outputs replace steps, by id; from_run takes them from a run.",
      example: { send: {} },
    }),
    wait: WaitSeconds.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  example: { inputs: { week: "2026-06-15" }, wait: 20 },
  output: Run,
  pollLocation: runLocation,
  run: ({ workflow_id, inputs, version, given, wait, idempotency_key }, ctx) =>
    startAndWait(
      ctx,
      async () =>
        ctx.engine.prepareRun({
          workflowId: workflow_id,
          caller: runCaller(ctx),
          version,
          inputs,
          ...(given !== undefined && { trial: await trialOf(ctx, { workflow_id, version, given }) }),
          actor: runActor(ctx),
          trigger: ctx.actor.client.surface,
          trace: ctx.trace,
        }),
      { wait, repeatable: idempotency_key !== undefined },
    ),
});

/** @throws AppError workflow_not_found, invalid_input (paths below `given`) */
async function trialOf(
  ctx: ToolContext,
  {
    workflow_id: id,
    version: requested,
    given,
  }: { workflow_id: string; version: number | undefined; given: Given },
): Promise<Trial> {
  const workflow = await findWorkflow(ctx.read.workflows, id);
  const { version, published_version: published } = workflow;
  const definition = await ctx.read.runs.versionDefinition(workflow.id, requested ?? published ?? version);
  // Where there is none, preparing the run says so.
  const resolved = await resolveGiven(ctx, definition === null ? {} : given, {
    path: "given",
    definition: definition ?? {},
  });
  if ("issues" in resolved) throw invalidInput(resolved.issues);
  const { outputs } = givenParts(given);
  const issues = definition === null ? [] : await unfitOutputs(ctx, workflow, definition, outputs);
  if (issues.length > 0) throw invalidInput(issues);
  return { given: resolved.given };
}

/** The issues of written outputs that the steps can't have. Recorded ones fit. */
async function unfitOutputs(
  ctx: ToolContext,
  workflow: Pick<WorkflowWithDefinition, "id" | "project">,
  definition: Record<string, unknown>,
  given: Record<string, unknown>,
): Promise<Issue[]> {
  if (Object.keys(given).length === 0) return [];
  const options = { checkConnections: true, project: projectOf(workflow), selfId: workflow.id, given };
  const { errors } = await checkDefinition(ctx, definition, options);
  return errors.filter(({ path }) => path.startsWith("given."));
}
