import { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { projectOf } from "../../schemas/project.ts";
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
import { changedParts } from "../../src/core/definition-changes.ts";
import type { BaseText } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { WorkflowContent, WorkflowReader, Writers } from "../../src/core/ports.ts";
import { omit } from "../../src/core/omit.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { findingsOf, readDefinition } from "./check-definition.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { assertMayChangeDraft, assertMayPublish, assertWithinKeyLimits } from "./live-changes.ts";
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
  selectable: true,
  brief: (workflow) => omit(workflow, ["definition"]),
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
      const baseText = await textOf(ctx.read.workflows, base);
      const isBased =
        patch !== undefined ||
        (apply_fixes && definition === undefined) ||
        (baseText !== null && typeof definition === "object");
      const patched = patch === undefined ? base.definition : applyPatch(base.definition, patch);
      const source = definition === undefined && isBased ? (patched ?? undefined) : definition;
      const checked =
        source === undefined || source === null
          ? undefined
          : await readDefinition(ctx, source, {
              project: projectOf(base),
              selfId: base.id,
              applyFixes: apply_fixes,
              baseText,
            });
      const saved = await ctx.write(async (tx) => {
        const current = await findWorkflow(tx.workflows, workflow_id);
        assertChangeable(current);
        if (isBased && current.version !== base.version) return undefined;
        const { name, description, tags, status } = current;
        const definition_text = await tx.workflows.versionText(current.id, current.version);
        const before = { name, description, tags, definition: current.definition, definition_text, status };
        const changed =
          source === null
            ? { definition: null, definition_text: null }
            : checked && { definition: checked.definition, definition_text: checked.text ?? null };
        const after = { ...before, ...withoutUndefined(fields), ...changed };
        // No change makes no version, so a repeated request is harmless.
        if (canonicalJson(before) === canonicalJson(after)) return current;
        await assertMayTakeEffect(ctx, tx, current, after, checked?.issues ?? []);
        await ctx.engine.assertMayStore(tx, ctx.actor.principal, projectOf(current));
        return tx.workflows.addVersion(current, after, { kind: "updated", reason, actor: ctx.actor });
      });
      if (saved !== undefined)
        return {
          ...saved,
          ...nextStep(saved),
          ...(checked && findingsOf(checked)),
          ...(patch !== undefined && {
            changed: changedParts(base.definition ?? {}, saved.definition ?? {}),
          }),
        };
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

/** The text of the newest version, which a change of its definition keeps as far as it can; null for none. */
async function textOf(
  workflows: Pick<WorkflowReader, "versionText">,
  { id, version, definition }: WorkflowWithDefinition,
): Promise<BaseText | null> {
  const text = definition === null ? null : await workflows.versionText(id, version);
  return text === null ? null : { text, definition: JSON.stringify(definition) };
}

/** Says which version is live when it is not the saved one. */
function nextStep({ version, status, published_version: live }: WorkflowWithDefinition): { next?: string } {
  if (status !== "published" || live === null || live === version) return {};
  return { next: `Version ${version} is a draft; version ${live} stays live until publish_workflow.` };
}

/**
 * A new definition of a published workflow is a draft, but its other fields take effect at once. If nothing is published, the
 * newest definition is what callers run.
 */
async function assertMayTakeEffect(
  ctx: ToolContext,
  tx: Writers,
  current: WorkflowWithDefinition,
  after: WorkflowContent,
  [issue]: readonly Issue[],
): Promise<void> {
  if (current.published_version === null) {
    await assertMayChangeDraft(ctx, tx, current);
    if (issue !== undefined)
      await assertWithinKeyLimits(
        ctx,
        tx,
        current,
        `the definition has issues: ${issue.path || "it"} ${issue.message}`,
      );
    return;
  }
  const live = ["name", "description", "tags"] as const;
  const changed = live.filter((field) => canonicalJson(current[field]) !== canonicalJson(after[field]));
  if (changed.length === 0) return;
  assertMayPublish(ctx, current, {
    change: `"${current.id}" is published, so a change of its ${changed.join(", ")}`,
    instead: "Send only the definition, which is saved as a draft, or ask a person.",
  });
}

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
