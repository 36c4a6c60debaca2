/**
 * Runs work that a caller can make expensive in threads, so that the event loop stays free. Each task has a budget of
 * processor time, which a busy machine does not use up, and a distant limit of elapsed time. Owners take turns.
 */
import { Worker } from "node:worker_threads";
import { type FairQueue, fairQueue } from "./fair-queue.ts";
import type { ThreadMessage, ThreadRequest } from "./serve-thread.ts";

/** Interval at which the processor time of a running task is checked, in milliseconds. */
const CPU_CHECK_MS = 100;

/** Why a task has no result. */
export type ThreadFailure =
  /** It used up its processor time. */
  | "cpu_limit"
  /** It needed more memory than the thread may have. */
  | "memory_limit"
  /** It was not done in its elapsed time, which includes waiting for a thread: the machine is busy. */
  | "wall_limit"
  /** Its owner has the maximum number of tasks waiting. */
  | "too_many_waiting"
  /** The threads are closed. */
  | "closed";

/** A task that ended without a result. */
export class ThreadError extends Error {
  readonly reason: ThreadFailure;
  constructor(reason: ThreadFailure) {
    super(`The task ended without a result: ${reason.replaceAll("_", " ")}`);
    this.reason = reason;
  }
}

export interface WorkerThreadsOptions {
  /** The module that calls `serveThread`, from `workerFile`. */
  file: URL;
  /** Maximum number of threads. They are started when they are needed. */
  threads: number;
  /** Maximum heap of a thread, in MiB. */
  memoryMb: number;
  /** Processor time that a task may use, in milliseconds. */
  cpuMs: number;
  /** Time that a task may take with its waiting, in milliseconds. */
  wallMs: number;
  /** Maximum number of tasks of one owner that run at a time. Default: one thread fewer than there are, at least one. */
  threadsPerOwner?: number;
  /** Maximum number of tasks of one owner that wait. Default: 100. */
  maxWaitingPerOwner?: number;
}

interface TaskOptions {
  /** Who caused the task: owners take turns. Default: one owner for all tasks without one. */
  owner?: string | undefined;
  /** Processor time that the task may use, in milliseconds. Default: `cpuMs` of the threads. */
  cpuMs?: number | undefined;
  /** Ends the task when it is aborted; `run` then rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Answers questions that the task asks this process. What it throws, the task ends with, unless it handles it. */
  answer?: ((question: unknown) => Promise<unknown>) | undefined;
}

export interface WorkerThreads<Task, Result> {
  /**
   * Runs a task in a thread. Task and result are copied (structured clone): pass large ones as text, which is faster.
   * @throws ThreadError; the signal's reason; what the task throws
   */
  run(task: Task, options?: TaskOptions): Promise<Result>;
  /** Ends all threads. Tasks that have not ended are rejected. */
  close(): Promise<void>;
}

/**
 * Returns the file of a worker beside a module: TypeScript in development, JavaScript in a release.
 * @param moduleUrl `import.meta.url` of that module
 */
export const workerFile = (name: string, moduleUrl: string): URL =>
  new URL(`./${name}${new URL(moduleUrl).pathname.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl);

interface Job {
  task: unknown;
  owner: string;
  /** Processor time that it may use, in milliseconds. */
  cpuMs: number;
  answer: ((question: unknown) => Promise<unknown>) | undefined;
  /** Why questions have no answer, by the id of the question. */
  failedAnswers: Map<number, unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Whether it has a result or an error, so that its thread is free or being ended. */
  isSettled: boolean;
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
  /** Whether its module is loaded. */
  isReady: boolean;
  /** Processor time of the thread when its job started, in milliseconds. */
  cpuAtStart: number;
}

export function workerThreads<Task, Result>(options: WorkerThreadsOptions): WorkerThreads<Task, Result> {
  const { file, threads: maxThreads, memoryMb, cpuMs: defaultCpuMs, wallMs } = options;
  const { threadsPerOwner = Math.max(1, maxThreads - 1), maxWaitingPerOwner = 100 } = options;
  const threads = new Set<Thread>();
  const ending = new Set<Promise<unknown>>();
  const waiting: FairQueue<Job> = fairQueue();
  let isClosed = false;

  function startThread(): Thread {
    const worker = new Worker(file, { env: {}, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    const thread: Thread = { worker, job: undefined, isReady: false, cpuAtStart: 0 };
    threads.add(thread);
    worker.unref();
    worker.on("message", (message: ThreadMessage) => receive(thread, message));
    worker.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      endThread(thread, isMemory ? new ThreadError("memory_limit") : error);
    });
    worker.on("exit", () => endThread(thread, new Error("The thread ended before its task.")));
    return thread;
  }

  /** Ends a thread, and rejects its job. Another thread takes its place when there is work. */
  function endThread(thread: Thread, reason: unknown): void {
    if (!threads.delete(thread)) return;
    const ended = thread.worker.terminate().finally(() => ending.delete(ended));
    ending.add(ended);
    thread.job?.reject(reason);
    thread.job = undefined;
    startWaiting();
  }

  function receive(thread: Thread, { kind, cpuMs: used, ...message }: ThreadMessage): void {
    const { job } = thread;
    if (kind === "ready") {
      thread.isReady = true;
      thread.cpuAtStart = used;
      if (job !== undefined) post(thread, { kind: "task", value: job.task });
      return;
    }
    if (job === undefined) return;
    if (kind === "question") {
      void answer(thread, job, message.id!, message.value);
      return;
    }
    thread.job = undefined;
    thread.cpuAtStart = used;
    thread.worker.unref();
    if (kind === "result") job.resolve(message.value);
    else job.reject(message.id === undefined ? message.error : job.failedAnswers.get(message.id));
    startWaiting();
  }

  async function answer(thread: Thread, job: Job, id: number, question: unknown): Promise<void> {
    const reply = await (async () => job.answer!(question))().then(
      (value): Partial<ThreadRequest> => ({ value }),
      (error: unknown): Partial<ThreadRequest> => {
        job.failedAnswers.set(id, error);
        return { failed: true };
      },
    );
    if (thread.job === job) post(thread, { kind: "answer", id, ...reply });
  }

  const post = ({ worker }: Thread, request: ThreadRequest): void => worker.postMessage(request, []);

  function startJob(thread: Thread, job: Job): void {
    thread.job = job;
    thread.worker.ref();
    if (thread.isReady) post(thread, { kind: "task", value: job.task });
    void watchCpu(thread, job);
  }

  /** Ends the task when it has used up its processor time. Starting the thread is not charged to it. */
  async function watchCpu(thread: Thread, job: Job): Promise<void> {
    const check = async (): Promise<void> => {
      // A thread in the middle of one long built-in function does not answer: then the limit of elapsed time holds.
      const usage = await thread.worker.cpuUsage().catch(() => undefined);
      if (thread.job !== job) return;
      const used = usage === undefined ? 0 : (usage.user + usage.system) / 1_000 - thread.cpuAtStart;
      if (thread.isReady && used >= job.cpuMs) endThread(thread, new ThreadError("cpu_limit"));
      else setTimeout(() => void check(), CPU_CHECK_MS).unref();
    };
    setTimeout(() => void check(), Math.min(CPU_CHECK_MS, job.cpuMs)).unref();
  }

  function startWaiting(): void {
    if (isClosed) return;
    for (;;) {
      const idle = [...threads].find(({ job }) => job === undefined);
      if (idle === undefined && threads.size >= maxThreads) return;
      const job = waiting.take((owner) => runningOf(owner) < threadsPerOwner);
      if (job === undefined) return;
      startJob(idle ?? startThread(), job);
    }
  }

  const runningOf = (owner: string): number => [...threads].filter(({ job }) => job?.owner === owner).length;

  /** Takes a job out of the queue, or ends its thread. */
  function stop(job: Job, reason: unknown): void {
    if (job.isSettled) return;
    const thread = [...threads].find((each) => each.job === job);
    if (thread !== undefined) return endThread(thread, reason);
    waiting.remove(job.owner, job);
    job.reject(reason);
  }

  return {
    async run(task, { owner = "", cpuMs = defaultCpuMs, signal, answer: answerQuestion } = {}) {
      signal?.throwIfAborted();
      if (isClosed) throw new ThreadError("closed");
      if (waiting.countOf(owner) >= maxWaitingPerOwner) throw new ThreadError("too_many_waiting");
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const job: Job = {
        task,
        owner,
        cpuMs,
        answer: answerQuestion,
        failedAnswers: new Map(),
        resolve(result) {
          job.isSettled = true;
          resolve(result);
        },
        reject(error) {
          job.isSettled = true;
          reject(error);
        },
        isSettled: false,
      };
      const timer = setTimeout(() => stop(job, new ThreadError("wall_limit")), wallMs);
      const abort = (): void => stop(job, signal!.reason);
      signal?.addEventListener("abort", abort, { once: true });
      waiting.add(owner, job);
      startWaiting();
      try {
        return (await promise) as Result;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      }
    },

    async close() {
      isClosed = true;
      for (let job = waiting.take(); job !== undefined; job = waiting.take())
        job.reject(new ThreadError("closed"));
      for (const thread of threads) endThread(thread, new ThreadError("closed"));
      await Promise.all(ending);
    },
  };
}
