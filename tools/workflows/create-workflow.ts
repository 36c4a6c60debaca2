import { z } from "zod";
import { ProjectInput, projectOf } from "../../schemas/project.ts";
import {
  ApplyFixes,
  DefinitionInputOrNull,
  IdempotencyKey,
  NewWorkflowId,
  Reason,
  SavedWorkflow,
  WorkflowDescription,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { omit } from "../../src/core/omit.ts";
import { defineTool } from "../../src/core/tool.ts";
import { idTakenError, workflowIdIssue } from "../../src/core/workflow-id.ts";
import { projectFor } from "../projects/project-for.ts";
import { RunId } from "../../schemas/run.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { WorkflowReader } from "../../src/core/ports.ts";
import { findingsOf, readDefinition } from "./check-definition.ts";
import { checkTrail } from "./check-trail.ts";
import { workflowEtag } from "./etag.ts";
import { readTrail } from "./read-trail.ts";

export const createWorkflow = defineTool({
  name: "create_workflow",
  title: "Create a workflow",
  description:
    "Creates a workflow as a draft. With a definition, issues lists what keeps it from running: fix with update_workflow, " +
    "try with run_workflow, then publish_workflow. Read the guide first: describe_environment.",
  route: "POST /workflows",
  scope: "write",
  effect: "create",
  selectable: true,
  // What a trail became is new to the caller.
  brief: (workflow, { from }) => ((from ?? null) === null ? omit(workflow, ["definition"]) : workflow),
  errors: [
    "project_not_found",
    "run_not_found",
    "workflow_id_taken",
    "storage_limit_reached",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    name: WorkflowName,
    id: NewWorkflowId.optional(),
    description: WorkflowDescription.default(""),
    tags: WorkflowTags.default([]),
    definition: DefinitionInputOrNull.default(null),
    from: z
      .array(RunId)
      .min(1)
      .max(50)
      .optional()
      .meta({
        description: "Instead of definition: runs of single steps, in order.",
        example: ["run_8dkq2m0sfj3a"],
      }),
    project: ProjectInput,
    apply_fixes: ApplyFixes,
    reason: Reason.nullable().default(null),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: SavedWorkflow,
  // Its examples would name a run that does not exist.
  example: {
    name: "Weekly revenue",
    description: "Revenue by region for the last seven days, in two sentences.",
    definition: { steps: [{ id: "hello", type: "set", values: { greeting: "Good morning" } }] },
  },
  etag: workflowEtag,
  async run(
    { name, id, description, tags, definition: source, from, project: requested, apply_fixes, reason },
    ctx,
  ) {
    if (from !== undefined && source !== null) throw twoSources();
    const trail = from === undefined ? undefined : await readTrail(ctx, from);
    if (trail !== undefined && requested !== undefined && requested !== trail.project)
      throw otherProject(trail.project);
    const project = await projectFor(ctx, "write", trail?.project ?? requested);
    const idIssue = id === undefined ? undefined : workflowIdIssue(id, project);
    if (idIssue !== undefined) throw invalidInput([{ path: "id", ...idIssue }]);
    const options = { project, applyFixes: apply_fixes, baseText: null };
    const checked =
      trail !== undefined
        ? await checkTrail(ctx, trail.steps, options)
        : source === null
          ? null
          : await readDefinition(ctx, source, options);
    return ctx.write(async (tx) => {
      await ctx.engine.assertMayStore(tx, ctx.actor.principal, project);
      if (id !== undefined) await assertFreeId(tx.workflows, id, project);
      const { definition = null, text: definition_text } = checked ?? {};
      const content = { name, description, tags, definition, definition_text };
      const saved = await tx.workflows.insert(
        content,
        { kind: "created", reason, actor: ctx.actor },
        { id, project },
      );
      return { ...saved, ...(checked && findingsOf(checked)) };
    });
  },
});

/** @throws AppError workflow_id_taken, with the workflow that has the id, if the caller can see it */
async function assertFreeId(workflows: WorkflowReader, id: string, project: string): Promise<void> {
  const holder = await unscoped(workflows).find(id);
  if (holder === undefined) return;
  if ((await workflows.projectOf(id)) === undefined) throw idTakenError(id);
  const place = projectOf(holder) === project ? "" : ` in the project "${projectOf(holder)}"`;
  throw idTakenError(id, `the ${holder.status} workflow "${holder.name}"${place}`);
}

const twoSources = () =>
  invalidInput([
    {
      path: "from",
      code: "not_allowed",
      message: "can't be combined with definition",
      fix: "Send one of them.",
    },
  ]);

const otherProject = (project: string) =>
  invalidInput([
    {
      path: "project",
      code: "not_allowed",
      message: `is not that of the runs, ${project}`,
      fix: "Leave it out; move_workflow moves the workflow afterwards.",
    },
  ]);
