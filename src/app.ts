/** Puts the pieces together; the only file that names concrete ones. */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { catalogue } from "../tools/index.ts";
import { authenticator } from "./auth/authenticate.ts";
import type { Config } from "../schemas/config.ts";
import type { Settings } from "./config/environment.ts";
import type { Clock } from "./core/clock.ts";
import { cursorCodec } from "./core/cursors.ts";
import type { ApiKeyStore } from "./core/ports.ts";
import { apiKeyStore } from "./store/api-keys.ts";
import { openStore, type Store } from "./store/database.ts";
import { mcpSessionStore } from "./store/mcp-sessions.ts";
import { cursorKey } from "./store/settings.ts";
import { openStateDirectory } from "./store/state-directory.ts";
import { unitOfWork } from "./store/unit-of-work.ts";
import { workflowReader } from "./store/workflows.ts";
import { type Admit, gate } from "./surfaces/gate.ts";
import { type Lifecycle, listen } from "./surfaces/http-server.ts";
import type { Services } from "./surfaces/invoke.ts";
import packageJson from "../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

const USE_FLUSH_MS = 10_000;
const LAST_FLUSH_MS = 500;

/** An open state directory and what stands on it. */
export interface Instance {
  store: Store;
  keys: ApiKeyStore;
  services: Services;
  close(): Promise<void>;
}

/** A process that serves. */
export interface Running {
  port: number;
  /** Ends it: not healthy at once, closed after the delay (ms) and at most 10 s more. */
  stop(drainDelay: number): Promise<void>;
}

export interface ListenAt {
  host: string;
  port: number;
}

/**
 * Opens the state directory.
 * @param opened a test says here that its file system is not a local one
 * @throws AppError storage_unavailable, busy
 */
export async function openInstance(
  stateDir: string,
  clock: Clock,
  log: Logger,
  opened = openStateDirectory(stateDir),
): Promise<Instance> {
  const store = await openStore(opened, clock);
  const { directory, journalMode } = store;
  log.debug(
    { state_dir: directory.path, file_system: directory.fileSystem, journal_mode: journalMode },
    "state directory opened",
  );
  if (!directory.local) {
    log.warn(
      { file_system: directory.fileSystem, journal_mode: journalMode },
      "the state directory is on a network or unknown file system: using the rollback journal, which is slower",
    );
  }
  return {
    store,
    keys: apiKeyStore(store, clock),
    services: {
      read: { workflows: workflowReader(store.read) },
      cursors: cursorCodec(await cursorKey(store)),
      write: unitOfWork(store, clock),
      log,
    },
    close: () => store.close(),
  };
}

/** Starts the web and API server. */
export async function startServe(
  instance: Instance,
  settings: Settings,
  config: Config,
  clock: Clock,
  at: ListenAt,
): Promise<Running> {
  const { restApp } = await import("./surfaces/rest/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const door = await openDoor(instance, config, clock);
  const app = restApp({
    catalogue,
    services: instance.services,
    admit: door.admit,
    lifecycle,
    version: VERSION,
    fault: () => instance.store.fault(),
    trustedProxies: settings.trustedProxies,
  });
  const listener = await listen(app, { ...at, lifecycle });
  return {
    port: listener.port,
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      await door.close();
    },
  };
}

/** Starts the MCP server. */
export async function startMcp(
  instance: Instance,
  settings: Settings,
  config: Config,
  clock: Clock,
  at: ListenAt,
): Promise<Running> {
  const { mcpApp } = await import("./surfaces/mcp/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const door = await openDoor(instance, config, clock);
  const { store, services } = instance;
  const mcp = mcpApp({
    catalogue,
    services,
    version: VERSION,
    admit: door.admit,
    deadAmong: door.deadAmong,
    sessions: mcpSessionStore(store, clock),
    lifecycle,
    fault: () => store.fault(),
    dataVersion: () => store.dataVersion(),
    hostnames: ["localhost", "127.0.0.1", "[::1]", ...(settings.baseUrl ? [settings.baseUrl.hostname] : [])],
    local: store.directory.local,
    log: services.log,
    extend:
      settings.fixtures === undefined
        ? undefined
        : ((await import(settings.fixtures)) as { extend: never }).extend,
  });
  const listener = await listen(mcp.handler, {
    ...at,
    lifecycle,
    closeStreams: () => mcp.closeStreams(),
  }).catch((error: unknown) => {
    // Its timers would keep a process running that serves nobody.
    mcp.stop();
    throw error;
  });
  return {
    port: listener.port,
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      mcp.stop();
      await door.close();
    },
  };
}

/** Who may come in, and the timer that writes down who did. */
async function openDoor({ keys, services }: Instance, config: Config, clock: Clock) {
  const { log } = services;
  const auth = authenticator(keys, clock, (key, state) => log.info({ key, state }, "refused a dead key"));
  const flush = (): Promise<void> =>
    auth.flush().catch((err: unknown) => log.warn({ err }, "last use not written"));
  const timer = setInterval(() => void flush(), USE_FLUSH_MS).unref();
  const admit: Admit = await gate(auth, config.limits.requests_per_minute);
  return {
    admit,
    deadAmong: auth.deadAmong,
    async close() {
      clearInterval(timer);
      // Not worth being late for: whoever holds the lock may hold it for long.
      await Promise.race([flush(), delay(LAST_FLUSH_MS, undefined, { ref: false })]);
    },
  };
}
