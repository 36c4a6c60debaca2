/** Who may decide a change request. */
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { scopesIn } from "../../src/core/access.ts";
import { isContributor, unreviewedVersion } from "../../src/core/authorship.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { Principal } from "../../src/core/principal.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { findReview } from "./serialize-review.ts";

/** A change request that a caller may decide, with its workflow. */
export interface Decidable {
  review: ReviewRecord;
  workflow: WorkflowWithDefinition;
}

/**
 * Finds a change request that this caller may decide now.
 * @throws AppError review_not_found, review_not_yours, review_decided
 */
export async function findDecidable(
  read: Pick<Readers, "reviews" | "workflows">,
  principal: Principal,
  id: string,
): Promise<Decidable> {
  const review = await findReview(read.reviews, id);
  const workflow = await workflowOf(read, review);
  if (review.status !== "pending") throw decidedError(review);
  const reason = await whyNotDecidable(read, principal, review, workflow);
  if (reason === undefined) return { review, workflow };
  throw new AppError(
    "review_not_yours",
    `${reason} Another person with the scope "publish" must decide ${id}, who has no part in it.`,
  );
}

/** The workflow of a change request that a caller has found. It may have been moved to another project since. */
export const workflowOf = async (
  read: Pick<Readers, "workflows">,
  { workflowId }: Pick<ReviewRecord, "workflowId">,
): Promise<WorkflowWithDefinition> => (await unscoped(read).workflows.find(workflowId))!;

/** Says why a caller may not decide a pending change request; undefined if they may. */
export async function whyNotDecidable(
  read: Pick<Readers, "workflows">,
  principal: Principal,
  { version, project, requestedBy: owner, keyName, subject }: ReviewRecord,
  { id, published_version: published }: WorkflowWithDefinition,
): Promise<string | undefined> {
  if (principal.kind === "key") return "Only a person decides it, in the web interface.";
  if (!scopesIn(principal.access, project).has("publish"))
    return `Your role${project === DEFAULT_PROJECT ? "" : ` in the project "${project}"`} does not let you publish.`;
  if (isContributor(principal, { owner, keyName, subject }))
    return keyName === principal.keyName ? "You asked for it." : `Your key "${keyName}" asked for it.`;
  const authorship = await read.workflows.authorship(id, version);
  const written = unreviewedVersion(principal, version, published, authorship);
  return written === undefined
    ? undefined
    : `You wrote version ${written}, which nobody else has reviewed since.`;
}

/** The error for a change request that is no longer pending. */
export function decidedError({ id, status, decidedBy, decidedAt, workflowId }: ReviewRecord): AppError {
  const how: Readonly<Record<string, string>> = {
    withdrawn: "was withdrawn",
    replaced: "was replaced by a newer one",
    outdated: `is outdated, because "${workflowId}" was unpublished, archived or moved, or the version was published without it`,
  };
  const by = decidedBy === null ? "" : ` by ${decidedBy}`;
  return new AppError(
    "review_decided",
    `The change request ${id} ${how[status] ?? `was ${status}`}${by} at ${decidedAt}. Nothing was changed. ` +
      `GET /reviews?workflow_id=${workflowId} shows the pending one, if there is one.`,
  );
}
