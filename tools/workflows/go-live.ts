/** What all operations that make a version live have in common. */
import type { z } from "zod";
import type { PublishedWorkflow as PublishedWorkflowSchema } from "../../schemas/exposure.ts";
import { DEFAULT_PROJECT, projectOf } from "../../schemas/project.ts";
import type { Workflow, WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { scopesIn } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { readExposure, saveConsent } from "./exposure.ts";
import { saveStarts } from "./save-starts.ts";

export type PublishedWorkflow = z.infer<typeof PublishedWorkflowSchema>;

/** Maximum number of times that the callers are checked, when other workflows change in between. */
const MAX_ATTEMPTS = 5;

/** Another workflow has changed since the callers were checked, so they are checked again. */
class CatalogueChanged extends Error {}

/**
 * Runs an effect in a transaction, after the callers of a workflow were checked against it.
 * @param check finds callers that would break; undefined for no check
 * @param effect calls `assertUnchanged` before it takes effect for callers: these are then those that were checked
 * @throws AppError callers_would_break, and those of the effect
 */
export async function whileCallersFit<T>(
  ctx: ToolContext,
  check: (() => Promise<void>) | undefined,
  effect: (tx: Writers, assertUnchanged: () => Promise<void>) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    // Of all projects: callers may belong to others.
    const revision = await unscoped(ctx.read).workflows.revision();
    await check?.();
    try {
      return await ctx.write((tx) =>
        effect(tx, async () => {
          if (attempt < MAX_ATTEMPTS && (await unscoped(tx).workflows.revision()) !== revision)
            throw new CatalogueChanged();
        }),
      );
    } catch (error) {
      if (!(error instanceof CatalogueChanged)) throw error;
    }
  }
}

/**
 * Makes a version live: runs use it from now on, its schedule starts, and an admin who does it allows it as a tool.
 * @param runsFor whom scheduled runs belong to
 */
export async function makeLive(
  ctx: ToolContext,
  tx: Writers,
  current: WorkflowWithDefinition,
  version: number,
  runsFor: ScheduleRecord["actor"] = ctx.actor.principal,
): Promise<PublishedWorkflow> {
  const updated = await tx.workflows.publish(current, { version, status: "published" });
  await saveStarts(ctx, tx, updated, runsFor);
  await recordPublished(ctx, tx, updated, version);
  await allowByPublishing(ctx, tx, updated.id);
  return withExposure(tx, updated);
}

/** Tells subscriptions that a version is live. */
export async function recordPublished(
  ctx: ToolContext,
  tx: Writers,
  workflow: Workflow,
  version: number,
): Promise<void> {
  await tx.outbox.record({
    type: "workflow.published",
    project: projectOf(workflow),
    workflowId: workflow.id,
    runId: null,
    at: iso(ctx.now()),
    data: { version, published_by: ctx.actor.principal.owner },
  });
}

/** Records the consent to expose a workflow as a tool when an admin publishes it. */
export async function allowByPublishing(ctx: ToolContext, tx: Writers, id: string): Promise<void> {
  const { access, owner } = ctx.actor.principal;
  const project = (await tx.workflows.projectOf(id)) ?? DEFAULT_PROJECT;
  if (!scopesIn(access, project).has("admin")) return;
  const { state, version, digest } = await readExposure(tx.workflows, id);
  if (state !== "requested") return;
  const consent = { digest, version: version!, allowedBy: owner, allowedAt: iso(ctx.now()) };
  await saveConsent(tx, id, consent, "exposed");
}

/** Adds whether agents get the workflow as a tool. */
export async function withExposure(tx: Writers, workflow: Workflow): Promise<PublishedWorkflow> {
  const { state, tool_name: toolName, warnings } = await readExposure(tx.workflows, workflow.id);
  if (state === "not_requested") return workflow;
  const detail =
    state === "allowed"
      ? "Agents get it as a tool of its own."
      : "It is published, but agents do not get it as a tool of its own until an admin allows it: on its page, or with " +
        `allow_exposure (POST /workflows/${workflow.id}/exposure/allow). With run_workflow it can be run now.`;
  const exposure = { state, detail, tool_name: toolName!, ...(warnings.length > 0 && { warnings }) };
  return { ...workflow, exposure };
}
