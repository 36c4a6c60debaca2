/** Starts the MCP server. */
import { catalogue } from "../../tools/index.ts";
import { durationMs } from "../core/duration.ts";
import { mcpBase, mcpResources } from "../core/mcp-resource.ts";
import { pathPrefixOf } from "../core/public-url.ts";
import { changeMarkReader } from "../store/change-marks.ts";
import { mcpSessionStore } from "../store/mcp-sessions.ts";
import { mcpSubscriptionStore } from "../store/mcp-subscriptions.ts";
import { type Lifecycle, listen } from "../surfaces/http-server.ts";
import type { ExtendServer } from "../surfaces/mcp/server.ts";
import { APPS_DIRECTORY, VERSION } from "./build.ts";
import { connectionLimits } from "./connection-limits.ts";
import type { Instance } from "./instance.ts";
import { type ListenAddress, openAuthentication, type RunningServer } from "./listener.ts";
import { allowsOauth, originRules } from "./oauth.ts";
import { type ExecutorNotifier, openServices, type Setup, webAddress } from "./services.ts";
import { storageMonitor } from "./storage-monitor.ts";

/** Starts the MCP server. @param extendServer registers further handlers on each server of a connection */
export async function startMcpServer(
  instance: Instance,
  setup: Setup,
  at: ListenAddress,
  executors?: ExecutorNotifier,
  extendServer?: ExtendServer,
): Promise<RunningServer> {
  const [{ mcpApp }, { mcpApps }] = await Promise.all([
    import("../surfaces/mcp/app.ts"),
    import("../surfaces/mcp/apps.ts"),
  ]);
  const lifecycle: Lifecycle = { draining: false };
  await using starting = new AsyncDisposableStack();
  const { services, beginShutdown, close } = openServices(instance, setup, executors);
  starting.defer(close);
  const authentication = await openAuthentication(instance, setup);
  starting.defer(authentication.close);
  const { store } = instance;
  const { settings, clock } = setup;
  const storage = storageMonitor(() => store.checkHealth());
  starting.defer(() => storage.close());
  const pathPrefix = pathPrefixOf(settings.mcpUrl && mcpBase(settings.mcpUrl));
  const address = (): Promise<string> => webAddress(instance, settings);
  const mcp = mcpApp({
    catalogue,
    services: { ...services, callers: authentication.callers },
    version: VERSION,
    webAddress: address,
    watched: { subscriptions: mcpSubscriptionStore(store), readChangeMarks: changeMarkReader(store.read) },
    keptRunsMs: durationMs(setup.config.retention.runs),
    apps: mcpApps(APPS_DIRECTORY, address),
    admit: authentication.admission.admit,
    callers: authentication.callers,
    sessions: mcpSessionStore(store, clock),
    // Shorter than that of executors: nothing is executed twice when the holder of a stream was only slow.
    streamLeaseMs: instance.store.leaseMs / 2,
    lifecycle,
    checkStorage: storage.issue,
    changes: instance.changes,
    originRules: originRules(setup.config, settings),
    pathPrefix,
    oauth: allowsOauth(setup.config, settings)
      ? { resources: mcpResources(settings), pathPrefix, issuer: address }
      : undefined,
    log: services.log,
    extendServer,
  });
  starting.defer(() => mcp.stop());
  const listener = await listen(mcp.handler, {
    ...at,
    lifecycle,
    connections: connectionLimits(setup, services.log),
    closeStreams() {
      beginShutdown();
      return mcp.closeStreams();
    },
  });
  let drainDelayMs = 0;
  starting.defer(() => listener.drain(drainDelayMs));
  const running = starting.move();
  return {
    port: listener.port,
    stop(drainDelay) {
      drainDelayMs = drainDelay;
      return running.disposeAsync();
    },
  };
}
