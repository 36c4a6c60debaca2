/** Reads the secrets of a process, and logs when they change. */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Secrets } from "../config/secrets.ts";
import { SECOND } from "../core/clock.ts";
import { describeVariable } from "../core/variables.ts";

/** How long a start waits for the command that gives secrets; later, only the steps that need them wait. */
const START_LIMIT_MS = 15 * SECOND;

/** Logs changes and failures from now on, by the names of the variables. */
export function logSecrets(secrets: Secrets, log: Logger): void {
  secrets.listen({
    onReplaced: (variable) => log.info({ variable: describeVariable(variable) }, "secret replaced"),
    onRecovered: (variable) => log.info({ variable: describeVariable(variable) }, "secret read again"),
    onFailure: (reason) => log.warn({ reason }, "secret not read"),
  });
}

/** Reads all secrets of a long-lived process, so that no step waits for them, and all of them are masked. */
export async function readSecrets(secrets: Secrets): Promise<void> {
  await Promise.race([secrets.loadAll(), delay(START_LIMIT_MS, undefined, { ref: false })]);
}
