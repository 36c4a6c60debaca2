/** The MCP server. */
import { catalogue } from "../../tools/index.ts";
import { mcpSessionStore } from "../store/mcp-sessions.ts";
import { type Lifecycle, listen } from "../surfaces/http-server.ts";
import { VERSION } from "./build.ts";
import type { Instance } from "./instance.ts";
import { type ListenAt, openDoor, type Running } from "./listener.ts";
import { type Executors, openServices, type Setup } from "./services.ts";

/** Starts the MCP server. */
export async function startMcp(
  instance: Instance,
  setup: Setup,
  at: ListenAt,
  executors?: Executors,
): Promise<Running> {
  const { mcpApp } = await import("../surfaces/mcp/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { services, leave, close } = openServices(instance, setup, executors);
  const door = await openDoor(instance, setup);
  const { store } = instance;
  const { settings, clock } = setup;
  const mcp = mcpApp({
    catalogue,
    services,
    version: VERSION,
    admit: door.gate.admit,
    deadAmong: door.deadAmong,
    sessions: mcpSessionStore(store, clock),
    lifecycle,
    fault: () => store.fault(),
    dataVersion: () => store.dataVersion(),
    hostnames: ["localhost", "127.0.0.1", "[::1]"].concat(
      [settings.baseUrl, settings.mcpUrl].flatMap((url) => (url === undefined ? [] : [url.hostname])),
    ),
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
    closeStreams() {
      leave();
      return mcp.closeStreams();
    },
  }).catch(async (error: unknown) => {
    // Its timers would keep a process running that serves nobody.
    await mcp.stop();
    throw error;
  });
  return {
    port: listener.port,
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      await mcp.stop();
      await door.close();
      await close();
    },
  };
}
