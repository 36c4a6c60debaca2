import { z } from "zod";
import {
  IfMatch,
  Reason,
  Workflow,
  WorkflowDefinitionOrNull,
  WorkflowDescription,
  WorkflowIdRef,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { expectVersion } from "./expect-version.ts";

export const updateWorkflow = defineTool({
  name: "update_workflow",
  title: "Update a workflow",
  description:
    "Changes a workflow: the fields you give replace the old ones, the others stay. Makes a new version; the old " +
    "ones stay in the history. With if_match (the version you started from) nobody's edit is overwritten.",
  route: "PATCH /workflows/:workflow_id",
  scope: "write",
  effect: "update",
  errors: ["workflow_not_found", "workflow_archived", "version_conflict"],
  headers: { if_match: "If-Match" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    name: WorkflowName.optional(),
    description: WorkflowDescription.optional(),
    tags: WorkflowTags.optional(),
    definition: WorkflowDefinitionOrNull.optional(),
    reason: Reason.nullable().default(null),
    if_match: IfMatch.optional(),
  }),
  output: Workflow,
  etag: (workflow) => String(workflow.version),
  run: ({ workflow_id, if_match, reason, ...fields }, ctx) =>
    ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      expectVersion(current, if_match);
      if (current.status === "archived") {
        throw new AppError(
          "workflow_archived",
          `"${current.id}" is archived and can't be changed. Restore it first (POST /workflows/${current.id}/restore).`,
        );
      }
      const { name, description, tags, definition, status } = current;
      const before = { name, description, tags, definition, status };
      const after = { ...before, ...defined(fields) };
      // What changes nothing makes no version: a repeated request is harmless.
      if (canonicalJson(before) === canonicalJson(after)) return current;
      return tx.workflows.advance(current, after, { kind: "updated", reason, actor: ctx.actor });
    }),
});

/** The fields that were given. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
