/** `millrace reviews`: change requests on the command line. */
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { Review } from "../../schemas/review.ts";
import { decideReview } from "../../tools/reviews/decide-review.ts";
import { getReview } from "../../tools/reviews/get-review.ts";
import { listReviews } from "../../tools/reviews/list-reviews.ts";
import { withdrawReview } from "../../tools/reviews/withdraw-review.ts";
import { formatReviewPlan } from "../core/format-plan.ts";
import { describePassed } from "./backtest-report.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";

/** Maximum number of change requests that the list prints. */
const MAX_LISTED = 200;

/** Lists change requests, newest first. */
export async function showReviews(
  io: Io,
  { status, project, json }: { status: string; project?: string; json?: boolean },
): Promise<void> {
  const { items } = await withOperator(io, { requiresStateFor: "list change requests of" }, ({ call }) =>
    call<{ items: Review[] }>(listReviews, {
      status,
      limit: MAX_LISTED,
      ...(project !== undefined && { project }),
    }),
  );
  if (json) return io.out(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0) return io.out(`No change request is ${status}.\n`);
  // Nothing mentions projects while all of them belong to the default one.
  const hasProjects = items.some(({ project: of }) => of !== undefined);
  const rows = items.map((review) =>
    [review.id].concat(
      hasProjects ? (review.project ?? DEFAULT_PROJECT) : [],
      review.workflow_id,
      String(review.version),
      `${review.requested_by} (${review.key_name})`,
      formatTimestamp(review.requested_at),
    ),
  );
  const head = ["ID"].concat(
    hasProjects ? "PROJECT" : [],
    "WORKFLOW",
    "VERSION",
    "REQUESTED BY",
    "REQUESTED",
  );
  const line = alignColumns([head, ...rows]);
  io.out(`${paint(io).bold(line(head))}\n`);
  for (const row of rows) io.out(`${line(row)}\n`);
}

/** Prints a change request: the difference, what its runs can do, its examples, and the digest to approve it with. */
export async function showReview(io: Io, id: string, { json }: { json?: boolean }): Promise<void> {
  const review = await withOperator(io, { requiresStateFor: "show a change request of" }, ({ call }) =>
    call<Review>(getReview, { review_id: id }),
  );
  if (json) return io.out(`${JSON.stringify(review, null, 2)}\n`);
  const { green, red, dim, bold } = paint(io);
  const base = review.compared_with ?? null;
  io.out(`${bold(`Publish version ${review.version} of ${review.workflow_id}`)} (${review.status})\n`);
  io.out(`Requested by ${review.requested_by} (${review.key_name}) at ${review.requested_at}\n`);
  if (review.reason !== null) io.out(`Why: ${review.reason}\n`);
  io.out(`\nDifference to ${base === null ? "nothing, none is published" : `version ${base}`}:\n`);
  if (review.difference === null) io.out("The versions are too long to compare here.\n");
  for (const text of (review.difference ?? "").split("\n").slice(0, -1))
    io.out(`${text.startsWith("+") ? green(text) : text.startsWith("-") ? red(text) : dim(text)}\n`);
  io.out(`\n${formatReviewPlan(review.id, review.plan!)}\n`);
  const examples = review.examples ?? [];
  io.out(examples.length === 0 ? "It has no examples.\n" : `${examples.length} examples passed.\n`);
  if (review.backtest !== undefined) io.out(`Backtest: ${describePassed(review.backtest)}.\n`);
  if (review.status === "pending")
    io.out(`\nmillrace reviews approve ${review.id} --digest ${review.digest} publishes it.\n`);
  else if (review.comment !== null) io.out(`\nComment of ${review.decided_by}: ${review.comment}\n`);
}

/** Approves a change request, or rejects it. */
export async function decide(
  io: Io,
  id: string,
  decision: { decision: "approve" | "reject"; digest?: string; comment?: string; config?: string },
): Promise<void> {
  const { config, ...input } = decision;
  const review = await withOperator(io, { config }, ({ call }) =>
    call<Review>(decideReview, { review_id: id, ...input }),
  );
  io.out(
    review.status === "approved"
      ? `Published version ${review.version} of ${review.workflow_id}.\n`
      : `Rejected ${review.id}. Nothing was published.\n`,
  );
}

/** Withdraws a change request of the operator. */
export async function withdraw(io: Io, id: string): Promise<void> {
  await withOperator(io, {}, ({ call }) => call(withdrawReview, { review_id: id }));
  io.out(`Withdrew ${id}.\n`);
}
