import type { Workflow } from "../../schemas/workflow.ts";
import { shortHash } from "../../src/core/short-hash.ts";

/**
 * The ETag of a workflow: its version, its published version, because publishing makes no new version, and its callers. A
 * response that includes the last run or change request has no ETag, because these change without a new version.
 */
export function workflowEtag({
  version,
  published_version,
  used_by,
  last_run,
  last_review,
}: Workflow): string | undefined {
  if (last_run !== undefined || last_review !== undefined) return undefined;
  const published = published_version === null ? "" : `-p${published_version}`;
  const callers = used_by === undefined || used_by.length === 0 ? "" : `-u${shortHash(used_by.join(" "))}`;
  return `${version}${published}${callers}`;
}
