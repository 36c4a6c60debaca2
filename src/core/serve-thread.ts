/** The side of a thread that `workerThreads` starts: it does one task after the other. */
import { threadCpuUsage } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "./background-priority.ts";

/** Data that a thread is started with. */
export interface ThreadData {
  /** Shared with the process, which sets the first one to 1 to interrupt the task. */
  interrupts: Int32Array;
}

/** A message to a thread. */
export interface ThreadRequest {
  kind: "task" | "answer" | "interrupt";
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

/** How a task notices that its result is not wanted any more. A task that checks neither is ended with its thread. */
export interface Interruption {
  /** Is aborted in a turn of the event loop, for a task that leaves it now and then. */
  signal: AbortSignal;
  /** For a task that does not leave its turn. @throws Interrupted */
  throwIfInterrupted(): void;
}

/** Ends a task that was interrupted. The process discards this error. */
class Interrupted extends Error {
  constructor() {
    super("The task was interrupted.");
  }
}

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
export function serveThread(work: (task: never, ask: Ask, interruption: Interruption) => unknown): void {
  lowerThreadPriority();
  const port = parentPort!;
  const { interrupts } = workerData as ThreadData;
  const questions = new Map<number, PromiseWithResolvers<unknown>>();
  let lastQuestion = 0;
  let stopping = new AbortController();

  function throwIfInterrupted(): void {
    if (Atomics.load(interrupts, 0) === 1) throw new Interrupted();
  }

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

  function interrupt(): void {
    stopping.abort(new Interrupted());
    for (const asked of questions.values()) asked.reject(new Interrupted());
    questions.clear();
  }

  async function perform(task: unknown): Promise<void> {
    stopping = new AbortController();
    const { signal } = stopping;
    try {
      post({ kind: "result", value: await work(task as never, ask, { signal, throwIfInterrupted }) });
    } catch (error) {
      post(error instanceof NoAnswer ? { kind: "error", id: error.id } : { kind: "error", error });
    }
  }

  port.on("message", (request: ThreadRequest) => {
    if (request.kind === "answer") receiveAnswer(request);
    else if (request.kind === "interrupt") interrupt();
    else void perform(request.value);
  });
  post({ kind: "ready" });
}
