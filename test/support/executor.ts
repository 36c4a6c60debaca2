import { onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { type Executor, startExecutor } from "../../src/app/executor.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { newExecutorId } from "../../src/core/ids.ts";
import { repeatBy } from "./clock.ts";
import type { TestInstance } from "./instance.ts";

/** Starts an executor in this process, which stops at the end of the test. */
export async function startTestExecutor(instance: TestInstance): Promise<Executor> {
  const setup = {
    settings: readEnvironment({ MILLRACE_STATE_DIR: instance.stateDir }),
    config: Config.parse({}),
    clock: instance.clock,
    repeat: repeatBy(instance.clock),
  };
  const executor = await startExecutor(instance, setup, { id: newExecutorId("test"), slots: 4 });
  onTestFinished(() => executor.stop(0));
  return executor;
}
