/** The side of a thread that `workerThreads` starts: it does one task after the other. */
import { threadCpuUsage } from "node:process";
import { parentPort } from "node:worker_threads";
import { lowerThreadPriority } from "./background-priority.ts";

/** A message to a thread. */
export interface ThreadRequest {
  kind: "task" | "answer";
  /** Of the question that is answered. */
  id?: number | undefined;
  value?: unknown;
  /** Whether the question has no answer, because the process failed. */
  failed?: boolean;
}

/** A message of a thread. */
export interface ThreadMessage {
  kind: "ready" | "question" | "result" | "error";
  /** Of the question; with `error`, of the question without an answer that ended the task. */
  id?: number | undefined;
  value?: unknown;
  error?: unknown;
  /** Processor time of the thread since it started, in milliseconds. */
  cpuMs: number;
}

/** Asks the process that started the task. If it has no answer, the task ends with its error. */
export type Ask = (question: unknown) => Promise<unknown>;

/** Ends a task whose question has no answer. */
class NoAnswer extends Error {
  readonly id: number;
  constructor(id: number) {
    super("The question has no answer.");
    this.id = id;
  }
}

/**
 * Serves the tasks of a thread. Call it once, when the module of the thread is loaded.
 * @param work does one task, of the type that the process passes; its result and its error are copied to the process that started the task
 */
export function serveThread(work: (task: never, ask: Ask) => unknown): void {
  lowerThreadPriority();
  const port = parentPort!;
  const questions = new Map<number, PromiseWithResolvers<unknown>>();
  let lastQuestion = 0;

  const post = (message: Omit<ThreadMessage, "cpuMs">): void => {
    const { user, system } = threadCpuUsage();
    port.postMessage({ ...message, cpuMs: (user + system) / 1_000 }, []);
  };

  const ask: Ask = (question) => {
    const id = (lastQuestion += 1);
    const asked = Promise.withResolvers<unknown>();
    questions.set(id, asked);
    post({ kind: "question", id, value: question });
    return asked.promise;
  };

  function receiveAnswer({ id, value, failed }: ThreadRequest): void {
    const asked = questions.get(id!);
    questions.delete(id!);
    if (failed === true) asked?.reject(new NoAnswer(id!));
    else asked?.resolve(value);
  }

  async function perform(task: unknown): Promise<void> {
    try {
      post({ kind: "result", value: await work(task as never, ask) });
    } catch (error) {
      post(error instanceof NoAnswer ? { kind: "error", id: error.id } : { kind: "error", error });
    }
  }

  port.on("message", (request: ThreadRequest) => {
    if (request.kind === "answer") receiveAnswer(request);
    else void perform(request.value);
  });
  post({ kind: "ready" });
}
