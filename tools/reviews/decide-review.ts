import { z } from "zod";
import { Review, ReviewDigest, ReviewId } from "../../schemas/review.ts";
import { visible } from "../../schemas/text.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { formatReviewPlan } from "../../src/core/format-plan.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { Readers, Writers } from "../../src/core/ports.ts";
import type { ReviewEnd } from "../../src/core/review-ports.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { deciderName } from "../approvals/decider-name.ts";
import { assertBacktested, auditAccepted } from "../backtests/backtest-rule.ts";
import { assertCallersFit } from "../workflows/broken-callers.ts";
import { publication } from "../workflows/callee-changes.ts";
import { makeLive, whileCallersFit } from "../workflows/go-live.ts";
import { findPublishableDefinition } from "../workflows/publishable-definition.ts";
import { type Decidable, decidedError, findDecidable } from "./find-decidable.ts";
import { planPublication, type PlannedPublication } from "./review-plan.ts";
import { findReview, serializeReview } from "./serialize-review.ts";

const Input = z.strictObject({
  review_id: ReviewId,
  decision: z
    .enum(["approve", "reject"])
    .meta({ description: "`approve` publishes the version at once.", example: "approve" }),
  digest: ReviewDigest.optional().meta({
    description: "To approve: the `digest` of get_review, so that what was read goes live and nothing else.",
    example: "q0aZr4mXw1kq0Zr4mXw5pX",
  }),
  comment: visible("lines", 2_000)
    .nullable()
    .default(null)
    .meta({ description: "The reason; needed to reject.", example: "Looks right." }),
  idempotency_key: IdempotencyKey.optional(),
});
type DecideInput = z.output<typeof Input>;

export const decideReview = defineTool({
  name: "decide_review",
  title: "Decide a change request",
  description:
    "Approves or rejects a change request. Approving publishes the version, if it and all that it reaches are still what the " +
    "digest stands for. Only for people, and not for who asked or wrote a part of it.",
  route: "POST /reviews/:review_id",
  surfaces: ["rest"],
  scope: "publish",
  requiresUser: true,
  effect: "act",
  openWorld: true,
  errors: [
    "review_not_found",
    "review_not_yours",
    "review_decided",
    "review_changed",
    "workflow_not_runnable",
    "callers_would_break",
    "backtest_unfinished",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  output: Review,
  async run(input, ctx) {
    assertComplete(input);
    if (input.decision === "reject") return reject(ctx, input);
    const decided = await approve(ctx, input);
    ctx.engine.wake();
    return decided;
  },
});

const missing = (path: string, fix: string) => ({ path, code: "missing", message: "is missing", fix });

/** @throws AppError invalid_input */
function assertComplete({ decision, digest, comment }: DecideInput): void {
  if (decision === "approve" && digest === undefined)
    throw invalidInput([
      missing("digest", "Read the change request (get_review), and send the digest of what you approve."),
    ]);
  if (decision === "reject" && (comment ?? "").trim() === "")
    throw invalidInput([missing("comment", "Say why, so that the author knows what to change.")]);
}

const endOf = (ctx: ToolContext, status: ReviewEnd["status"], comment: string | null): ReviewEnd => ({
  status,
  decidedAt: iso(ctx.now()),
  decidedBy: deciderName(ctx.actor.principal),
  comment,
});

const reject = (ctx: ToolContext, { review_id: id, comment }: DecideInput): Promise<Review> =>
  ctx.write(async (tx) => {
    const { review } = await findDecidable(tx, ctx.actor.principal, id);
    const end = endOf(ctx, "rejected", comment);
    await endReview(tx, id, end);
    await tx.recordAudit(id, "reject");
    return serializeReview(ctx, { ...review, ...end });
  });

async function approve(
  ctx: ToolContext,
  { review_id: reviewId, digest, comment }: DecideInput,
): Promise<Review> {
  const { principal } = ctx.actor;
  const asked = await findDecidable(ctx.read, principal, reviewId);
  await assertDigest(ctx, ctx.read, asked, digest!);
  const { id } = asked.workflow;
  const { version, plan } = asked.review;
  // Outside of the transaction, because the checker queries databases, which may be slow.
  const definition = await findPublishableDefinition(ctx, asked.workflow, version);
  const change = publication(id, new Map([[id, definition]]));
  const check = () => assertCallersFit(ctx, change, plan.break_callers);
  return whileCallersFit(ctx, check, async (tx, assertUnchanged) => {
    const decidable = await findDecidable(tx, principal, reviewId);
    const { review, workflow } = decidable;
    const planned = await assertDigest(ctx, tx, decidable, digest!);
    await assertUnchanged();
    const { backtest } = review;
    // What was tested is what was asked for, with the called workflows and the configuration of then.
    const isTested = planned.digest === review.digest;
    await assertBacktested(tx, workflow, { version, backtest: isTested ? backtest : null });
    const end = endOf(ctx, "approved", comment);
    await endReview(tx, reviewId, end, planned);
    await auditAccepted(tx, id, { version, backtest });
    await tx.workflows.addPublication({ id, version, backtest }, principal);
    // Its scheduled runs belong to who asked, as if publish_workflow had made it live at once.
    const { requestedBy: owner, keyName, lineage } = review;
    await makeLive(ctx, tx, workflow, version, { owner, keyName, lineage });
    await tx.recordAudit(reviewId, "approve");
    return serializeReview(ctx, { ...review, ...planned, ...end });
  });
}

/** @throws AppError review_decided when another decision was faster */
async function endReview(
  tx: Writers,
  id: string,
  end: ReviewEnd,
  decidedOn?: PlannedPublication,
): Promise<void> {
  if (!(await tx.reviews.endPending(id, end, decidedOn)))
    throw decidedError(await findReview(tx.reviews, id));
}

/**
 * Returns what would go live now, if the digest stands for it.
 * @throws AppError review_changed, workflow_not_runnable
 */
async function assertDigest(
  ctx: Pick<ToolContext, "engine" | "now">,
  read: Pick<Readers, "workflows" | "runs" | "projects">,
  { review: { id, version, plan }, workflow }: Decidable,
  digest: string,
): Promise<PlannedPublication> {
  const planned = await planPublication(ctx, read, workflow, version, plan.break_callers);
  if (planned.digest === digest) return planned;
  throw new AppError(
    "review_changed",
    `What ${id} would publish is no longer what you read: a called workflow, the configuration or the published version has ` +
      `changed. Nothing was published. ${formatReviewPlan(id, planned.plan)}\n` +
      `Read it again (GET /reviews/${id}). To approve this, send digest: "${planned.digest}".`,
    {
      errors: [
        {
          path: "digest",
          code: "review_changed",
          message: "is not the digest of what would be published",
          allowed: [planned.digest],
          fix: "Read the change request again, then send its digest.",
        },
      ],
    },
  );
}
