import { z } from "zod";
import { ProjectIdRef, projectField, projectOf } from "../../schemas/project.ts";
import {
  BreakCallers,
  IdempotencyKey,
  IfMatch,
  ReturnedWorkflow,
  WorkflowIdRef,
  type WorkflowWithDefinition,
} from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { removeStarts } from "./save-starts.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { Principal } from "../../src/core/principal.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { detailsOfChange } from "../../src/core/workflow-change-details.ts";
import { findAdministered } from "../projects/find-project.ts";
import { needsReviewAgain } from "../reviews/review-rule.ts";
import { withUnpublished } from "../reviews/with-unpublished.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { relocation } from "./callee-changes.ts";
import { checkDefinition } from "./check-definition.ts";
import { whileCallersFit } from "./go-live.ts";
import { workflowEtag } from "./etag.ts";

export const moveWorkflow = defineTool({
  name: "move_workflow",
  title: "Move a workflow to another project",
  description:
    "Moves a workflow with its versions, schedule and state; it keeps its id. Its earlier and unfinished runs stay in their " +
    "project, and new ones start in the other one. Where that one requires review, a published version that nobody else has " +
    "reviewed arrives as a draft; unpublished in the answer says what to do. It needs the scope admin in both.",
  route: "POST /workflows/:workflow_id/move",
  surfaces: ["rest"],
  scope: "admin",
  effect: "update",
  openWorld: true,
  errors: [
    "workflow_not_found",
    "project_not_found",
    "workflow_not_runnable",
    "callers_would_break",
    "version_conflict",
    "idempotency_key_reused",
  ],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    project: ProjectIdRef,
    force: z.boolean().default(false).meta({
      description: "Move it even if its published version can't run in the other project.",
      example: false,
    }),
    break_callers: BreakCallers,
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: ReturnedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, project: requested, force, break_callers: allowed, if_match }, ctx) {
    const { principal } = ctx.actor;
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    assertVersionMatches(workflow, if_match);
    const { id: to } = await findAdministered(ctx, ctx.read.projects, requested);
    const isMoved = projectOf(workflow) === to;
    if (!force && !isMoved) await assertRunsIn(ctx, workflow, to);
    const check = async (): Promise<void> => {
      const asDraft = await losesPublication(ctx.read, principal, movedTo(workflow, to));
      await assertCallersFit(ctx, relocation(ctx, workflow, to, { asDraft }), allowed);
    };
    return whileCallersFit(ctx, isMoved ? undefined : check, async (tx, assertUnchanged) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      const from = projectOf(current);
      if (from === to) return current;
      await findAdministered(ctx, tx.projects, to);
      await assertUnchanged();
      await tx.workflows.move(current.id, to);
      await tx.recordAudit(current.id, undefined, { project: from, details: { to } });
      await tx.recordAudit(current.id, undefined, {
        project: to,
        details: detailsOfChange({ before: { project: from }, after: { project: to } }),
      });
      const moved = movedTo(current, to);
      if (!(await losesPublication(tx, principal, moved))) return moved;
      // What another person has not reviewed is not published in a project with review.
      await removeStarts(tx, moved.id);
      const status = moved.status === "archived" ? "archived" : "draft";
      const draft = await tx.workflows.publish(moved, { version: null, status });
      return withUnpublished(draft, moved.published_version!);
    });
  },
});

function movedTo(workflow: WorkflowWithDefinition, to: string): WorkflowWithDefinition {
  const { project: _, ...rest } = workflow;
  return { ...rest, ...projectField(to) };
}

/** Whether the published version of a moved workflow is no longer published, because nobody else has reviewed it. */
const losesPublication = async (
  read: Pick<Readers, "projects" | "workflows">,
  principal: Principal,
  moved: WorkflowWithDefinition,
): Promise<boolean> =>
  moved.published_version !== null &&
  (await needsReviewAgain(read, principal, moved, moved.published_version));

/**
 * Refuses to move a published workflow to where it would have issues that it does not have now.
 * @throws AppError workflow_not_runnable
 */
async function assertRunsIn(ctx: ToolContext, workflow: WorkflowWithDefinition, to: string): Promise<void> {
  const { id, published_version: version, status } = workflow;
  if (version === null || status === "archived") return;
  const definition = await ctx.read.runs.versionDefinition(id, version);
  if (definition === null) return;
  const issuesIn = async (project: string) =>
    (await checkDefinition(ctx, definition, { checkConnections: true, project, selfId: id })).errors;
  const after = await issuesIn(to);
  if (after.length === 0) return;
  const known = new Set((await issuesIn(projectOf(workflow))).map(({ path, code }) => `${path} ${code}`));
  const issues = after.filter(({ path, code }) => !known.has(`${path} ${code}`));
  if (issues.length === 0) return;
  const listed = issues.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
  throw new AppError(
    "workflow_not_runnable",
    `Nothing was moved: the published version of "${id}" can't run in the project "${to}": ${listed.join("; ")}. ` +
      "Grant the project what it needs, publish a version that needs less, or move it with force: true.",
    { errors: issues },
  );
}
