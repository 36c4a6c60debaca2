/** Starts the MCP server. */
import { catalogue } from "../../tools/index.ts";
import { mcpSessionStore } from "../store/mcp-sessions.ts";
import { type Lifecycle, listen } from "../surfaces/http-server.ts";
import type { ExtendServer } from "../surfaces/mcp/server.ts";
import { VERSION } from "./build.ts";
import { type Instance, leaseDurationMs } from "./instance.ts";
import { type ListenAddress, openAuthentication, type RunningServer } from "./listener.ts";
import { type ExecutorNotifier, openServices, type Setup } from "./services.ts";

/** Starts the MCP server. @param extendServer registers further handlers on each server of a connection */
export async function startMcpServer(
  instance: Instance,
  setup: Setup,
  at: ListenAddress,
  executors?: ExecutorNotifier,
  extendServer?: ExtendServer,
): Promise<RunningServer> {
  const { mcpApp } = await import("../surfaces/mcp/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { services, beginShutdown, close } = openServices(instance, setup, executors);
  const authentication = await openAuthentication(instance, setup);
  const { store } = instance;
  const { settings, clock } = setup;
  const mcp = mcpApp({
    catalogue,
    services,
    version: VERSION,
    admit: authentication.admission.admit,
    findInvalid: authentication.findInvalidKeys,
    sessions: mcpSessionStore(store, clock),
    // Shorter than that of executors: nothing is executed twice when the holder of a stream was only slow.
    streamLeaseMs: leaseDurationMs(instance) / 2,
    lifecycle,
    checkStorage: () => store.checkHealth(),
    changes: instance.changes,
    hostnames: ["localhost", "127.0.0.1", "[::1]"].concat(
      [settings.baseUrl, settings.mcpUrl].flatMap((url) => (url === undefined ? [] : [url.hostname])),
    ),
    log: services.log,
    extendServer,
  });
  const listener = await listen(mcp.handler, {
    ...at,
    lifecycle,
    closeStreams() {
      beginShutdown();
      return mcp.closeStreams();
    },
  }).catch(async (error: unknown) => {
    // Its timers would keep the process running.
    await mcp.stop();
    throw error;
  });
  return {
    port: listener.port,
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      await mcp.stop();
      await authentication.close();
      await close();
    },
  };
}
