/** Workflows grouped by their tags. */
import type { Workflow } from "../../../schemas/workflow.ts";

export interface TagGroup {
  /** Null for the workflows without a tag. */
  tag: string | null;
  workflows: Workflow[];
}

/** @returns the groups by name, each workflow in the group of each of its tags; those without a tag come last */
export function groupByTag(workflows: readonly Workflow[]): TagGroup[] {
  const byTag = new Map<string, Workflow[]>();
  const untagged: Workflow[] = [];
  for (const workflow of workflows) {
    if (workflow.tags.length === 0) untagged.push(workflow);
    for (const tag of workflow.tags) {
      const group = byTag.get(tag);
      if (group === undefined) byTag.set(tag, [workflow]);
      else group.push(workflow);
    }
  }
  const groups: TagGroup[] = [...byTag]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([tag, found]) => ({ tag, workflows: found }));
  return untagged.length === 0 ? groups : [...groups, { tag: null, workflows: untagged }];
}
