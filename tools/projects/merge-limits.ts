import type { ProjectLimits } from "../../schemas/project.ts";
import type { PerKeyLimits } from "../../src/core/usage-limits.ts";

/**
 * Changes the limits of a project: one that is left out keeps its value, null removes it.
 * @returns null when no limit is left
 */
export function mergeLimits(before: PerKeyLimits | null, change: ProjectLimits): PerKeyLimits | null {
  const all = Object.entries({ ...before, ...change }).filter(([, max]) => typeof max === "number");
  return all.length === 0 ? null : Object.fromEntries(all);
}
