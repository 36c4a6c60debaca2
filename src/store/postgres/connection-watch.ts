/**
 * Finds connections on which nothing arrives any more, as when the machine of the server is gone or a firewall has forgotten them:
 * their packets are dropped, no reset comes, and TCP would notice it after a quarter of an hour. An answer that is overdue says
 * that of its own connection only, and late. So one connection is kept for a statement that needs no time. It is asked when any
 * other statement takes longer than usual; without its answer, all connections that have been silent since are given up.
 */
import { setImmediate } from "node:timers/promises";
import type { ClientBase } from "pg";

/** How long a statement runs before the connections are checked, in milliseconds. */
const USUAL_MS = 2_000;
const CHECK_INTERVAL_MS = 1_000;
/** Minimum time between two times that connections are given up, in milliseconds: a server that is slow must not lose them all the time. */
const GIVE_UP_INTERVAL_MS = 10_000;

interface Watched {
  /** The number of statements without an answer. */
  unanswered: number;
  /** Since when the oldest of them has been waited for, by the monotonic clock. */
  since: number;
  /** When the server has last answered, or accepted the connection. */
  heardAt: number;
}

export interface ConnectionWatch {
  /** Counts a connection from now on, which the server has just accepted. */
  add(client: ClientBase): void;
  remove(client: ClientBase): void;
  /** Records that a statement was sent. @returns a function to call with its answer, also with an error of the server */
  sent(client: ClientBase): () => void;
  /** Records that the server has sent something that was not asked for. */
  heard(client: ClientBase): void;
  /** Gives up all connections that have been silent since a time of the monotonic clock, every 10 s at most. */
  giveUp(silentSince: number): Promise<void>;
  isGivenUp(client: ClientBase): boolean;
  end(): void;
}

/** What `Client` has, and its types leave out. */
interface SocketOwner {
  connection: { stream: { destroy(): void; destroyed: boolean } };
}

const socketOf = (client: ClientBase) => (client as ClientBase & SocketOwner).connection.stream;

/** @param probe asks the server for an answer that needs no time; called again only after its end */
export function connectionWatch(
  probe: () => Promise<unknown>,
  { usualMs = USUAL_MS, intervalMs = CHECK_INTERVAL_MS } = {},
): ConnectionWatch {
  const watched = new Map<ClientBase, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let probing = false;
  let gaveUpAt = -Infinity;

  async function check(): Promise<void> {
    const before = performance.now() - usualMs;
    if (probing || ![...watched.values()].some(({ unanswered, since }) => unanswered > 0 && since < before))
      return;
    probing = true;
    // A missing answer gives up what is silent, see `DriverOptions.watch`.
    await probe().catch(() => {});
    probing = false;
  }

  return {
    add(client) {
      watched.set(client, { unanswered: 0, since: 0, heardAt: performance.now() });
      timer ??= setInterval(() => void check(), intervalMs).unref();
    },
    remove: (client) => void watched.delete(client),
    sent(client) {
      const state = watched.get(client);
      if (state === undefined) return () => {};
      if (state.unanswered === 0) state.since = performance.now();
      state.unanswered += 1;
      return () => {
        state.unanswered -= 1;
        state.heardAt = state.since = performance.now();
      };
    },
    heard(client) {
      const state = watched.get(client);
      if (state !== undefined) state.heardAt = performance.now();
    },
    async giveUp(silentSince) {
      const now = performance.now();
      if (now - gaveUpAt < GIVE_UP_INTERVAL_MS) return;
      gaveUpAt = now;
      // If this process was busy, answers may have arrived that it has not read: it reads them first.
      await setImmediate();
      for (const [client, { heardAt }] of watched) if (heardAt < silentSince) socketOf(client).destroy();
    },
    isGivenUp: (client) => socketOf(client).destroyed,
    end: () => clearInterval(timer),
  };
}
