import type { Workflow } from "../../schemas/workflow.ts";

/**
 * The ETag of a workflow: its version and its published version, because publishing makes no new version. A response that
 * includes the last run has no ETag, because the run changes without a new version.
 */
export const workflowEtag = ({
  version,
  published_version: published,
  last_run,
}: Workflow): string | undefined =>
  last_run === undefined ? `${version}${published === null ? "" : `-p${published}`}` : undefined;
