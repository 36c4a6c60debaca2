/** Limits the open connections of a listener: clients without a key can open them too, and each takes a file descriptor. */
import type { Socket } from "node:net";
import { mayTakePlace } from "../core/fair-share.ts";

export interface ConnectionLimits {
  /** Maximum number of open connections. */
  total: number;
  /** Maximum number of one client. Undefined for a share of all: three quarters, while nobody else has many. */
  perClient?: number | undefined;
  /** The client at an address, so that one with many addresses counts once; undefined for a proxy, which has no limit of its own. */
  clientOf: (address: string) => string | undefined;
  /** Called when a connection is closed because of a limit: an idle one to make room, or else the new one. */
  onClosed?: ((closed: { client: string | undefined; isNew: boolean }) => void) | undefined;
}

export interface ConnectionLimiter {
  /** Counts a new connection until it ends. @returns whether it may stay; else the caller closes it */
  admit(socket: Socket): boolean;
  /** Records that a connection has just been used: idle ones are closed in the order of their last use. */
  recordUse(socket: Socket): void;
}

/** @param isIdle whether no request of a connection is in progress */
export function connectionLimiter(
  { total, perClient, clientOf, onClosed = () => {} }: ConnectionLimits,
  isIdle: (socket: Socket) => boolean,
): ConnectionLimiter {
  /** The open connections of each client, the least recently used first. */
  const held = new Map<string | undefined, Set<Socket>>();
  const clients = new Map<Socket, string | undefined>();

  const mayTake = (client: string | undefined): boolean => {
    const count = held.get(client)?.size ?? 0;
    if (client === undefined) return clients.size < total;
    if (perClient !== undefined) return count < perClient && clients.size < total;
    return mayTakePlace({ held: count, free: total - clients.size });
  };

  /** Closes the idle connection of a client that was used least recently. */
  function closeIdle(client: string | undefined): boolean {
    for (const socket of held.get(client) ?? []) {
      if (!isIdle(socket)) continue;
      remove(socket);
      socket.destroy();
      onClosed({ client, isNew: false });
      return true;
    }
    return false;
  }

  /** The clients in the order of their connections, most first. Only a full listener needs it. */
  const byCount = (): (string | undefined)[] =>
    [...held].toSorted(([, a], [, b]) => b.size - a.size).map(([client]) => client);

  function remove(socket: Socket): void {
    if (!clients.has(socket)) return;
    const client = clients.get(socket);
    clients.delete(socket);
    const sockets = held.get(client);
    sockets?.delete(socket);
    if (sockets?.size === 0) held.delete(client);
  }

  /** Makes room by closing an idle connection: of the same client if it has its share, else of who has most. */
  const makeRoom = (client: string | undefined): boolean =>
    clients.size < total ? closeIdle(client) : byCount().some(closeIdle);

  return {
    admit(socket) {
      const address = socket.remoteAddress;
      // It has ended before it was seen.
      if (address === undefined) return false;
      const client = clientOf(address);
      while (!mayTake(client)) {
        if (makeRoom(client)) continue;
        onClosed({ client, isNew: true });
        return false;
      }
      clients.set(socket, client);
      const sockets = held.get(client) ?? new Set();
      held.set(client, sockets.add(socket));
      socket.once("close", () => remove(socket));
      return true;
    },
    recordUse(socket) {
      const sockets = clients.has(socket) ? held.get(clients.get(socket)) : undefined;
      if (sockets?.delete(socket) === true) sockets.add(socket);
    },
  };
}
