/** One Millrace in this process: the MCP endpoint and an executor on a new state directory, with a clock that can jump. */
import { join } from "node:path";
import { pino } from "pino";
import type { z } from "zod";
import { Config } from "../../schemas/config.ts";
import { type Executor, startExecutor } from "../../src/app/executor.ts";
import { type Instance, openInstance } from "../../src/app/instance.ts";
import { startMcpServer } from "../../src/app/mcp.ts";
import { openServices } from "../../src/app/services.ts";
import { createKey } from "../../src/auth/api-keys.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import type { Clock } from "../../src/core/clock.ts";
import { newExecutorId } from "../../src/core/ids.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { catalogue } from "../../tools/index.ts";

/** Every task begins on this Monday, so that a recorded transcript meets the same dates. */
const START = Date.parse("2026-11-16T09:00:00Z");

/** Passwords that the configuration of a task names. */
const VARIABLES = { SMTP_PASSWORD: "smtp" };

interface JumpingClock extends Clock {
  advance(milliseconds: number): void;
}

export interface Millrace {
  instance: Instance;
  executor: Executor;
  clock: JumpingClock;
  /** The URL of the MCP endpoint. */
  url: string;
  /** The agent's API key, with the scopes of a key that a person creates without choosing any. */
  key: string;
  /** Runs an operation as the operator. */
  operate<T>(tool: string, input: object): Promise<T>;
  close(): Promise<void>;
}

function jumpingClock(): JumpingClock {
  const offset = { ms: START - Date.now() };
  return {
    now: () => Date.now() + offset.ms,
    advance: (milliseconds) => void (offset.ms += milliseconds),
  };
}

/** Starts Millrace. @param directory an existing directory for its state */
export async function startMillrace(directory: string, config: z.input<typeof Config>): Promise<Millrace> {
  const clock = jumpingClock();
  const stateDir = join(directory, "state");
  const instance = await openInstance({ stateDir }, clock, pino({ level: "silent" }));
  const settings = readEnvironment({ MILLRACE_STATE_DIR: stateDir, ...VARIABLES });
  const setup = { settings, config: Config.parse(config), clock };
  const executor = await startExecutor(instance, setup, { id: newExecutorId("bench"), slots: 8 });
  const server = await startMcpServer(instance, setup, { host: "127.0.0.1", port: 0 });
  const { services, close } = openServices(instance, setup, {
    wake: () => executor.queue.wake(),
    onChanged: () => {},
  });
  const { value: key } = await createKey(instance.keys, clock, { name: "agent", owner: "operator" });
  const { signal } = new AbortController();
  return {
    instance,
    executor,
    clock,
    url: `http://127.0.0.1:${server.port}/mcp`,
    key,
    operate: async <T>(name: string, input: object): Promise<T> =>
      (await invoke(
        services,
        catalogue.find((tool) => tool.name === name)!,
        input,
        {
          actor: OPERATOR_ACTOR,
          requestId: "req_bench",
          signal,
        },
      )) as T,
    async close() {
      await Promise.all([server.stop(0), executor.stop(0)]);
      await close();
      await instance.close();
    },
  };
}
