/** Who may make a version live without asking another person, in a project with review. */
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { unreviewedVersion } from "../../src/core/authorship.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { Principal } from "../../src/core/principal.ts";

/** Whether what goes live in the project of a workflow needs the review of another person. */
export async function isReviewed(
  read: Pick<Readers, "projects">,
  workflow: Pick<WorkflowWithDefinition, "project">,
): Promise<boolean> {
  return (await read.projects.find(projectOf(workflow)))?.review === true;
}

/**
 * Whether a caller who makes a version live must ask another person: every key, and anyone who wrote a part of it that nobody
 * else has reviewed. The operator at the command line need not, and a person need not for what another one has reviewed.
 */
export async function needsReview(
  read: Pick<Readers, "projects" | "workflows">,
  principal: Principal,
  workflow: WorkflowWithDefinition,
  version: number,
): Promise<boolean> {
  if (principal.kind === "operator" || !(await isReviewed(read, workflow))) return false;
  if (principal.kind === "key") return true;
  const { id, published_version: published } = workflow;
  const authorship = await read.workflows.authorship(id, version);
  return unreviewedVersion(principal, version, published, authorship) !== undefined;
}

/**
 * The same for what brings a published version to life again, or into another project: what is published says nothing then.
 * @param workflow as it would be
 */
export const needsReviewAgain = (
  read: Pick<Readers, "projects" | "workflows">,
  principal: Principal,
  workflow: WorkflowWithDefinition,
  version: number,
): Promise<boolean> => needsReview(read, principal, { ...workflow, published_version: null }, version);
