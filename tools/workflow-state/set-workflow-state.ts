import { z } from "zod";
import { IfMatch, Reason, WorkflowIdRef } from "../../schemas/workflow.ts";
import { StateValues, WorkflowStateContent } from "../../schemas/workflow-state.ts";
import type { PartialIssue } from "../../src/core/connections.ts";
import type { AppError } from "../../src/core/errors.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import { callContextOf, defineTool } from "../../src/core/tool.ts";
import { findDeclaredState, stateEtag } from "./workflow-state-response.ts";
import { writeState } from "./write-state.ts";

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
    reason: Reason.optional(),
    if_match: IfMatch.meta({
      description: "Set it only if this is still its revision.",
      example: 17,
    }).optional(),
  }),
  output: WorkflowStateContent,
  etag: stateEtag,
  async run({ workflow_id, values, reason, if_match }, ctx) {
    const declared = await findDeclaredState(ctx.read, workflow_id);
    const issues = await ctx.engine.validation.stateIssues(declared.declaration, values, callContextOf(ctx));
    if (issues.length > 0) throw invalidValues(issues);
    return writeState(ctx, declared, { kind: "set", reason, ifMatch: if_match, valuesFrom: () => values });
  },
});

const invalidValues = (issues: readonly PartialIssue[]): AppError =>
  invalidInput(
    issues.map((issue) => Object.assign({}, issue, { path: formatPath(["values", ...(issue.path ?? [])]) })),
  );
