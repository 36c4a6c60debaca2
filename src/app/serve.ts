/** Starts the web and API server. */
import { catalogue } from "../../tools/index.ts";
import { reachableHost } from "../core/hosts.ts";
import { saveWebAddress } from "../store/settings.ts";
import { type Lifecycle, listen } from "../surfaces/http-server.ts";
import { createStreamRegistry, startStreamMaintenance } from "../surfaces/streams.ts";
import { VERSION, WEB_DIRECTORY } from "./build.ts";
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

/** Starts the web and API server. */
export async function startWebServer(
  instance: Instance,
  setup: Setup,
  at: ListenAddress,
  executors?: ExecutorNotifier,
): Promise<RunningServer> {
  const { restApp } = await import("../surfaces/rest/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { settings, clock } = setup;
  let port = at.port;
  const baseUrl = (): string => settings.baseUrl?.origin ?? `http://${reachableHost(at.host)}:${port}`;
  const { services, beginShutdown, close } = openServices(instance, setup, executors, baseUrl);
  const authentication = await openAuthentication(instance, setup);
  const signIn = await openSignIn(instance, setup, at.host, services, baseUrl);
  const streams = createStreamRegistry("ask with GET /runs/{run_id}", instance.meter);
  const app = restApp({
    catalogue,
    services,
    admission: authentication.admission,
    signIn,
    webDirectory: WEB_DIRECTORY,
    streams,
    lifecycle,
    version: VERSION,
    checkStorage: () => instance.store.checkHealth(),
    trustedProxies: settings.trustedProxies,
  });
  const findInvalid = async (ids: readonly string[]): Promise<string[]> => {
    const sessions = ids.filter((id) => id.startsWith("ses_"));
    const keys = ids.filter((id) => !id.startsWith("ses_"));
    return (
      await Promise.all([authentication.findInvalidKeys(keys), signIn.sessions.findInvalid(sessions)])
    ).flat();
  };
  const flushing = setInterval(() => {
    signIn.sessions
      .flush()
      .catch((err: unknown) => services.log.warn({ err }, "last use of sessions not written"));
  }, LAST_USED_FLUSH_MS).unref();
  const stopMaintenance = startStreamMaintenance(streams, findInvalid, (err) =>
    services.log.warn({ err }, "streams not checked for expired keys"),
  );
  const closeStreams = async (): Promise<void> => {
    beginShutdown();
    streams.closeAll();
  };
  const listener = await listen(app, { ...at, lifecycle, closeStreams }).catch((error: unknown) => {
    // Its timers would keep the process running.
    stopMaintenance();
    clearInterval(flushing);
    throw error;
  });
  port = listener.port;
  signIn.provider?.onListening?.();
  // Only the links that commands print need the address, so a failure is no reason to stop.
  await saveWebAddress(instance.store, baseUrl()).catch((err: unknown) =>
    services.log.warn({ err }, "web address not saved, commands may print links with another one"),
  );
  const hasOwnAccounts = signIn.mode === "built-in";
  return {
    port,
    needsAdmin: async () => hasOwnAccounts && !(await instance.read.users.exists()),
    createSetupLink: async () => (hasOwnAccounts ? createSetupLink(instance, clock, baseUrl()) : undefined),
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      stopMaintenance();
      clearInterval(flushing);
      await authentication.close();
      await close();
    },
  };
}
