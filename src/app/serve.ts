/** Starts the web and API server. */
import { catalogue } from "../../tools/index.ts";
import { ConfigError } from "../config/config-file.ts";
import { reachableHost } from "../core/hosts.ts";
import { pathPrefixOf, webBase } from "../core/public-url.ts";
import { saveWebAddress } from "../store/settings.ts";
import { type Lifecycle, listen } from "../surfaces/http-server.ts";
import type { Access } from "../core/access.ts";
import { createStreamRegistry, startStreamMaintenance } from "../surfaces/streams.ts";
import { VERSION, WEB_DIRECTORY } from "./build.ts";
import { connectionLimits } from "./connection-limits.ts";
import type { Instance } from "./instance.ts";
import {
  type ListenAddress,
  openAuthentication,
  type RunningServer,
  LAST_USED_FLUSH_MS,
} from "./listener.ts";
import { type ExecutorNotifier, openServices, type Setup } from "./services.ts";
import { createSetupLink } from "./setup-link.ts";
import { openSignIn } from "./sign-in.ts";
import { storageMonitor } from "./storage-monitor.ts";

/** Starts the web and API server. */
export async function startWebServer(
  instance: Instance,
  setup: Setup,
  at: ListenAddress,
  executors?: ExecutorNotifier,
): Promise<RunningServer> {
  const { reservedPrefix, restApp } = await import("../surfaces/rest/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { settings, clock } = setup;
  const reserved = reservedPrefix(pathPrefixOf(settings.baseUrl && webBase(settings.baseUrl)), catalogue);
  if (reserved !== undefined)
    throw new ConfigError([
      `environment: MILLRACE_BASE_URL begins with the path ${reserved}, which Millrace has itself. Use another one, such as ` +
        `/millrace${reserved}, or none`,
    ]);
  let port = at.port;
  const baseUrl = (): string =>
    settings.baseUrl === undefined ? `http://${reachableHost(at.host)}:${port}` : webBase(settings.baseUrl);
  await using starting = new AsyncDisposableStack();
  const { services, beginShutdown, close } = openServices(instance, setup, executors, baseUrl);
  starting.defer(close);
  const authentication = await openAuthentication(instance, setup);
  starting.defer(authentication.close);
  const signIn = await openSignIn(instance, setup, at.host, services, baseUrl);
  const storage = storageMonitor(() => instance.store.checkHealth());
  starting.defer(() => storage.close());
  const findInvalid = async (ids: readonly string[], asOf?: number): Promise<string[]> => {
    const sessions = ids.filter((id) => id.startsWith("ses_"));
    const keys = ids.filter((id) => !id.startsWith("ses_"));
    return (
      await Promise.all([
        authentication.callers.findInvalid(keys, asOf),
        signIn.sessions.findInvalid(sessions, asOf),
      ])
    ).flat();
  };
  const accessOf = async (id: string): Promise<Access | undefined> => {
    if (!id.startsWith("ses_")) return authentication.callers.accessOf(id);
    const session = await instance.read.sessions.find(id);
    const user = session && (await instance.read.users.find(session.userId));
    return user && signIn.sessions.accessOf(user);
  };
  const streams = createStreamRegistry("ask with GET /runs/{run_id}", instance.meter);
  const app = restApp({
    catalogue,
    services: { ...services, callers: { findInvalid, accessOf } },
    admission: authentication.admission,
    signIn,
    webDirectory: WEB_DIRECTORY,
    streams,
    lifecycle,
    version: VERSION,
    checkStorage: storage.issue,
    trustedProxies: settings.trustedProxies,
  });
  const flushing = setInterval(() => {
    signIn.sessions
      .flush()
      .catch((err: unknown) => services.log.warn({ err }, "last use of sessions not written"));
  }, LAST_USED_FLUSH_MS).unref();
  starting.defer(() => clearInterval(flushing));
  const stopMaintenance = startStreamMaintenance(streams, { findInvalid, accessOf }, (err) =>
    services.log.warn({ err }, "streams not checked for expired keys"),
  );
  starting.defer(() => stopMaintenance());
  const closeStreams = async (): Promise<void> => {
    beginShutdown();
    streams.closeAll();
  };
  const connections = connectionLimits(setup, services.log);
  const listener = await listen(app, { ...at, lifecycle, connections, closeStreams });
  let drainDelayMs = 0;
  starting.defer(() => listener.drain(drainDelayMs));
  port = listener.port;
  signIn.provider?.onListening?.();
  // Only the links that commands print need the address, so a failure is no reason to stop.
  await saveWebAddress(instance.store, baseUrl()).catch((err: unknown) =>
    services.log.warn({ err }, "web address not saved, commands may print links with another one"),
  );
  const running = starting.move();
  const hasOwnAccounts = signIn.mode === "built-in";
  return {
    port,
    needsAdmin: async () => hasOwnAccounts && !(await instance.read.users.exists()),
    createSetupLink: async () => (hasOwnAccounts ? createSetupLink(instance, clock, baseUrl()) : undefined),
    stop(drainDelay) {
      drainDelayMs = drainDelay;
      return running.disposeAsync();
    },
  };
}
