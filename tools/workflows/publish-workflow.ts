import { z } from "zod";
import { PublishedWorkflow } from "../../schemas/exposure.ts";
import { IdempotencyKey, IfMatch, Version, type Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Writers } from "../../src/core/ports.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { checkDefinition } from "./check-definition.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { readExposure } from "./exposure.ts";
import { runExamples } from "./run-examples.ts";
import { saveSchedule } from "./save-schedule.ts";

/** Maximum number of times that the callers are checked, when other workflows change in between. */
const MAX_ATTEMPTS = 5;

export const publishWorkflow = defineTool({
  name: "publish_workflow",
  title: "Publish a workflow",
  description:
    "Publishes a version: runs use it from now on, and its schedule starts (to stop it, publish a version without one). The " +
    "version must have no issues; its examples are run first and must return what they expect.",
  route: "POST /workflows/:workflow_id/publish",
  scope: "write",
  effect: "update",
  openWorld: true,
  errors: [
    "workflow_not_found",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "callers_would_break",
    "examples_failed",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "version_conflict",
    "idempotency_key_reused",
  ],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    version: Version.optional().meta({ description: "Default: the newest.", example: 3 }),
    break_callers: z
      .array(z.string())
      .max(1_000)
      .default([])
      .meta({ description: "Ids of callers that it may break." }),
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: PublishedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, version: requested, break_callers: allowed, if_match }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    assertVersionMatches(workflow, if_match);
    assertNotArchived(workflow);
    const version = requested ?? workflow.version;
    const isPublished = workflow.published_version === version && workflow.status === "published";
    const definition = isPublished
      ? undefined
      : await findPublishableDefinition(ctx, workflow.id, workflow.version, version);
    if (definition !== undefined) await runExamples(ctx, workflow.id, version, definition);
    for (let attempt = 1; ; attempt += 1) {
      const revision = await ctx.read.workflows.revision();
      if (definition !== undefined) await assertCallersFit(ctx, workflow.id, definition, allowed);
      try {
        return await publish(attempt < MAX_ATTEMPTS ? revision : undefined);
      } catch (error) {
        if (!(error instanceof CatalogueChanged)) throw error;
      }
    }

    /** @param checked the revision of the workflows that the callers were checked in; undefined to publish in any */
    async function publish(checked: number | undefined): Promise<PublishedWorkflow> {
      const published = await ctx.write(async (tx) => {
        const current = await findWorkflow(tx.workflows, workflow_id);
        assertVersionMatches(current, if_match);
        assertNotArchived(current);
        const isNewReview = await tx.workflows.addPublication(
          { id: current.id, version },
          ctx.actor.principal,
        );
        if (current.published_version === version) {
          // Who publishes what somebody else has published reviews it.
          if (isNewReview) await tx.recordAudit(current.id);
          await allowByPublishing(ctx, tx, current.id);
          return withExposure(tx, current);
        }
        if (checked !== undefined && (await tx.workflows.revision()) !== checked)
          throw new CatalogueChanged();
        const updated = await tx.workflows.publish(current, { version, status: "published" });
        await saveSchedule(ctx, tx, updated);
        await allowByPublishing(ctx, tx, updated.id);
        return withExposure(tx, updated);
      });
      ctx.engine.wake();
      return published;
    }
  },
});

type PublishedWorkflow = z.infer<typeof PublishedWorkflow>;

/** Records the consent to expose a workflow as a tool when an admin publishes it. */
async function allowByPublishing(ctx: ToolContext, tx: Writers, id: string): Promise<void> {
  const { scopes, owner } = ctx.actor.principal;
  if (!scopes.has("admin")) return;
  const { state, version, digest } = await readExposure(tx.workflows, id);
  if (state !== "requested") return;
  const consent = { digest, version: version!, allowedBy: owner, allowedAt: iso(ctx.now()) };
  await tx.workflows.allowExposure(id, consent);
  await tx.recordAudit(id, "exposed");
}

/** Adds whether agents get the workflow as a tool. */
async function withExposure(tx: Writers, workflow: Workflow): Promise<PublishedWorkflow> {
  const { state } = await readExposure(tx.workflows, workflow.id);
  if (state === "not_requested") return workflow;
  const detail =
    state === "allowed"
      ? "Agents get it as a tool of its own."
      : "It is published, but agents do not get it as a tool of its own until an admin allows it: on its page, or with " +
        `allow_exposure (POST /workflows/${workflow.id}/exposure/allow). With run_workflow it can be run now.`;
  return { ...workflow, exposure: { state, detail } };
}

/** Another workflow has changed since the callers were checked, so they are checked again. */
class CatalogueChanged extends Error {}

/** Finds the definition of a version and checks it. @throws AppError version_not_found, workflow_not_runnable */
async function findPublishableDefinition(
  ctx: ToolContext,
  id: string,
  newest: number,
  version: number,
): Promise<Record<string, unknown>> {
  if (version > newest) {
    throw new AppError("version_not_found", `"${id}" has no version ${version}; its newest is ${newest}.`);
  }
  const definition = await ctx.read.runs.versionDefinition(id, version);
  if (definition === null) {
    throw new AppError(
      "workflow_not_runnable",
      version === newest
        ? `Version ${version} of "${id}" has no definition yet, so there is nothing to publish. ` +
            `Add one with update_workflow (PATCH /workflows/${id}).`
        : `Version ${version} of "${id}" has no definition: the operator has pruned it, or it never had one. ` +
            "Publish another version.",
    );
  }
  const { errors } = await checkDefinition(ctx, definition, { checkConnections: true, selfId: id });
  if (errors.length === 0) return definition;
  throw new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" has ${errors.length} issue${errors.length === 1 ? "" : "s"} and was not published: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. Fix the definition with update_workflow, then publish again.`,
    { errors },
  );
}
