import { z } from "zod";
import { IfMatch, WorkflowIdRef } from "../../schemas/workflow.ts";
import { StateValues, WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { iso } from "../../src/core/clock.ts";
import type { PartialIssue } from "../../src/core/connections.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import { callContextOf, defineTool } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { FIRST_STATE_REVISION } from "../../src/core/workflow-state-ports.ts";
import { findDeclaredState, stateEtag, toStateContent } from "./workflow-state-response.ts";

export const setWorkflowState = defineTool({
  name: "set_workflow_state",
  title: "Set a workflow's state",
  description:
    "Replaces the values that later runs read as `state`: a key that you leave out gets its default again. Runs that have " +
    "started keep theirs, and their commit fails with `state_conflict`.",
  route: "PUT /workflows/:workflow_id/state",
  surfaces: ["rest"],
  scope: "write",
  effect: "update",
  readsValues: true,
  errors: ["workflow_not_found", "state_not_found", "version_conflict", "storage_limit_reached"],
  headers: { if_match: "If-Match" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    values: StateValues,
    if_match: IfMatch.meta({
      description: "Set it only if this is still its revision.",
      example: 17,
    }).optional(),
  }),
  output: WorkflowStateContent,
  etag: stateEtag,
  async run({ workflow_id, values, if_match }, ctx) {
    const declared = await findDeclaredState(ctx.read, workflow_id);
    const { workflowId, declaration } = declared;
    const issues = await ctx.engine.validation.stateIssues(declaration, values, callContextOf(ctx));
    if (issues.length > 0) throw invalidValues(issues);
    const { principal } = ctx.actor;
    return ctx.write(async (tx) => {
      await ctx.engine.assertMayStore(tx, principal, declared.project);
      const stored = await tx.workflowStates.find(workflowId);
      const revision = stored?.revision ?? FIRST_STATE_REVISION;
      if (if_match !== undefined && if_match !== revision) throw stateConflict(workflowId, revision);
      // The keys of other versions, which this one does not declare, stay.
      const others = Object.entries(stored?.values ?? {}).filter(([key]) => !Object.hasOwn(declaration, key));
      const state = {
        values: { ...Object.fromEntries(others), ...values },
        updatedAt: iso(ctx.now()),
        updatedBy: principal.owner,
      };
      if (!(await tx.workflowStates.replace(workflowId, revision, state, usageSubjectOf(principal))))
        throw stateConflict(workflowId, revision);
      await tx.recordAudit(workflowId);
      return toStateContent(declared, { ...state, revision: revision + 1 });
    });
  },
});

const invalidValues = (issues: readonly PartialIssue[]): AppError =>
  invalidInput(
    issues.map((issue) => Object.assign({}, issue, { path: formatPath(["values", ...(issue.path ?? [])]) })),
  );

const stateConflict = (workflowId: string, revision: number): AppError =>
  new AppError(
    "version_conflict",
    `The state of "${workflowId}" was written in the meantime (now revision ${revision}). Nothing was changed. Get it ` +
      "again, apply your change to it, and send that with the new ETag.",
  );
