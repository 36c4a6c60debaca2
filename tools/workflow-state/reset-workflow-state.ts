import { z } from "zod";
import { IdempotencyKey, IfMatch, Reason, WorkflowIdRef } from "../../schemas/workflow.ts";
import { StateKeys, WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { unknownStateKey } from "../../src/core/workflow-state.ts";
import { findDeclaredState, stateEtag } from "./workflow-state-response.ts";
import { writeState } from "./write-state.ts";

export const resetWorkflowState = defineTool({
  name: "reset_workflow_state",
  title: "Reset a workflow's state",
  description:
    "Gives the keys of a workflow's state their defaults again: all of them, or those of keys. The reason stays in the history. " +
    "Runs that have started keep theirs, and their commit fails with `state_conflict`.",
  route: "POST /workflows/:workflow_id/state/reset",
  surfaces: ["rest"],
  scope: "write",
  effect: "update",
  readsValues: true,
  errors: [
    "workflow_not_found",
    "state_not_found",
    "version_conflict",
    "storage_limit_reached",
    "idempotency_key_reused",
  ],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    reason: Reason,
    keys: StateKeys.optional(),
    if_match: IfMatch.meta({
      description: "Reset it only if this is still its revision.",
      example: 17,
    }).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: WorkflowStateContent,
  etag: stateEtag,
  async run({ workflow_id, reason, keys, if_match }, ctx) {
    const declared = await findDeclaredState(ctx.read, workflow_id);
    const known = Object.keys(declared.declaration);
    const issues = (keys ?? []).flatMap((key, index) =>
      known.includes(key)
        ? []
        : [{ ...unknownStateKey(key, known), path: formatPath(["keys", index]), allowed: known }],
    );
    if (issues.length > 0) throw invalidInput(issues);
    const reset = new Set(keys ?? known);
    return writeState(ctx, declared, {
      kind: "reset",
      reason,
      ifMatch: if_match,
      valuesFrom: (stored) => Object.fromEntries(Object.entries(stored).filter(([key]) => !reset.has(key))),
    });
  },
});
