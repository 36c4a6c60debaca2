/**
 * Runs as tasks of MCP: a client that knows tasks gets a handle of a run that is still going on, polls it, and gets the
 * result of the call in the end, on any copy and after any restart, because the handle is the id of the run.
 * @see https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import type { CallToolResult, InputRequests, Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Run } from "../../../schemas/run.ts";
import { SECOND } from "../../core/clock.ts";
import { MCP_OUTPUT_CHARS } from "../../../tools/runs/start-run.ts";
import { type Operations, type OperationsOf, withProtocolErrors } from "./read-operation.ts";
import { type PendingDecision, pendingDecisions, urlRequests, type WebUrl } from "./task-input.ts";

/** The name of the extension. */
export const TASKS = "io.modelcontextprotocol/tasks";
/** The first protocol revision that has it. */
const FIRST_REVISION = "2026-07-28";

/** The operations behind tasks. Only a caller who may use the first gets one. */
export const GET_TASK = "get_run";
const CANCEL_TASK = "cancel_run";

/** The input of the first. The output of a finished task has the same limit as that of a call. */
export const taskInput = (taskId: string) => ({ run_id: taskId, max_chars: MCP_OUTPUT_CHARS });

/** The parameters of `tasks/get`, `tasks/update` and `tasks/cancel`, as far as they are read. */
const TaskParams = z.looseObject({ taskId: z.string().min(1).max(200) });

/** How often a task should be asked for: soon at first, and later at a tenth of its age, in milliseconds. */
const MIN_POLL_MS = SECOND;
const MAX_POLL_MS = 15 * SECOND;

/** Whether the metadata of a request declares the extension. */
export const supportsTasksIn = (meta: unknown): boolean =>
  z
    .looseObject({
      "io.modelcontextprotocol/clientCapabilities": z.looseObject({
        extensions: z.looseObject({ [TASKS]: z.unknown() }),
      }),
    })
    .safeParse(meta).success;

/** Whether the metadata of a request declares that the client shows people pages. */
export const opensUrlsIn = (meta: unknown): boolean =>
  z
    .looseObject({
      "io.modelcontextprotocol/clientCapabilities": z.looseObject({
        elicitation: z.looseObject({ url: z.looseObject({}) }),
      }),
    })
    .safeParse(meta).success;

const opensUrls = (server: Server): boolean => server.getClientCapabilities()?.elicitation?.url !== undefined;

/** Whether the client of a request takes a task instead of a result. */
export const supportsTasks = (server: Server): boolean =>
  server.getClientCapabilities()?.extensions?.[TASKS] !== undefined &&
  (server.getNegotiatedProtocolVersion() ?? "") >= FIRST_REVISION;

type TaskStatus = "working" | "input_required" | "completed" | "cancelled";

export interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number;
  pollIntervalMs: number;
  /** While the task requires input: what the client shows to a person. */
  inputRequests?: InputRequests;
  /** The result of the call, once the task is completed. */
  result?: CallToolResult;
}

/** What the tasks of a server depend on. */
export interface TaskContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** How long a run is kept after its end, in milliseconds. */
  keptMs: number;
  webUrl: WebUrl;
}

/**
 * The task of a run, with its result or the input that it requires. Its time to live grows as long as the run goes on.
 * @param asks whether the client shows people pages
 */
export async function taskOf(run: Run, context: TaskContext, asks: boolean): Promise<Task> {
  const decisions = hasEnded(run) ? [] : await pendingDecisions(run, context.webUrl);
  const task = seedOf(run, context, decisions);
  return {
    ...task,
    ...(task.status === "input_required" && { inputRequests: asks ? urlRequests(decisions) : {} }),
    ...(task.status === "completed" && { result: { resultType: "complete", ...toResult(run) } }),
  };
}

/** What the answer to a call says of its task. */
function seedOf(run: Run, { now, keptMs }: TaskContext, decisions: readonly PendingDecision[]): Task {
  const age = now - Date.parse(run.created_at);
  return {
    taskId: run.id,
    status: statusOf(run, decisions),
    statusMessage: messageOf(run, decisions),
    createdAt: run.created_at,
    lastUpdatedAt: run.finished_at ?? run.started_at ?? run.created_at,
    ttlMs:
      (run.finished_at === null ? now : Date.parse(run.finished_at)) - Date.parse(run.created_at) + keptMs,
    pollIntervalMs: Math.round(Math.min(Math.max(age / 10, MIN_POLL_MS), MAX_POLL_MS)),
  };
}

/** Whether a run has ended, so that its result is known. */
export const hasEnded = (run: Pick<Run, "finished_at">): boolean => run.finished_at !== null;

/** A task instead of the result of a call. The client asks for the input that it requires. */
export const createdTask = async (run: Run, context: TaskContext): Promise<CallToolResult> =>
  ({
    resultType: "task",
    ...seedOf(run, context, await pendingDecisions(run, context.webUrl)),
  }) as unknown as CallToolResult;

/** A failed run is a result like every other: only an error of the protocol would make a task fail. */
function statusOf(run: Run, decisions: readonly PendingDecision[]): TaskStatus {
  if (!hasEnded(run)) return decisions.length === 0 ? "working" : "input_required";
  return run.status === "cancelled" ? "cancelled" : "completed";
}

function messageOf({ status, next }: Run, decisions: readonly PendingDecision[]): string {
  const pages = new Set(decisions.map(({ url }) => url));
  return [
    `The run is ${status}.`,
    ...(next === undefined ? [] : [next]),
    ...(pages.size === 0 ? [] : [`A person decides at ${[...pages].join(", ")}.`]),
  ].join(" ");
}

/** The result of a call, as text for models and as data for programs. */
export const toResult = (output: unknown): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(output) }],
  structuredContent: output,
});

/** @throws AppError run_not_found */
const findRun = async ({ execute }: Operations, taskId: string): Promise<Run> =>
  (await execute(GET_TASK, taskInput(taskId))) as Run;

/**
 * Serves the runs that a caller can see as tasks, those of other callers and of earlier connections too. A task requires input
 * while people have to decide: they do so on a page, so what a client answers changes nothing.
 */
export function serveTasks(server: Server, operationsOf: OperationsOf, context: () => TaskContext): void {
  const params = { params: TaskParams };
  server.setRequestHandler("tasks/get", params, ({ taskId }, ctx) =>
    withProtocolErrors(ctx, async () => {
      const run = await findRun(operationsOf(server, ctx, "tasks/get"), taskId);
      return { ...(await taskOf(run, context(), opensUrls(server))) };
    }),
  );
  server.setRequestHandler("tasks/update", params, ({ taskId }, ctx) =>
    withProtocolErrors(ctx, async () => {
      await findRun(operationsOf(server, ctx, "tasks/update"), taskId);
      return {};
    }),
  );
  server.setRequestHandler("tasks/cancel", params, ({ taskId }, ctx) =>
    withProtocolErrors(ctx, async () => {
      const operations = operationsOf(server, ctx, "tasks/cancel");
      const run = await findRun(operations, taskId);
      if (!hasEnded(run)) await operations.execute(CANCEL_TASK, { run_id: taskId });
      return {};
    }),
  );
}
