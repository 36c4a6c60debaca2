/** A process with an executor whose deliveries are retried soon, for tests that kill it. */
import { argv } from "node:process";
import { pino } from "pino";
import { Config } from "../../schemas/config.ts";
import { startExecutor } from "../../src/app/executor.ts";
import { openInstance } from "../../src/app/instance.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";
import { newExecutorId } from "../../src/core/ids.ts";

const [, , stateDir, host] = argv;
const instance = await openInstance({ stateDir: stateDir! }, systemClock, pino({ level: "silent" }));
const setup = {
  settings: readEnvironment({ MILLRACE_STATE_DIR: stateDir! }),
  config: Config.parse({ http: { allowed_hosts: [host] } }),
  clock: systemClock,
  deliveries: { timeoutMs: 700, pauseFactor: 0.002 },
};
await startExecutor(instance, setup, { id: newExecutorId("chaos"), slots: 4, leaseMs: 1_500 });
// Timers of an executor do not keep a process alive.
setInterval(() => {}, 60_000);
