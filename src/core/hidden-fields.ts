/** Fields of requests that a caller has no use for: no issue offers them. */
import type { Issue } from "../../schemas/problem.ts";

/** The issue without these fields among those that it offers. */
export function withoutFields(issue: Issue, hidden: readonly string[]): Issue {
  const { allowed, did_you_mean: near, fix, ...others } = issue;
  const offersFields = issue.code === "unknown_key" || issue.path === "";
  if (!offersFields || allowed?.some((field) => hidden.includes(field)) !== true) return issue;
  const isNear = near !== undefined && hidden.includes(near);
  return {
    ...others,
    allowed: allowed.filter((field) => !hidden.includes(field)),
    ...(near !== undefined && !isNear && { did_you_mean: near }),
    ...(fix !== undefined && { fix: isNear ? "Remove it." : fix }),
  };
}
