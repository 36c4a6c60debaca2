/**
 * `notifications/tasks`: a client that listens for tasks learns that they end without asking. The SDK serves
 * `subscriptions/listen` for its own notifications; those of tasks are added to its stream.
 * @see https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "zod";
import { supportsTasksIn, type Task, TASKS } from "./tasks.ts";

/** Maximum number of tasks of one subscription: each is watched. */
const MAX_TASKS = 20;
/** Of the revision 2026-07-28. */
const MISSING_CLIENT_CAPABILITY = -32021;
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

const Subscription = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal("subscriptions/listen"),
  params: z.looseObject({
    notifications: z.looseObject({ taskIds: z.array(z.string().min(1).max(200)).nonempty() }),
  }),
});
export type TaskSubscription = z.infer<typeof Subscription>;

/** The subscription of a message that names tasks; undefined for every other message. */
export const taskSubscriptionOf = (message: unknown): TaskSubscription | undefined =>
  Subscription.safeParse(message).data;

/** Returns the states of a task that the caller can see, from the present one to the last; none for others. */
export type WatchTask = (taskId: string, signal: AbortSignal) => AsyncIterator<Task>;

/** Why a subscription is refused, as a response; undefined when it is not. */
export function refusalOf({ id, params }: TaskSubscription): Response | undefined {
  const { taskIds } = params.notifications;
  if (!supportsTasksIn(params["_meta"]))
    return errorResponse(id, {
      code: MISSING_CLIENT_CAPABILITY,
      message: `Only clients that declare the extension ${TASKS} can listen for tasks.`,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  if (taskIds.length > MAX_TASKS)
    return errorResponse(id, {
      code: ProtocolErrorCode.InvalidParams,
      message: `A subscription has at most ${MAX_TASKS} tasks, and this one names ${taskIds.length}. Use several subscriptions.`,
    });
  return undefined;
}

const errorResponse = (id: string | number, error: object): Response =>
  Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });

/**
 * Adds the notifications of tasks to the stream that the SDK has opened for a subscription. It stays open until the SDK ends
 * it, and if that serves nothing else, until the last task has ended.
 * @param signal aborted when the client has gone
 */
export function withTaskNotifications(
  response: Response,
  { id, params }: TaskSubscription,
  watch: WatchTask,
  signal: AbortSignal,
): Response {
  if (response.body === null || !response.ok) return response;
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  const encoder = new TextEncoder();
  const frameOf = (message: object): Uint8Array =>
    encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);

  async function serve(own: ReadableStream<Uint8Array>, send: (frame: Uint8Array) => void): Promise<void> {
    const taskIds = [...new Set(params.notifications.taskIds)];
    const watched = taskIds.map((taskId) => ({ taskId, states: watch(taskId, stopped) }));
    const firsts = await Promise.all(watched.map(({ states }) => states.next()));
    const found = watched.filter((_, index) => firsts[index]!.done !== true);
    const notify = (task: Task) => {
      const message = {
        method: "notifications/tasks",
        params: { ...task, _meta: { [SUBSCRIPTION_ID]: id } },
      };
      send(frameOf(message));
    };
    let tasks: Promise<unknown> = Promise.resolve();
    for await (const { frame, message } of framesOf(own)) {
      if (message?.method === "notifications/subscriptions/acknowledged") {
        const { notifications, ...rest } = message.params as { notifications: object };
        const honoured = { ...notifications, taskIds: found.map(({ taskId }) => taskId) };
        send(frameOf({ method: message.method, params: { ...rest, notifications: honoured } }));
        for (const first of firsts) if (first.done !== true) notify(first.value);
        tasks = Promise.all(
          found.map(async ({ states }) => {
            for await (const task of { [Symbol.asyncIterator]: () => states }) notify(task);
          }),
        );
        // The SDK ends a subscription at once that serves nothing of its own.
        if (Object.keys(notifications).length === 0) await tasks;
      } else send(frame);
    }
    ended.abort();
    await tasks;
  }

  const { body } = response;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      serve(body, (frame) => controller.enqueue(frame)).then(
        () => controller.close(),
        (error: unknown) => controller.error(error),
      );
    },
    cancel: () => ended.abort(),
  });
  return new Response(stream, { status: response.status, headers: response.headers });
}

interface Frame {
  frame: Uint8Array;
  /** Undefined for a comment. */
  message: { method?: string; params?: unknown } | undefined;
}

/** The events of a stream of the SDK, which sends each as one chunk. */
async function* framesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  for await (const frame of stream) {
    const data = /^data: (.*)$/m.exec(decoder.decode(frame))?.[1];
    yield { frame, message: data === undefined ? undefined : (JSON.parse(data) as Frame["message"]) };
  }
}
