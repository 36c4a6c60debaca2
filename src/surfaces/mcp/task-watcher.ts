/** The states of tasks as they change, for clients that listen for them. */
import type { Run } from "../../../schemas/run.ts";
import { MAX_APPROVALS } from "../../../tools/runs/run-response.ts";
import type { Principal } from "../../core/ports.ts";
import type { AnyTool } from "../../core/tool.ts";
import { clientName } from "../client-name.ts";
import { type Call, invoke, type Services } from "../invoke.ts";
import type { WatchTask } from "./task-notifications.ts";
import { hasEnded, type TaskContext, taskInput, taskOf } from "./tasks.ts";

/** Longest time until the state of a watched task is read again, in milliseconds. */
const TASK_CHECK_MS = 60_000;

/** Returns the states of tasks, as a caller may see them. @param opensUrls whether the client shows people pages */
export type TaskWatcher = (principal: Principal, requestId: string, opensUrls: boolean) => WatchTask;

/** @param getRun the operation that reads a task: it decides who sees it */
export function taskWatcher(
  services: Services,
  getRun: AnyTool | undefined,
  context: () => TaskContext,
): TaskWatcher {
  /** What the state of a task depends on, to notice that it has changed; undefined without the run. */
  async function readState(taskId: string): Promise<{ state: string; seq: number } | undefined> {
    const { runs, approvals, interruptions } = services.read;
    const [summary] = await runs.getStatusSummaries([taskId]);
    if (summary === undefined) return undefined;
    const { seq, status } = summary;
    const filter = { runId: taskId, status: "pending" } as const;
    const { items } = await approvals.page({ filter, after: null, limit: MAX_APPROVALS });
    const interrupted = await interruptions.openCounts([taskId]);
    return { seq, state: JSON.stringify([status, items.map(({ id }) => id), interrupted.get(taskId)]) };
  }

  return (principal, requestId, opensUrls) =>
    async function* watch(taskId, signal) {
      const actor = { principal, client: { surface: "mcp", name: clientName(undefined) } } as const;
      let last: string | undefined;
      while (!signal.aborted) {
        const read = await readState(taskId);
        if (read === undefined) return;
        if (read.state !== last) {
          const request: Call = { actor, requestId, signal };
          const run = await invoke(services, getRun!, taskInput(taskId), request).catch(() => undefined);
          if (run === undefined) return;
          yield taskOf(run as Run, context(), opensUrls);
          if (hasEnded(run as Run)) return;
          last = read.state;
        }
        await services.engine.waitForChange(taskId, read.seq, { ms: TASK_CHECK_MS, signal });
      }
    };
}
