/** What both servers have in common: how they are started and ended, and the door that keys open. */
import { setTimeout as delay } from "node:timers/promises";
import { authenticator } from "../auth/authenticate.ts";
import { admission } from "../surfaces/admission.ts";
import type { Instance } from "./instance.ts";
import type { Setup } from "./services.ts";

/** A process that serves. */
export interface RunningServer {
  port: number;
  /** Of `serve`: a link that makes the first admin; undefined once there is one. */
  setupLink?(): Promise<string | undefined>;
  /** Ends it: not healthy at once, closed after the delay (ms) and at most 10 s more. */
  stop(drainDelay: number): Promise<void>;
}

export interface ListenAddress {
  host: string;
  port: number;
}

/** How often it is written down who came in, in milliseconds. */
export const LAST_USED_FLUSH_MS = 10_000;
const LAST_FLUSH_MS = 500;

/** Who may come in, and the timer that writes down who did. */
export async function openAuthentication({ keys, log }: Instance, { config, clock }: Setup) {
  const auth = authenticator(keys, clock, (key, state) => log.info({ key, state }, "refused a dead key"));
  const flush = (): Promise<void> =>
    auth.flush().catch((err: unknown) => log.warn({ err }, "last use not written"));
  const timer = setInterval(() => void flush(), LAST_USED_FLUSH_MS).unref();
  return {
    gate: admission(auth, config.limits.requests_per_minute),
    deadAmong: auth.findInvalid,
    async close() {
      clearInterval(timer);
      // Not worth being late for: whoever holds the lock may hold it for long.
      await Promise.race([flush(), delay(LAST_FLUSH_MS, undefined, { ref: false })]);
    },
  };
}
