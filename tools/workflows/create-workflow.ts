import { z } from "zod";
import { ProjectInput, workflowIdPrefix } from "../../schemas/project.ts";
import {
  ApplyFixes,
  DefinitionInputOrNull,
  IdempotencyKey,
  Reason,
  SavedWorkflow,
  MAX_WORKFLOW_ID,
  WORKFLOW_ID_FORM,
  WorkflowDescription,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";
import { RunId } from "../../schemas/run.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { findingsOf, readDefinition } from "./check-definition.ts";
import { checkTrail } from "./check-trail.ts";
import { workflowEtag } from "./etag.ts";
import { readTrail } from "./read-trail.ts";

export const createWorkflow = defineTool({
  name: "create_workflow",
  title: "Create a workflow",
  description:
    "Creates a workflow as a draft; its id is a slug of its name. With a definition, issues lists what keeps it from " +
    "running: fix it with update_workflow, try it with run_workflow, then publish_workflow. " +
    "Read the language guide first: describe_environment.",
  route: "POST /workflows",
  scope: "write",
  effect: "create",
  selectable: true,
  errors: ["project_not_found", "run_not_found", "storage_limit_reached", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    name: WorkflowName,
    id: z
      .string()
      .max(MAX_WORKFLOW_ID)
      .regex(WORKFLOW_ID_FORM, {
        error: "must be lower-case letters, digits and -, starting with a letter or digit",
      })
      .optional()
      .meta({ description: "Default: a slug of the name.", example: "weekly-revenue" }),
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
    if (id !== undefined) assertIdFits(id, project);
    const options = { project, applyFixes: apply_fixes };
    const checked =
      trail !== undefined
        ? await checkTrail(ctx, trail.steps, options)
        : source === null
          ? null
          : await readDefinition(ctx, source, options);
    return ctx.write(async (tx) => {
      await ctx.engine.assertMayStore(tx, ctx.actor.principal, project);
      const content = { name, description, tags, definition: checked?.definition ?? null };
      const change = { kind: "created", reason, actor: ctx.actor, source: checked?.source ?? null } as const;
      const saved = await tx.workflows.insert(content, change, { id, project }).catch((error: unknown) => {
        throw error instanceof AppError && error.code === "version_conflict" ? idTaken() : error;
      });
      return { ...saved, ...(checked && findingsOf(checked)) };
    });
  },
});

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

/** @throws AppError invalid_input unless the id shows its project, as all ids do */
function assertIdFits(id: string, project: string): void {
  const prefix = workflowIdPrefix(project);
  const fits = prefix === "" ? !id.includes(".") : id.startsWith(prefix);
  if (fits) return;
  const fix = prefix === "" ? "Write it without a dot." : `Write ${prefix}${id.split(".").at(-1)}.`;
  throw invalidInput([
    { path: "id", code: "wrong_format", message: `does not belong to the project "${project}"`, fix },
  ]);
}

const idTaken = () =>
  invalidInput([
    {
      path: "id",
      code: "taken",
      message: "is used already, and ids can't be reused",
      fix: "Choose another id.",
    },
  ]);
