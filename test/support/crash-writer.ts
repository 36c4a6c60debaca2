/** A process that reports each completed write, for tests that kill it at every step. */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { argv, stdin } from "node:process";
import { pino } from "pino";
import { accessEverywhere } from "../../src/core/access.ts";
import { catalogue } from "../../tools/index.ts";
import { Config } from "../../schemas/config.ts";
import { type Instance, openInstance } from "../../src/app/instance.ts";
import { openServices } from "../../src/app/services.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Actor } from "../../src/core/principal.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { invoke } from "../../src/surfaces/invoke.ts";

const actor: Actor = {
  principal: {
    kind: "key",
    keyId: "key_crash",
    keyName: "crash",
    owner: "operator",
    lineage: "key_crash",
    scopes: new Set(["read", "write"]),
    access: accessEverywhere(["read", "write"]),
  },
  client: { surface: "rest", name: "crash-writer" },
};

/** Each step takes effect once, however often it is repeated. */
export const WRITE_STEPS: readonly (readonly [tool: string, input: Record<string, unknown>])[] = [
  ["create_workflow", { name: "Alpha", description: "first", idempotency_key: "a" }],
  ["update_workflow", { workflow_id: "alpha", description: "second", if_match: 1 }],
  ["create_workflow", { name: "Beta", description: "first", idempotency_key: "b" }],
  ["update_workflow", { workflow_id: "alpha", description: "third", if_match: 2 }],
];

/** What the process prints when it waits for a line, to begin. */
export const READY = "ready";

/** Opens a state directory in a given journal mode. */
export const openInstanceInJournalMode = (stateDir: string, local: boolean): Promise<Instance> =>
  openInstance({ stateDir }, systemClock, pino({ level: "silent" }), {
    directory: { ...openStateDirectory(stateDir), local },
  });

/** Runs step `index`. A refused repetition of an earlier change counts as success. */
export async function applyStep(instance: Instance, index: number): Promise<void> {
  const settings = readEnvironment({ MILLRACE_STATE_DIR: instance.store.diskPath });
  const { services } = openServices(instance, { settings, config: Config.parse({}), clock: systemClock });
  const [name, input] = WRITE_STEPS[index]!;
  const tool = catalogue.find((it) => it.name === name)!;
  const call = { actor, requestId: `step-${index}`, signal: new AbortController().signal };
  await invoke(services, tool, input, call).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "version_conflict") throw error;
  });
}

if (import.meta.main) {
  const [, , stateDir, local] = argv;
  // strace attaches now, because it would slow down the loading of the modules to a third.
  writeSync(1, `${READY}\n`);
  await once(stdin, "data");
  const instance = await openInstanceInJournalMode(stateDir!, local === "local");
  for (const index of WRITE_STEPS.keys()) {
    await applyStep(instance, index);
    writeSync(1, `${index}\n`);
  }
  await instance.close();
  stdin.destroy();
}
