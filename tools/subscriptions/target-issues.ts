/** Checks what a subscription says before it is stored. */
import type { Issue } from "../../schemas/problem.ts";
import type { SubscriptionFormat } from "../../schemas/subscription.ts";
import type { PartialIssue } from "../../src/core/connections.ts";
import type { ToolContext } from "../../src/core/tool.ts";

interface Target {
  format: SubscriptionFormat;
  url: string | null;
  urlSecret: string | null;
}

/** The issues of where deliveries go: as an http step of the project could not reach it either. */
export async function targetIssues(
  ctx: ToolContext,
  project: string,
  { format, url, urlSecret }: Target,
): Promise<Issue[]> {
  if ((url === null) === (urlSecret === null)) return [url === null ? NO_TARGET : TWO_TARGETS];
  if (url !== null && format !== "standard_webhooks") return [URL_IS_SECRET];
  const { http } = await ctx.engine.connectionsOf(project, null);
  const found = await http.check({ url: url ?? { secret: urlSecret! }, method: "POST", secrets: [] });
  return found.map((issue) => toIssue(issue, url === null ? "url_secret" : "url"));
}

/** The issues of workflows that the project does not have. */
export async function workflowIssues(
  { read }: Pick<ToolContext, "read">,
  project: string,
  workflows: readonly string[] | null,
): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const [index, id] of (workflows ?? []).entries())
    if ((await read.workflows.projectOf(id)) !== project)
      issues.push({
        path: `workflows[${index}]`,
        code: "not_found",
        message: `is not the id of a workflow of this project, got ${id.slice(0, 100)}`,
        fix: "list_workflows (GET /workflows) shows the ids.",
      });
  return issues;
}

const NO_TARGET: Issue = {
  path: "url",
  code: "required",
  message: "is required, or url_secret",
  fix: "Set url to where deliveries go, or url_secret to the name of a secret whose value is that URL.",
};
const TWO_TARGETS: Issue = {
  path: "url_secret",
  code: "not_allowed",
  message: "must not be set together with url",
  fix: "Leave out one of them.",
};
const URL_IS_SECRET: Issue = {
  path: "url",
  code: "holds_secret",
  message: "must not be set, because who knows the URL of a chat's webhook can post to it",
  fix: "Ask the operator to add a secret whose value is the URL (secrets in the configuration), and name it in url_secret.",
};

const toIssue = ({ code, message, fix, allowed, did_you_mean: near }: PartialIssue, path: string): Issue => ({
  path,
  code,
  message,
  ...(fix !== undefined && { fix }),
  ...(allowed !== undefined && { allowed }),
  ...(near !== undefined && { did_you_mean: near }),
});
