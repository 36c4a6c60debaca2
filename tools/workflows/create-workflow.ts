import { z } from "zod";
import {
  ApplyFixes,
  DefinitionInputOrNull,
  IdempotencyKey,
  Reason,
  SavedWorkflow,
  WorkflowDescription,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findingsOf, readDefinition } from "./check-definition.ts";
import { workflowEtag } from "./etag.ts";

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
  errors: ["storage_limit_reached", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    name: WorkflowName,
    description: WorkflowDescription.default(""),
    tags: WorkflowTags.default([]),
    definition: DefinitionInputOrNull.default(null),
    apply_fixes: ApplyFixes,
    reason: Reason.nullable().default(null),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: SavedWorkflow,
  etag: workflowEtag,
  async run({ name, description, tags, definition: source, apply_fixes, reason }, ctx) {
    const checked = source === null ? null : await readDefinition(ctx, source, undefined, apply_fixes);
    return ctx.write(async (tx) => {
      await ctx.engine.assertMayStore(tx, ctx.actor.principal);
      const content = { name, description, tags, definition: checked?.definition ?? null };
      const saved = await tx.workflows.insert(content, { kind: "created", reason, actor: ctx.actor });
      return { ...saved, ...(checked && findingsOf(checked)) };
    });
  },
});
