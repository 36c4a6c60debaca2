/** Writes the state of a workflow for a person or a key, with the audit entry. */
import type { StateChangeKind, WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { FIRST_STATE_REVISION } from "../../src/core/workflow-state-ports.ts";
import { type DeclaredState, toStateContent } from "./workflow-state-response.ts";

interface Options {
  kind: Exclude<StateChangeKind, "commit" | "import">;
  reason: string | undefined;
  /** Write only if this is still the revision. */
  ifMatch: number | undefined;
  /** The new values of the keys that the version declares; one that is left out gets its default. @param stored as it is now */
  valuesFrom(stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** @throws AppError version_conflict, storage_limit_reached */
export async function writeState(
  ctx: ToolContext,
  declared: DeclaredState,
  { kind, reason: given, ifMatch, valuesFrom }: Options,
): Promise<WorkflowStateContent> {
  const { workflowId, declaration, project } = declared;
  const { principal } = ctx.actor;
  const reason = given ?? null;
  return ctx.write(async (tx) => {
    await ctx.engine.assertMayStore(tx, principal, project);
    for (;;) {
      const stored = await tx.workflowStates.find(workflowId);
      const revision = stored?.revision ?? FIRST_STATE_REVISION;
      if (ifMatch !== undefined && ifMatch !== revision) throw stateConflict(workflowId, revision);
      // The keys of other versions, which this one does not declare, stay.
      const before = Object.entries(stored?.values ?? {});
      const others = before.filter(([key]) => !Object.hasOwn(declaration, key));
      const own = Object.fromEntries(before.filter(([key]) => Object.hasOwn(declaration, key)));
      const state = {
        values: { ...Object.fromEntries(others), ...valuesFrom(own) },
        updatedAt: iso(ctx.now()),
        updatedBy: principal.owner,
        change: { kind, reason, keyName: principal.keyName },
      };
      // Written since it was read: the next turn reads it again, and refuses if the caller named a revision.
      if (!(await tx.workflowStates.replace(workflowId, revision, state, usageSubjectOf(principal))))
        continue;
      await tx.recordAudit(workflowId, undefined, {
        details: { revision: revision + 1, ...(reason !== null && { reason }) },
      });
      return toStateContent(declared, { ...state, revision: revision + 1 });
    }
  });
}

const stateConflict = (workflowId: string, revision: number): AppError =>
  new AppError(
    "version_conflict",
    `The state of "${workflowId}" was written in the meantime (now revision ${revision}). Nothing was changed. Get it ` +
      "again, apply your change to it, and send that with the new ETag.",
  );
