/** The side of a thread that `workerThreads` starts: it does one task after the other. */
import { threadCpuUsage } from "node:process";
import { parentPort } from "node:worker_threads";

/** A message to a thread. */
export interface ThreadRequest {
  kind: "task" | "answer";
  /** Of the question that is answered. */
  id?: number | undefined;
  value?: unknown;
  /** Why a question has no answer. */
  error?: string;
}

/** A message of a thread. */
export interface ThreadMessage {
  kind: "ready" | "question" | "result" | "error";
  id?: number;
  value?: unknown;
  error?: unknown;
  /** Processor time of the thread since it started, in milliseconds. */
  cpuMs: number;
}

/** Asks the process that started the task. @throws Error with the message of its error */
export type Ask = (question: unknown) => Promise<unknown>;

/**
 * Serves the tasks of a thread. Call it once, when the module of the thread is loaded.
 * @param work does one task, of the type that the process passes; its result and its error are copied to the process that started the task
 */
export function serveThread(work: (task: never, ask: Ask) => unknown): void {
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

  function receiveAnswer({ id, value, error }: ThreadRequest): void {
    const asked = questions.get(id!);
    questions.delete(id!);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  }

  async function perform(task: unknown): Promise<void> {
    try {
      post({ kind: "result", value: await work(task as never, ask) });
    } catch (error) {
      post({ kind: "error", error });
    }
  }

  port.on("message", (request: ThreadRequest) => {
    if (request.kind === "answer") receiveAnswer(request);
    else void perform(request.value);
  });
  post({ kind: "ready" });
}
