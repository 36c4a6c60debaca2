/** Mails those who may decide a change request. Without the mail they still find it in the list. */
import { DEFAULT_PROJECT } from "../../schemas/project.ts";
import { MAX_PAGE } from "../../schemas/page.ts";
import { ROLE_SCOPES } from "../../schemas/user.ts";
import { unreviewedVersion } from "../../src/core/authorship.ts";
import { formatReviewPlan } from "../../src/core/format-plan.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { ReviewRecord } from "../../src/core/review-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { reviewUrl } from "./serialize-review.ts";

/** Maximum number of people who get a mail. */
const MAX_RECIPIENTS = 50;

/** Sends the mails after the change request is committed. The caller does not wait for the mail server. */
export async function notifyReviewers(ctx: ToolContext, review: ReviewRecord): Promise<void> {
  if (!ctx.accounts.mailEnabled) return;
  const to = await reviewersOf(ctx.read, review);
  const { id, workflowId, version, requestedBy, keyName, reason, plan } = review;
  const url = await reviewUrl(ctx, id);
  const notice = {
    subject: `Review needed: version ${version} of ${workflowId}`,
    text: [
      `${requestedBy} (${keyName}) asks to publish version ${version} of ${workflowId}.`,
      ...(reason === null ? [] : [`Why: ${reason}`]),
      "Nothing goes live until another person approves it. Open the page to see what changes and to decide:",
    ],
    button: "Review the change",
    url,
    details: formatReviewPlan(id, plan),
  };
  void ctx.accounts.notify(to, notice, { caller: ctx.actor.principal, project: review.project });
}

/** The e-mail addresses of active users who may publish in the project and have no part in the version, sorted. */
async function reviewersOf(
  read: Pick<Readers, "projects" | "users" | "workflows">,
  { project, workflowId, version, baseVersion, subject }: ReviewRecord,
): Promise<string[]> {
  const authorship = await read.workflows.authorship(workflowId, version);
  const hasPart = (email: string): boolean =>
    email === subject ||
    unreviewedVersion({ owner: email, keyName: "", lineage: "" }, version, baseVersion, authorship) !==
      undefined;
  const emails = await publishersOf(read, project);
  return emails.filter((email) => !hasPart(email)).slice(0, MAX_RECIPIENTS);
}

async function publishersOf(read: Pick<Readers, "projects" | "users">, project: string): Promise<string[]> {
  if (project === DEFAULT_PROJECT) {
    const found: string[] = [];
    for (let after: readonly [string, string] | null = null; ;) {
      const { items, next } = await read.users.page({ filter: { status: "active" }, after, limit: MAX_PAGE });
      found.push(
        ...items.filter(({ role }) => ROLE_SCOPES[role].includes("publish")).map(({ email }) => email),
      );
      if (next === null || found.length > 2 * MAX_RECIPIENTS) return found;
      after = next;
    }
  }
  const members = (await read.projects.members(project)).filter(({ role }) =>
    ROLE_SCOPES[role].includes("publish"),
  );
  const users = await Promise.all(members.map(({ email }) => read.users.findByEmail(email)));
  return users.flatMap((user) => (user?.status === "active" ? [user.email] : []));
}
