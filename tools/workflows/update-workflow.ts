import { z } from "zod";
import {
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
import { readDefinition } from "./check-definition.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { applyPatch, Patch } from "./patch.ts";

/** So often a patch is applied anew where somebody else's change came between. */
const TRIES = 5;

export const updateWorkflow = defineTool({
  name: "update_workflow",
  title: "Update a workflow",
  description:
    "Changes a workflow: fields you give replace the old ones, patch changes single steps. Makes a new version, as a " +
    "draft: what is published stays live until publish_workflow. faults lists what keeps the definition from running. " +
    "if_match (the version you started from) keeps others' edits.",
  route: "PATCH /workflows/:workflow_id",
  scope: "write",
  effect: "update",
  errors: ["workflow_not_found", "workflow_archived", "version_conflict"],
  headers: { if_match: "If-Match" },
  example: { description: "Revenue by region for the last seven days, net.", reason: "Net figures" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    name: WorkflowName.optional(),
    description: WorkflowDescription.optional(),
    tags: WorkflowTags.optional(),
    definition: DefinitionInputOrNull.optional(),
    patch: Patch.optional(),
    reason: Reason.nullable().default(null),
    if_match: IfMatch.optional(),
  }),
  output: SavedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, if_match, reason, definition: given, patch, ...fields }, ctx) {
    if (given !== undefined && patch !== undefined) throw bothGiven();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const seen = await findWorkflow(ctx.read.workflows, workflow_id);
      allow(seen);
      // Checked before the transaction: databases are asked, and that may take a while.
      const source = patch === undefined ? given : applyPatch(seen.definition, patch);
      const read =
        source === undefined || source === null ? undefined : await readDefinition(ctx, source, seen.id);
      const saved = await ctx.write(async (tx) => {
        const current = await findWorkflow(tx.workflows, workflow_id);
        allow(current);
        if (patch !== undefined && current.version !== seen.version) return undefined;
        const { name, description, tags, definition, status } = current;
        const before = { name, description, tags, definition, status };
        const wanted = source === null ? { definition: null } : read && { definition: read.definition };
        const after = { ...before, ...defined(fields), ...wanted };
        // What changes nothing makes no version: a repeated request is harmless.
        if (canonicalJson(before) === canonicalJson(after)) return current;
        return tx.workflows.addVersion(current, after, { kind: "updated", reason, actor: ctx.actor });
      });
      if (saved !== undefined) return { ...saved, ...(read && { issues: read.issues }) };
    }
    throw new AppError(
      "version_conflict",
      `"${workflow_id}" was changed again and again while the patch was checked. Nothing was changed. Send it again.`,
    );

    function allow(workflow: WorkflowWithDefinition): void {
      assertVersionMatches(workflow, if_match);
      assertNotArchived(workflow);
    }
  },
});

const bothGiven = () =>
  invalidInput([
    {
      path: "patch",
      code: "not_allowed",
      message: "can't stand beside definition",
      fix: "Give the whole definition, or a patch of the present one.",
    },
  ]);

/** The fields that were given. */
const defined = (fields: { [K in keyof WorkflowContent]?: WorkflowContent[K] | undefined }) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<WorkflowContent>;
