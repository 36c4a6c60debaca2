import { z } from "zod";
import { AcceptDifferences } from "../../schemas/backtest-rule.ts";
import { PublishedWorkflow } from "../../schemas/exposure.ts";
import {
  BreakCallers,
  IdempotencyKey,
  IfMatch,
  Reason,
  Version,
  WorkflowIdRef,
} from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { omit } from "../../src/core/omit.ts";
import { defineTool } from "../../src/core/tool.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import { assertBacktested, auditAccepted } from "../backtests/backtest-rule.ts";
import { assertSameDigest, passBacktest } from "../backtests/pass-backtest.ts";
import { endPublishedReview } from "../reviews/end-published-review.ts";
import { notifyReviewers } from "../reviews/notify-reviewers.ts";
import {
  changeReason,
  findSameRequest,
  isRequester,
  requestReview,
  withRequest,
} from "../reviews/request-review.ts";
import { needsReview } from "../reviews/review-rule.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { publication } from "./callee-changes.ts";
import { localTimes } from "../schedules/planned-schedule.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { allowByPublishing, makeLive, whileCallersFit, withExposure } from "./go-live.ts";
import { keyMayStart } from "./live-changes.ts";
import { findPublishableDefinition } from "./publishable-definition.ts";
import { runExamples } from "./run-examples.ts";

export const publishWorkflow = defineTool({
  name: "publish_workflow",
  title: "Publish a workflow",
  description:
    "Publishes a version: runs use it from now on, and its schedule starts. It must have no issues; its examples must pass, " +
    "and the backtest where one is needed. With review in the answer, a person decides.",
  route: "POST /workflows/:workflow_id/publish",
  scope: "publish",
  effect: "update",
  selectable: true,
  brief: (workflow) => omit(workflow, ["definition"]),
  openWorld: true,
  errors: [
    "workflow_not_found",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "callers_would_break",
    "examples_failed",
    "backtest_differs",
    "backtest_unfinished",
    "too_many_backtests",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
    "version_conflict",
    "idempotency_key_reused",
  ],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    version: Version.optional().meta({ description: "Default: the newest.", example: 1 }),
    break_callers: BreakCallers,
    accept_differences: AcceptDifferences,
    reason: Reason.optional().meta({ description: "For a reviewer.", example: "Fix" }),
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: PublishedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, version: requested, break_callers: allowed, reason, if_match, ...input }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    assertVersionMatches(workflow, if_match);
    assertNotArchived(workflow);
    const { id } = workflow;
    const version = requested ?? workflow.version;
    const isPublished = workflow.published_version === version && workflow.status === "published";
    const definition = isPublished ? undefined : await findPublishableDefinition(ctx, workflow, version);
    // Publishing it again can still expose it as a tool, and reviews it.
    const live = { workflowId: id, version };
    const assertMayStart = await keyMayStart(ctx, async () => (isPublished ? live : undefined), "publish it");
    const asked = { version, breakCallers: allowed, reason: reason ?? null };
    const mustAsk = !isPublished && (await needsReview(ctx.read, ctx.actor.principal, workflow, version));
    const accepted = input.accept_differences;
    const same = mustAsk ? await findSameRequest(ctx, ctx.read, { ...asked, workflow, accepted }) : undefined;
    if (same !== undefined) {
      if (reason === undefined || reason === same.reason) return withRequest(ctx, workflow, same);
      // With the reason of somebody else it is another request, which replaces this one.
      if (isRequester(ctx.actor.principal, same))
        return ctx.write(async (tx) => withRequest(ctx, workflow, await changeReason(tx, same, reason)));
    }
    // Before the examples, which need not run once more each time that a caller asks whether the backtest has ended.
    let passed = isPublished ? undefined : await passBacktest(ctx, { workflow, version, accepted });
    const { examples, warnings } =
      definition === undefined
        ? { examples: [], warnings: [] }
        : await runExamples(ctx, id, version, definition);
    const withWarnings = <T extends object>(answer: T) => ({
      ...answer,
      ...(warnings.length > 0 && { warnings }),
    });
    let review: ReviewRecord | undefined;
    const check =
      definition &&
      (async () => {
        await assertCallersFit(ctx, publication(id, new Map([[id, definition]])), allowed);
        const current = await findWorkflow(ctx.read.workflows, workflow_id);
        passed = await passBacktest(ctx, { workflow: current, version, accepted });
      });
    const published = await whileCallersFit(ctx, check, async (tx, assertUnchanged) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      assertNotArchived(current);
      const isLive = current.published_version === version;
      const backtest = passed?.backtest ?? null;
      if (!isLive) await assertBacktested(tx, current, { version, backtest });
      if (!isLive && passed !== undefined) await assertSameDigest(ctx, tx, { ...passed, current, version });
      if (!isLive && (await needsReview(tx, ctx.actor.principal, current, version))) {
        await assertUnchanged();
        review = await requestReview(ctx, tx, { ...asked, workflow: current, examples, backtest });
        return withWarnings(await withRequest(ctx, current, review));
      }
      if (isLive) await assertMayStart(live);
      const isNewReview = await tx.workflows.addPublication({ id, version, backtest }, ctx.actor.principal);
      if (isLive) {
        // Who publishes what somebody else has published reviews it.
        if (isNewReview) await tx.recordAudit(id);
        await allowByPublishing(ctx, tx, id);
        return withExposure(tx, current);
      }
      await assertUnchanged();
      await auditAccepted(tx, id, { version, backtest });
      await endPublishedReview(ctx, tx, current, version);
      return withWarnings(await makeLive(ctx, tx, current, version));
    });
    ctx.engine.wake();
    if (review !== undefined) await notifyReviewers(ctx, review);
    const schedule = review === undefined ? await ctx.read.schedules.find(id) : undefined;
    return schedule === undefined
      ? published
      : { ...published, next_runs: schedule.paused ? [] : localTimes(ctx, schedule) };
  },
});
