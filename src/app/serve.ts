/** The web and API server. */
import { catalogue } from "../../tools/index.ts";
import { linkUrl, newLink } from "../auth/links.ts";
import { reachableHost } from "../core/hosts.ts";
import { linkWriter } from "../store/links.ts";
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
  const door = await openAuthentication(instance, setup);
  const signIn = await openSignIn(instance, setup, at.host, services, baseUrl);
  const streams = createStreamRegistry("ask with GET /runs/{run_id}", instance.meter);
  const app = restApp({
    catalogue,
    services,
    admission: door.gate,
    signIn,
    webDirectory: WEB_DIRECTORY,
    streams,
    lifecycle,
    version: VERSION,
    checkStorage: () => instance.store.checkHealth(),
    trustedProxies: settings.trustedProxies,
  });
  const deadAmong = async (ids: readonly string[]): Promise<string[]> => {
    const sessions = ids.filter((id) => id.startsWith("ses_"));
    const keys = ids.filter((id) => !id.startsWith("ses_"));
    return (await Promise.all([door.deadAmong(keys), signIn.sessions.findInvalid(sessions)])).flat();
  };
  const flushing = setInterval(() => {
    signIn.sessions.flush().catch((err: unknown) => services.log.warn({ err }, "sessions not written"));
  }, LAST_USED_FLUSH_MS).unref();
  const stopTending = startStreamMaintenance(streams, deadAmong, (err) =>
    services.log.warn({ err }, "streams"),
  );
  const closeStreams = async (): Promise<void> => {
    beginShutdown();
    streams.closeAll();
  };
  const listener = await listen(app, { ...at, lifecycle, closeStreams }).catch((error: unknown) => {
    // Its timers would keep a process running that serves nobody.
    stopTending();
    clearInterval(flushing);
    throw error;
  });
  port = listener.port;
  signIn.provider?.onListening?.();
  // Only links that commands print need it: no reason not to serve.
  await saveWebAddress(instance.store, baseUrl()).catch((err: unknown) =>
    services.log.warn({ err }, "the address was not written down: commands may print links with another"),
  );
  return {
    port,
    async setupLink() {
      if (signIn.mode !== "built-in" || (await instance.read.users.exists())) return undefined;
      const { token, record } = newLink("setup", null, clock);
      await instance.store.transaction((trx) => linkWriter(trx, clock).insert(record));
      return linkUrl(baseUrl(), "setup", token);
    },
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      stopTending();
      clearInterval(flushing);
      await door.close();
      await close();
    },
  };
}
