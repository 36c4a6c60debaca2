/**
 * Changes of a PostgreSQL database, announced by NOTIFY. A process announces its commits after them, several at once: a
 * NOTIFY inside each transaction would make all commits of the database wait for each other.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { ChangeFeed } from "../../core/change-feed.ts";

const CHANNEL = "millrace_changes";
/** Minimum time between two calls of a subscriber, in milliseconds. */
const MIN_INTERVAL_MS = 10;
/** Poll interval while notifications don't arrive, in milliseconds. */
const POLL_MS = 500;
/** The first and the longest pause between two attempts to connect, in milliseconds. */
const RECONNECT_MS = { first: 100, longest: 5_000 };

interface Subscriber {
  listener: () => void;
  intervalMs: number;
  /** When it was last called, by the monotonic clock. */
  calledAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface FeedOptions {
  /** A new client for the connection that listens. Through PgBouncer in transaction mode it hears nothing. */
  connect(): Client;
  /** Runs one statement on another connection. */
  execute(sql: string): Promise<unknown>;
}

export interface PostgresChangeFeed extends ChangeFeed {
  /** Announces a commit of this process. */
  committed(): void;
  /** Ends all subscriptions and the connection. */
  end(): Promise<void>;
}

/**
 * The change feed of an open store. It listens from the first subscription on. Until a notification arrives, and again after a
 * lost connection, it calls all subscribers twice a second, because it may miss changes. A process that ends between a commit and its announcement
 * leaves this one to the next commit of any process; heartbeats of executors are commits.
 */
export function postgresChangeFeed({ connect, execute }: FeedOptions): PostgresChangeFeed {
  const id = randomUUID();
  const subscribers = new Set<Subscriber>();
  let listening: Promise<void> | undefined;
  let client: Client | undefined;
  let closed = false;
  let announcing = false;
  let unannounced = false;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let polling: NodeJS.Timeout | undefined;

  const poll = (): void => void (polling ??= setInterval(changed, POLL_MS).unref());
  const stopPolling = (): void => {
    clearInterval(polling);
    polling = undefined;
  };

  function call(subscriber: Subscriber): void {
    subscriber.timer = undefined;
    subscriber.calledAt = performance.now();
    subscriber.listener();
  }

  function changed(): void {
    for (const subscriber of subscribers) {
      const wait = subscriber.calledAt + subscriber.intervalMs - performance.now();
      // Deferred in any case, so that the one who commits does not wait for the subscribers.
      subscriber.timer ??= setTimeout(() => call(subscriber), Math.max(wait, 0)).unref();
    }
  }

  /** Announces the commits up to now; those that come meanwhile follow together. */
  async function announce(): Promise<void> {
    if (announcing || closed) return;
    announcing = true;
    unannounced = false;
    // Without a connection nobody is reached; subscribers elsewhere check everything once theirs is back.
    await execute(`select pg_notify('${CHANNEL}', '${id}')`).catch(() => {});
    announcing = false;
    if (unannounced) await announce();
  }

  async function listen(pause = RECONNECT_MS.first): Promise<void> {
    const connecting = connect();
    let ended = false;
    const reconnect = (): void => {
      if (ended || closed) return;
      ended = true;
      poll();
      reconnectTimer = setTimeout(() => {
        listening = listen(Math.min(pause * 2, RECONNECT_MS.longest));
      }, pause).unref();
    };
    client = connecting;
    connecting.on("error", reconnect);
    connecting.on("end", reconnect);
    connecting.on("notification", ({ payload }) => {
      stopPolling();
      if (payload !== id) changed();
    });
    try {
      await connecting.connect();
      await connecting.query(`listen ${CHANNEL}`);
      pause = RECONNECT_MS.first;
      changed();
      // It arrives here too, unless the connection goes through a pooler of transactions.
      unannounced = true;
      await announce();
    } catch {
      reconnect();
      connecting.end().catch(() => {});
    }
  }

  return {
    subscribe(listener, maxDelayMs = 0) {
      const intervalMs = Math.max(MIN_INTERVAL_MS, maxDelayMs);
      const subscriber: Subscriber = { listener, intervalMs, calledAt: -Infinity, timer: undefined };
      subscribers.add(subscriber);
      if (listening === undefined) poll();
      listening ??= listen();
      return () => {
        subscribers.delete(subscriber);
        clearTimeout(subscriber.timer);
      };
    },

    committed() {
      changed();
      unannounced = true;
      void announce();
    },

    close() {
      for (const { timer } of subscribers) clearTimeout(timer);
      subscribers.clear();
      stopPolling();
    },

    async end() {
      this.close();
      closed = true;
      clearTimeout(reconnectTimer);
      await listening;
      await client?.end().catch(() => {});
    },
  };
}
