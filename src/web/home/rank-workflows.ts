/** The order of workflows by what happened to their runs. */
import type { RunGroup } from "../../../schemas/run-groups.ts";

/** The workflow of a group of `workflow_id`; null for runs of single steps. */
export const workflowOf = ({ by }: Pick<RunGroup, "by">): string | null =>
  (by["workflow_id"] as string | undefined) ?? null;

/** Those with the most failed runs first, then those with the most runs. */
export const rankWorkflows = (groups: readonly RunGroup[]): RunGroup[] =>
  groups.toSorted((a, b) => (b.statuses.failed ?? 0) - (a.statuses.failed ?? 0) || b.runs - a.runs);

/** When the oldest run of all groups was created. @param groups not empty */
export const oldestRun = (groups: readonly RunGroup[]): string =>
  groups.map(({ first }) => first.created_at).toSorted()[0]!;
