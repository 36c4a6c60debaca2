/** A TCP proxy that can reset or stall connections. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface TcpProxy {
  port: number;
  /** The number of connections so far. */
  connectionCount(): number;
  /** Resets all connections; new ones are accepted. */
  resetConnections(): void;
  /** Stops forwarding in both directions; connections stay open. */
  stall(): void;
  /** Forwards to another port of this machine from now on, and resets the connections to the present one. */
  switchTo(port: number): void;
  /** Forwards new connections again; those of before stay silent. */
  resume(): void;
}

/** It is closed at the end of the test. */
export async function tcpProxy(target: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let current = target;
  let stalled = false;
  let count = 0;
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // The other side is closed too.
    socket.on("error", () => undefined);
    return socket;
  };
  const server = createServer((client) => {
    count += 1;
    keep(client);
    if (stalled) return void client.pause();
    const upstream = keep(connect(current, "127.0.0.1"));
    client.pipe(upstream).pipe(client);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    return undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const resetConnections = (): void => open.forEach((socket) => socket.resetAndDestroy());
  onTestFinished(() => {
    resetConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    connectionCount: () => count,
    resetConnections,
    switchTo(port) {
      current = port;
      resetConnections();
    },
    resume() {
      stalled = false;
    },
    stall() {
      stalled = true;
      for (const socket of open) socket.unpipe().pause();
    },
  };
}
