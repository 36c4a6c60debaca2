import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { quietTime } from "../support/eventually.ts";
import { patiently } from "../support/patience.ts";
import { ThreadError, workerFile, type WorkerThreads, workerThreads } from "../../src/core/worker-thread.ts";
import type { Answer, Task } from "../support/thread-tasks.ts";

const opened: WorkerThreads<Task, Answer>[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});

type Options = Partial<Parameters<typeof workerThreads>[0]>;

function open(options: Options = {}): WorkerThreads<Task, Answer> {
  const threads = workerThreads<Task, Answer>({
    file: workerFile("../support/thread-tasks", import.meta.url),
    threads: 1,
    memoryMb: 64,
    cpuMs: 60_000,
    wallMs: 60_000,
    ...options,
  });
  opened.push(threads);
  return threads;
}

const echo = (value: unknown): Task => ({ do: "echo", value });

/** Returns the reason of a `ThreadError`, or the message of another error. */
const failure = (result: Promise<unknown>): Promise<string> =>
  result.then(
    () => "no error",
    (error: Error) => (error instanceof ThreadError ? error.reason : error.message),
  );

/** The "nice" values of the threads of this process, by thread. Other tests may have left threads behind that end soon. */
const niceValues = (): Map<string, number> =>
  new Map(
    readdirSync("/proc/self/task").flatMap((id) => {
      const file = `/proc/self/task/${id}/stat`;
      try {
        const status = readFileSync(file, "utf8");
        return [[id, Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[16])]];
      } catch {
        return [];
      }
    }),
  );

const double = async (question: unknown): Promise<unknown> => Number(question) * 2;
const never = () => new Promise<never>(() => {});
const refuse = (): Promise<never> => Promise.reject(new Error("no answer"));

describe("workerThreads", () => {
  it("answers tasks, all in one thread that is started for the first", async () => {
    const threads = open();
    const answers = await Promise.all([1, "two", { three: [3] }].map((value) => threads.run(echo(value))));
    expect(answers.map(({ value }) => value)).toEqual([1, "two", { three: [3] }]);
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
  });

  it.runIf(process.platform === "linux")(
    "runs its threads at a lower priority than the event loop",
    async () => {
      const threads = open();
      const before = niceValues();
      await threads.run(echo(1));
      expect([...niceValues()].filter(([id]) => !before.has(id)).map(([, nice]) => nice)).toContain(10);
      expect(getPriority()).toBe(0);
    },
  );

  it("passes on what a task throws, and keeps the thread", async () => {
    const threads = open();
    const { threadId } = await threads.run(echo(0));
    expect(await failure(threads.run({ do: "throw", message: "not in range" }))).toBe("not in range");
    expect((await threads.run(echo(0))).threadId).toBe(threadId);
  });

  it("ends a task that uses up its processor time, and goes on with a new thread", async () => {
    const threads = open({ cpuMs: 150 });
    const endless = failure(threads.run({ do: "spin" }));
    const next = threads.run(echo("next"), { owner: "other" });
    expect(await endless).toBe("cpu_limit");
    expect((await next).value).toBe("next");
  });

  it("charges neither the start of a thread nor earlier tasks", async () => {
    const threads = open({ cpuMs: 150 });
    for (let count = 0; count < 300; count += 1) expect((await threads.run(echo(count))).value).toBe(count);
  });

  it("ends a task that uses no processor time at the limit of elapsed time only", async () => {
    const threads = open({ cpuMs: 50, wallMs: 1_000 });
    const start = performance.now();
    expect(await failure(threads.run({ do: "sleep" }))).toBe("wall_limit");
    expect(performance.now() - start).toBeGreaterThanOrEqual(999);
  });

  it("counts waiting for a thread as elapsed time", async () => {
    const threads = open({ wallMs: 700, interruptGraceMs: 1 });
    const first = failure(threads.run({ do: "sleep" }));
    expect(await failure(threads.run(echo("late")))).toBe("wall_limit");
    expect(await first).toBe("wall_limit");
  });

  it("survives a task that needs too much memory, and one that ends its thread", async () => {
    const threads = open({ memoryMb: 24 });
    expect(await failure(threads.run({ do: "allocate" }))).toBe("memory_limit");
    expect(await failure(threads.run({ do: "exit" }))).toBe("The thread ended before its task.");
    expect((await threads.run(echo("alive"))).value).toBe("alive");
  });

  it("serves owners in turns", async () => {
    const threads = open();
    const order: string[] = [];
    const run = async (owner: string, name: string): Promise<void> => {
      await threads.run(echo(name), { owner });
      order.push(name);
    };
    await Promise.all([
      run("a", "a1"),
      run("a", "a2"),
      run("a", "a3"),
      run("b", "b1"),
      run("c", "c1"),
      run("b", "b2"),
    ]);
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  it("leaves a thread to others when one owner is busy", async () => {
    const threads = open({ threads: 2 });
    const endless = [1, 2, 3].map(() => failure(threads.run({ do: "spin" }, { owner: "a" })));
    expect((await threads.run(echo("free"), { owner: "b" })).value).toBe("free");
    await threads.close();
    expect(await Promise.all(endless)).toEqual(["closed", "closed", "closed"]);
    expect(await failure(threads.run(echo(0)))).toBe("closed");
  });

  it("refuses more waiting tasks of one owner than it may have", async () => {
    const threads = open({ maxWaitingPerOwner: 2, wallMs: 2_000 });
    const tasks = [1, 2, 3].map(() => failure(threads.run({ do: "sleep" }, { owner: "a" })));
    expect(await failure(threads.run(echo(0), { owner: "a" }))).toBe("too_many_waiting");
    const other = failure(threads.run(echo("other"), { owner: "b" }));
    await threads.close();
    expect(await Promise.all([...tasks, other])).toEqual(["closed", "closed", "closed", "closed"]);
  });

  it("ends a task when its signal is aborted, running or waiting", async () => {
    const threads = open();
    const controller = new AbortController();
    const { signal } = controller;
    const running = failure(threads.run({ do: "spin" }, { signal }));
    const waiting = failure(threads.run(echo(0), { signal }));
    const other = threads.run(echo("other"), { owner: "b" });
    controller.abort(new Error("gone"));
    expect(await Promise.all([running, waiting])).toEqual(["gone", "gone"]);
    expect((await other).value).toBe("other");
    expect(await failure(threads.run(echo(0), { signal }))).toBe("gone");
  });

  describe.each([{ do: "work" }, { do: "turns" }, { do: "ask", value: 1 }] as const)(
    "a task that can be interrupted ($do)",
    (task) => {
      it("ends when its signal is aborted, and leaves the thread to the next one", async () => {
        const threads = open({ interruptGraceMs: patiently(60_000) });
        const { threadId } = await threads.run(echo(0));
        for (let round = 0; round < 5; round += 1) {
          const controller = new AbortController();
          const running = failure(threads.run(task, { answer: never, signal: controller.signal }));
          // At first it has probably not begun.
          await quietTime(5 * round);
          controller.abort(new Error("gone"));
          expect(await running).toBe("gone");
          expect((await threads.run(echo(round))).threadId).toBe(threadId);
        }
      });
    },
  );

  it("interrupts a task that uses up its processor time, and goes on with the same thread", async () => {
    const threads = open({ cpuMs: 150, interruptGraceMs: patiently(60_000) });
    const { threadId } = await threads.run(echo(0));
    expect(await failure(threads.run({ do: "work" }))).toBe("cpu_limit");
    expect((await threads.run(echo("next"))).threadId).toBe(threadId);
  });

  it("counts a task that can't be interrupted for its owner, until its thread has ended", async () => {
    const threads = open({ threads: 2, interruptGraceMs: patiently(60_000) });
    await threads.run(echo(0));
    const controller = new AbortController();
    const spinning = failure(threads.run({ do: "spin" }, { owner: "a", signal: controller.signal }));
    controller.abort(new Error("gone"));
    expect(await spinning).toBe("gone");
    // The owner may have one of the two threads, and that one is still busy.
    const waiting = failure(threads.run(echo("late"), { owner: "a" }));
    expect((await threads.run(echo("free"), { owner: "b" })).value).toBe("free");
    await threads.close();
    expect(await waiting).toBe("closed");
  });

  it("ends the thread of a task that can't be interrupted", async () => {
    const threads = open({ cpuMs: 150 });
    const { threadId } = await threads.run(echo(0));
    expect(await failure(threads.run({ do: "spin" }))).toBe("cpu_limit");
    expect((await threads.run(echo("next"))).threadId).not.toBe(threadId);
  });

  it("answers the questions of a task", async () => {
    const threads = open();
    expect((await threads.run({ do: "ask", value: 21 }, { answer: double })).value).toBe(42);
    expect(await failure(threads.run({ do: "ask", value: 1 }, { answer: refuse }))).toBe("no answer");
  });
});
