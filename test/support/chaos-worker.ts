/**
 * A process with an executor, for tests that kill it: `chaos-worker.ts <state directory> <config as JSON> <time factor>`. Deliveries
 * are retried soon, and what timers do from time to time is done all the time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { argv, execPath } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { Config } from "../../schemas/config.ts";
import { startExecutor } from "../../src/app/executor.ts";
import { openInstance } from "../../src/app/instance.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { newExecutorId } from "../../src/core/ids.ts";

/** Starts the process. @param options.env secrets of the configuration @param options.timeFactor see `fastClock` */
export const spawnChaosWorker = (
  stateDir: string,
  config: unknown,
  { env = {}, timeFactor = 1 }: { env?: Record<string, string>; timeFactor?: number } = {},
): ChildProcess =>
  spawn(execPath, [fileURLToPath(import.meta.url), stateDir, JSON.stringify(config), String(timeFactor)], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });

/** A clock of all processes of this machine that passes `factor` times as fast, from a moment of this year on. */
export const fastClock = (factor: number): Clock => {
  const start = Date.parse("2026-01-01T00:00:00.000Z");
  return { ...systemClock, now: () => start + Math.floor((Date.now() - start) * factor) };
};

async function main(stateDir: string, config: string, timeFactor: number): Promise<void> {
  const clock = fastClock(timeFactor);
  const instance = await openInstance({ stateDir }, clock, pino({ level: "silent" }));
  const setup = {
    settings: readEnvironment({ ...process.env, MILLRACE_STATE_DIR: stateDir }),
    config: Config.parse(JSON.parse(config)),
    clock,
    deliveries: { timeoutMs: 700, pauseFactor: 0.002 },
  };
  const executor = await startExecutor(instance, setup, {
    id: newExecutorId("chaos"),
    slots: 4,
    leaseMs: 1_500,
  });
  for (;;) {
    // A database that is locked for long is tried again.
    await Promise.allSettled([executor.raiseOverdue(), executor.continueBackfills()]);
    // Its timers pass as fast as those of the machine.
    executor.queue.wake();
    await delay(20);
  }
}

if (import.meta.main) await main(argv[2]!, argv[3]!, Number(argv[4]));
