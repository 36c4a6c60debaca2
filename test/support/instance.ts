/** A new state directory with keys, and both listeners in this process on free ports. */
import { type Logger, pino } from "pino";
import { onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { type Executor, startExecutor } from "../../src/app/executor.ts";
import { type Instance, openInstance } from "../../src/app/instance.ts";
import type { RunningServer } from "../../src/app/listener.ts";
import { startMcpServer } from "../../src/app/mcp.ts";
import { startWebServer } from "../../src/app/serve.ts";
import { openServices, type Setup } from "../../src/app/services.ts";
import { createKey, type CreatedKey } from "../../src/auth/api-keys.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { type Clock, MINUTE, systemClock } from "../../src/core/clock.ts";
import type { Services } from "../../src/surfaces/invoke.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { childProgram } from "./child-program.ts";
import { repeatBy } from "./clock.ts";
import { locationOf, newStateDirectory } from "./directories.ts";
import { sharedEngineThreads } from "./engine-threads.ts";

export { fakeClock, type FakeClock } from "./clock.ts";
export { temporaryDirectory } from "./directories.ts";

export interface TestInstance extends Instance {
  /** The services of operations. */
  services: Services;
  stateDir: string;
  clock: Clock;
  key(options?: Partial<Parameters<typeof createKey>[2]>): Promise<CreatedKey>;
  rest(options?: CopyOptions): Promise<Copy>;
  mcp(options?: CopyOptions): Promise<Copy>;
  /** Starts an executor in this process. */
  executor(options?: CopyOptions & { slots?: number }): Promise<Executor>;
}

interface CopyOptions {
  config?: unknown;
  authMode?: Setup["authMode"];
  tracer?: Setup["tracer"];
  /** The cost of password hashes; very low by default. */
  passwords?: Setup["passwords"];
  env?: Record<string, string>;
  readDiskSpace?: Setup["readDiskSpace"];
}

interface Copy extends RunningServer {
  url: string;
}

/** A busy machine may take longer than the limits to start the process that checks a query. */
const PATIENT_CHECKS = { connectionsTimeoutMs: 2 * MINUTE, prepareTimeoutMs: 2 * MINUTE };

const CHEAP = { parameters: { logN: 4, r: 8, p: 1 } };

const silent = pino({ level: "silent" });

/**
 * Opens a state directory, by default a new one, with real time by default. Several instances on one directory behave like
 * several processes: each has its own connections.
 */
export async function testInstance({
  stateDir: existing,
  clock = systemClock,
  log = silent,
  /** Whether to treat the file system as local; otherwise the rollback journal is used. */
  local = true,
  /** The configuration of `services`. */
  config,
  /** The environment of `services`. */
  env: servicesEnv = {},
}: {
  stateDir?: string;
  clock?: Clock;
  log?: Logger;
  local?: boolean;
  config?: unknown;
  env?: Record<string, string>;
} = {}): Promise<TestInstance> {
  const stateDir = existing ?? (await newStateDirectory());
  const location = locationOf(stateDir);
  const directory = local ? undefined : { ...openStateDirectory(stateDir), local };
  const instance = await openInstance(location, clock, log, { directory });
  const running: Pick<RunningServer, "stop">[] = [];
  onTestFinished(async () => {
    await Promise.all(running.map((it) => it.stop(0)));
    await close();
    await instance.close();
  });
  const setupOf = ({
    config: given = {},
    env = {},
    authMode,
    tracer,
    passwords = CHEAP,
    readDiskSpace,
  }: CopyOptions): Setup => ({
    settings: readEnvironment({ MILLRACE_STATE_DIR: stateDir, ...env }),
    config: Config.parse(given),
    clock,
    authMode,
    tracer,
    passwords,
    readDiskSpace,
    checks: PATIENT_CHECKS,
    childProgram: childProgram(),
    threads: sharedEngineThreads(),
    resetDelayMs: 0,
    repeat: repeatBy(clock),
  });
  const open =
    (start: typeof startWebServer) =>
    async (options: CopyOptions = {}): Promise<Copy> => {
      const copy = await start(instance, setupOf(options), { host: "127.0.0.1", port: 0 });
      running.push(copy);
      return { ...copy, url: `http://127.0.0.1:${copy.port}` };
    };
  const { services, close } = openServices(instance, setupOf({ config, env: servicesEnv }));
  return {
    ...instance,
    services,
    stateDir,
    clock,
    key: ({ owner = "operator", name = "test", ...options } = {}) =>
      createKey(instance.keys, clock, { name, owner, ...options }),
    rest: open(startWebServer),
    mcp: open(startMcpServer),
    async executor({ slots = 4, ...options } = {}) {
      const id = `test-${Math.random().toString(36).slice(2)}`;
      const executor = await startExecutor(instance, setupOf(options), { id, slots });
      running.push(executor);
      return executor;
    },
  };
}
