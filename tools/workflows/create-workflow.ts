import { z } from "zod";
import {
  IdempotencyKey,
  Reason,
  Workflow,
  WorkflowDefinitionOrNull,
  WorkflowDescription,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";

export const createWorkflow = defineTool({
  name: "create_workflow",
  title: "Create a workflow",
  description:
    "Creates a workflow as a draft and gives it back with its id, a slug of the name. " +
    "A name and a description are enough; the definition can follow with update_workflow.",
  route: "POST /workflows",
  scope: "write",
  effect: "create",
  errors: ["idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    name: WorkflowName,
    description: WorkflowDescription.default(""),
    tags: WorkflowTags.default([]),
    definition: WorkflowDefinitionOrNull.default(null),
    reason: Reason.nullable().default(null),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Workflow,
  etag: (workflow) => String(workflow.version),
  run: ({ name, description, tags, definition, reason }, ctx) =>
    ctx.write((tx) =>
      tx.workflows.insert(
        { name, description, tags, definition },
        { kind: "created", reason, actor: ctx.actor },
      ),
    ),
});
