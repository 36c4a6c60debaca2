import type { Workflow } from "../../schemas/workflow.ts";

/**
 * The revision of a workflow: its version, and which version is live, because publishing makes no version. Without one
 * where the last run stands beside: that changes by itself.
 */
export const workflowEtag = ({ version, published_version: live, last_run }: Workflow): string | undefined =>
  last_run === undefined ? `${version}${live === null ? "" : `-p${live}`}` : undefined;
