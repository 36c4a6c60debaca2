/** Heavy work at normal priority, for tests that are not about priorities. */
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import threads, { isMainThread, type WorkerOptions } from "node:worker_threads";

class NormalWorker extends threads.Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    super(file, { ...options, execArgv: [...(options.execArgv ?? []), "--import", import.meta.url] });
  }
}

/**
 * Keeps the heavy work of this process at normal priority, in the threads and children that it starts from then on too. At the
 * lower one, a machine that is busy with something else gives it so little that it reaches limits of elapsed time.
 * @returns ends this
 */
export function keepNormalPriority(): () => void {
  const { setPriority } = os;
  const { Worker } = threads;
  const use = (replaced: typeof setPriority, worker: typeof Worker): void => {
    os.setPriority = replaced;
    threads.Worker = worker;
    syncBuiltinESMExports();
  };
  use(() => {}, NormalWorker);
  return () => use(setPriority, Worker);
}

// Those threads load this module.
if (!isMainThread) keepNormalPriority();
