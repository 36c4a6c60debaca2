import { z } from "zod";
import {
  ApplyFixes,
  DefinitionInputOrNull,
  IfMatch,
  Reason,
  SavedWorkflow,
  type WorkflowWithDefinition,
  WorkflowDescription,
  WorkflowIdRef,
  WorkflowName,
  WorkflowTags,
} from "../../schemas/workflow.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { WorkflowContent } from "../../src/core/ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findingsOf, readDefinition } from "./check-definition.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { applyPatch, Patch } from "./patch.ts";

/** Maximum number of times that a patch is applied, when concurrent changes come in between. */
const MAX_ATTEMPTS = 5;

export const updateWorkflow = defineTool({
  name: "update_workflow",
  title: "Update a workflow",
  description:
    "Changes a workflow: the fields that you send replace the old ones; patch changes single steps. Creates a new version as " +
    "a draft: the published version stays live until publish_workflow. issues lists what keeps the definition from running. " +
    "if_match (the version you started from) protects others' edits.",
  route: "PATCH /workflows/:workflow_id",
  scope: "write",
  effect: "update",
  errors: ["workflow_not_found", "workflow_archived", "version_conflict", "storage_limit_reached"],
  headers: { if_match: "If-Match" },
  example: { description: "Revenue by region for the last seven days, net.", reason: "Net figures" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    name: WorkflowName.optional(),
    description: WorkflowDescription.optional(),
    tags: WorkflowTags.optional(),
    definition: DefinitionInputOrNull.optional(),
    patch: Patch.optional(),
    apply_fixes: ApplyFixes,
    reason: Reason.nullable().default(null),
    if_match: IfMatch.optional(),
  }),
  output: SavedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, if_match, reason, definition, patch, apply_fixes, ...fields }, ctx) {
    if (definition !== undefined && patch !== undefined) throw patchAndDefinitionError();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const base = await findWorkflow(ctx.read.workflows, workflow_id);
      assertChangeable(base);
      // Checked outside of the transaction, because the checker queries databases, which may be slow.
      const isBased = patch !== undefined || (apply_fixes && definition === undefined);
      const patched = patch === undefined ? base.definition : applyPatch(base.definition, patch);
      const source = isBased ? (patched ?? undefined) : definition;
      const checked =
        source === undefined || source === null
          ? undefined
          : await readDefinition(ctx, source, base.id, apply_fixes);
      const saved = await ctx.write(async (tx) => {
        const current = await findWorkflow(tx.workflows, workflow_id);
        assertChangeable(current);
        if (isBased && current.version !== base.version) return undefined;
        const { name, description, tags, status } = current;
        const before = { name, description, tags, definition: current.definition, status };
        const changed =
          source === null ? { definition: null } : checked && { definition: checked.definition };
        const after = { ...before, ...withoutUndefined(fields), ...changed };
        // No change makes no version, so a repeated request is harmless.
        if (canonicalJson(before) === canonicalJson(after)) return current;
        await ctx.engine.assertMayStore(tx, ctx.actor.principal);
        return tx.workflows.addVersion(current, after, { kind: "updated", reason, actor: ctx.actor });
      });
      if (saved !== undefined) return { ...saved, ...(checked && findingsOf(checked)) };
    }
    throw new AppError(
      "version_conflict",
      `"${workflow_id}" was changed by others ${MAX_ATTEMPTS} times while the patch was checked. Nothing was changed. Send the patch again.`,
    );

    function assertChangeable(workflow: WorkflowWithDefinition): void {
      assertVersionMatches(workflow, if_match);
      assertNotArchived(workflow);
    }
  },
});

const patchAndDefinitionError = () =>
  invalidInput([
    {
      path: "patch",
      code: "not_allowed",
      message: "can't be combined with definition",
      fix: "Send the whole definition, or a patch of the current one.",
    },
  ]);

const withoutUndefined = (fields: { [K in keyof WorkflowContent]?: WorkflowContent[K] | undefined }) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<WorkflowContent>;
