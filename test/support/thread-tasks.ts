/** The thread of the tests of `workerThreads`. */
import { setImmediate } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { serveThread } from "../../src/core/serve-thread.ts";

export type Task =
  | { do: "echo"; value: unknown }
  | { do: "ask"; value: unknown }
  | { do: "throw"; message: string }
  /** `work` finds out in its turn that it was interrupted, and `turns` between two turns. */
  | { do: "spin" | "work" | "turns" | "sleep" | "allocate" | "exit" };

export interface Answer {
  value: unknown;
  threadId: number;
}

serveThread(async (task: Task, ask, { signal, throwIfInterrupted }): Promise<Answer> => {
  switch (task.do) {
    case "echo":
      return { value: task.value, threadId };
    case "ask":
      return { value: await ask(task.value), threadId };
    case "throw":
      throw new RangeError(task.message);
    case "spin":
      for (;;);
    case "work":
      for (;;) throwIfInterrupted();
    case "turns":
      for (;;) {
        await setImmediate();
        signal.throwIfAborted();
      }
    case "sleep":
      // Uses no processor time.
      return { value: Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), threadId };
    case "allocate": {
      const all: unknown[] = [];
      for (;;) all.push(Array.from({ length: 1_000 }, () => ({})));
    }
    case "exit":
      return process.exit(1);
  }
});
