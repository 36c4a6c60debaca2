/** Common parts of both servers: the interface of a running server, and authentication by API key. */
import { setTimeout as delay } from "node:timers/promises";
import { authenticator } from "../auth/authenticate.ts";
import { admission } from "../surfaces/admission.ts";
import type { Instance } from "./instance.ts";
import type { Setup } from "./services.ts";

/** A running server. */
export interface RunningServer {
  port: number;
  /** Whether the first admin account is to be created with a link (`serve`). */
  needsAdmin?(): Promise<boolean>;
  /** Creates that link, and invalidates the one before it; undefined once there is a user (`serve`). */
  createSetupLink?(): Promise<string | undefined>;
  /** Stops the server: it reports draining at once, and closes after the delay (ms) and at most 10 s more. */
  stop(drainDelay: number): Promise<void>;
}

export interface ListenAddress {
  host: string;
  port: number;
}

/** Interval at which the last use of keys and sessions is written, in milliseconds. */
export const LAST_USED_FLUSH_MS = 10_000;
/** How long the final write may take, in milliseconds: another process may hold the lock for long. */
const FINAL_FLUSH_LIMIT_MS = 500;

/** Opens authentication by API key, with a timer that writes when keys were last used. */
export async function openAuthentication({ keys, read, log }: Instance, { config, clock }: Setup) {
  const auth = authenticator(keys, read.projects, clock, (key, state) =>
    log.info({ key, state }, "API key refused"),
  );
  const flush = (): Promise<void> =>
    auth.flush().catch((err: unknown) => log.warn({ err }, "last use of keys not written"));
  const timer = setInterval(() => void flush(), LAST_USED_FLUSH_MS).unref();
  return {
    admission: admission(auth, config.limits.requests_per_minute),
    callers: { findInvalid: auth.findInvalid, accessOf: auth.accessOf },
    async close() {
      clearInterval(timer);
      await Promise.race([flush(), delay(FINAL_FLUSH_LIMIT_MS, undefined, { ref: false })]);
    },
  };
}
