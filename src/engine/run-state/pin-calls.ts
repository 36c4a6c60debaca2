/**
 * Pins the versions of the workflows that a run calls, directly and through them, when it starts: what is published while
 * it runs, such as between the question of an approval and the decision, does not change what it does.
 */
import { LRUCache } from "lru-cache";
import { AppError } from "../../core/errors.ts";
import type { RunPins } from "../../core/model.ts";
import type { WorkflowReader } from "../../core/workflow-ports.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { calledWorkflowIds } from "../../core/workflow-calls.ts";

/** Maximum depth of workflows that call each other. */
export const MAX_CALL_DEPTH = 8;
/** Levels of calls below a run: those of workflow steps, and one of `on_failure`. */
const MAX_LEVELS = MAX_CALL_DEPTH + 1;
/** Maximum number of workflows that a run calls, on all levels. */
const MAX_PINNED = 500;
/** Maximum number of versions whose calls are cached. */
const MAX_CACHED = 1_000;

/**
 * Returns the versions of these workflows and of those that they call. Ids that do not exist are left out.
 * @param options.live whether a published version calls them: it gets no drafts of projects with review
 * @throws AppError workflow_not_runnable when there are too many
 */
export type PinCalls = (calls: readonly string[], options: { live: boolean }) => Promise<RunPins>;

export function callPinner(
  workflows: Pick<WorkflowReader, "currentVersions" | "liveVersions">,
  runs: Pick<RunReader, "versionDefinition">,
): PinCalls {
  // Versions never change, so neither does what they call.
  const cache = new LRUCache<string, readonly string[]>({ max: MAX_CACHED });

  async function callsOf(id: string, version: number): Promise<readonly string[]> {
    const key = `${id}@${version}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const calls = calledWorkflowIds((await runs.versionDefinition(id, version)) ?? {});
    cache.set(key, calls);
    return calls;
  }

  return async (calls, { live }) => {
    const versionsOf = (ids: readonly string[]) =>
      live ? workflows.liveVersions(ids) : workflows.currentVersions(ids);
    const pins = new Map<string, number>();
    const seen = new Set(calls);
    let level = [...seen];
    for (let depth = 1; level.length > 0 && depth <= MAX_LEVELS; depth += 1) {
      if (seen.size > MAX_PINNED) throw tooManyCalls();
      const below: string[] = [];
      for (const [id, version] of await versionsOf(level)) {
        pins.set(id, version);
        for (const called of await callsOf(id, version)) {
          if (seen.has(called)) continue;
          seen.add(called);
          below.push(called);
        }
      }
      level = below;
    }
    return Object.fromEntries(pins);
  };
}

const tooManyCalls = (): AppError =>
  new AppError(
    "workflow_not_runnable",
    `The workflow calls more than ${MAX_PINNED} others, directly and through them. Split it into workflows that run separately.`,
  );
