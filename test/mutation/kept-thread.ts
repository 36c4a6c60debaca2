/**
 * A pool whose only thread outlives a run. To start a thread and import the program again for each mutant takes several times
 * as long as the tests of most mutants.
 */
import type { Plugin } from "vitest/config";
import { ThreadsPoolWorker } from "vitest/node";

type PoolOptions = ConstructorParameters<typeof ThreadsPoolWorker>[0];
type Message = Parameters<ThreadsPoolWorker["send"]>[0];
type Listener = Parameters<ThreadsPoolWorker["on"]>[1];

/** Maximum number of runs of one thread: each leaves something behind, such as a listener. */
const MAX_RUNS = 50;

class KeptThread {
  readonly name = "kept-thread";
  readonly #options: PoolOptions;
  readonly #listeners = new Map<Listener, string>();
  #thread: ThreadsPoolWorker | undefined;
  #runs = 0;
  #stopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#runs += 1;
    this.#stopped = false;
    if (this.#thread !== undefined) return;
    const thread = new ThreadsPoolWorker(this.#options);
    this.#thread = thread;
    await thread.start();
    thread.on("exit", () => {
      if (this.#thread === thread) this.#drop();
    });
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(listener, event);
    this.#thread!.on(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.#listeners.delete(listener);
    this.#thread?.off(event, listener);
  }

  /** The thread does not learn that a run has stopped, unless it is the last one. */
  send(message: Message): void {
    this.#stopped = message.type === "stop";
    if (!this.#stopped || this.#runs >= MAX_RUNS) {
      this.#thread!.send(message);
      return;
    }
    for (const [listener, event] of this.#listeners)
      if (event === "message") listener({ type: "stopped", __vitest_worker_response__: true });
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  async stop(): Promise<void> {
    for (const [listener, event] of this.#listeners) this.off(event, listener);
    // A run that ends without a message to stop has failed, so its thread may be unusable.
    if (this.#stopped && this.#runs < MAX_RUNS) return;
    const thread = this.#thread!;
    this.#drop();
    await thread.stop();
  }

  /** The next run gets another thread. */
  #drop(): void {
    this.#thread = undefined;
    this.#runs = 0;
    this.#listeners.clear();
  }
}

/** A Vitest plugin: all runs of a project share one thread. */
export const keptThread: Plugin = {
  name: "kept-thread",
  configureVitest({ project }) {
    let worker: KeptThread | undefined;
    project.config.pool = "kept-thread";
    project.config.poolRunner = {
      name: "kept-thread",
      createPoolWorker: (options) => (worker ??= new KeptThread(options)),
    };
  },
};
