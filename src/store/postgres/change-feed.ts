/**
 * Changes of a PostgreSQL database, announced by NOTIFY. A process announces its commits after them, several at once: a
 * NOTIFY inside each transaction would make all commits of the database wait for each other.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { ChangeFeed, WorkKind } from "../../core/change-feed.ts";
import type { NewWork } from "../store.ts";

const CHANNEL = "millrace_changes";
/** Minimum time between two calls of a subscriber, and between two announcements, in milliseconds. */
const MIN_INTERVAL_MS = 10;
/**
 * Minimum time between two calls of a subscriber that looks for work, after commits that left none, in milliseconds. Most commits
 * of executors leave none: each would make every executor of the database look.
 */
const NO_WORK_MS = 100;
/** Poll interval while notifications don't arrive, in milliseconds. */
const POLL_MS = 500;
const EVERYTHING: ReadonlySet<WorkKind> = new Set<WorkKind>(["jobs", "deliveries"]);
/** The first and the longest pause between two attempts to connect, in milliseconds. */
const RECONNECT_MS = { first: 100, longest: 5_000 };

interface Subscriber {
  listener: () => void;
  intervalMs: number;
  /** What it looks for; undefined for everything. */
  work: WorkKind | undefined;
  /** When it was last called, and when it is called next, by the monotonic clock. */
  calledAt: number;
  dueAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface FeedOptions {
  /** A new client for the connection that listens. Through PgBouncer in transaction mode it hears nothing. */
  connect(): Client;
  /** Runs one statement on another connection. */
  execute(sql: string): Promise<unknown>;
  /** Called when a notification of this process arrives, so that all others arrive too. */
  onHeard(): void;
}

export interface PostgresChangeFeed extends ChangeFeed {
  /** Announces a commit of this process. */
  committed(left: NewWork): void;
  /** Ends all subscriptions and the connection. */
  end(): Promise<void>;
}

/**
 * The change feed of an open store. It listens from the first subscription on. Until a notification of its own arrives, and again after a
 * lost connection, it calls all subscribers twice a second, because it may miss changes. A process that ends between a commit and its announcement
 * leaves this one to the next commit of any process; heartbeats of executors are commits.
 */
export function postgresChangeFeed({ connect, execute, onHeard }: FeedOptions): PostgresChangeFeed {
  const id = randomUUID();
  const subscribers = new Set<Subscriber>();
  let listening: Promise<void> | undefined;
  let client: Client | undefined;
  let closed = false;
  let announcing = false;
  /** What the commits have left that are not announced yet; undefined when all are. */
  let unannounced: ReadonlySet<WorkKind> | undefined;
  /** When commits were last announced, by the monotonic clock. */
  let announcedAt = -Infinity;
  let announceTimer: NodeJS.Timeout | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let polling: NodeJS.Timeout | undefined;

  const poll = (): void => void (polling ??= setInterval(() => changed(EVERYTHING), POLL_MS).unref());
  const stopPolling = (): void => {
    clearInterval(polling);
    polling = undefined;
  };

  function call(subscriber: Subscriber): void {
    subscriber.timer = undefined;
    subscriber.calledAt = performance.now();
    subscriber.listener();
  }

  /** @param left the kinds of work that the commits have left */
  function changed(left: ReadonlySet<WorkKind>): void {
    for (const subscriber of subscribers) {
      const { work, intervalMs } = subscriber;
      const pause = work === undefined || left.has(work) ? intervalMs : Math.max(intervalMs, NO_WORK_MS);
      const now = performance.now();
      const dueAt = Math.max(subscriber.calledAt + pause, now);
      if (subscriber.timer !== undefined && subscriber.dueAt <= dueAt) continue;
      clearTimeout(subscriber.timer);
      subscriber.dueAt = dueAt;
      // Deferred in any case, so that the one who commits does not wait for the subscribers.
      subscriber.timer = setTimeout(() => call(subscriber), dueAt - now).unref();
    }
  }

  /** Announces the commits up to now; those that come within the interval, or meanwhile, follow together. */
  function announceSoon(left: ReadonlySet<WorkKind>): void {
    unannounced = new Set([...(unannounced ?? []), ...left]);
    if (announcing || closed) return;
    const wait = announcedAt + MIN_INTERVAL_MS - performance.now();
    if (wait <= 0) void announce();
    else announceTimer ??= setTimeout(() => void announce(), wait).unref();
  }

  async function announce(): Promise<void> {
    clearTimeout(announceTimer);
    announceTimer = undefined;
    if (announcing || closed) return;
    announcing = true;
    announcedAt = performance.now();
    const payload = [id, ...(unannounced ?? [])].join(" ");
    const announced = unannounced ?? [];
    unannounced = undefined;
    let isHeard = true;
    await execute(`select pg_notify('${CHANNEL}', '${payload}')`).catch(() => (isHeard = false));
    announcing = false;
    // The next commit announces it too; subscribers elsewhere check everything once their connection is back.
    if (!isHeard) {
      unannounced = new Set([...announced, ...(unannounced ?? [])]);
      return;
    }
    if (unannounced !== undefined) announceSoon(unannounced);
  }

  async function listen(pause = RECONNECT_MS.first): Promise<void> {
    const connecting = connect();
    let ended = false;
    let isListening = false;
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
      const [sender, ...left] = (payload ?? "").split(" ");
      if (sender !== id) return changed(new Set(left as WorkKind[]));
      // PgBouncer in transaction mode may deliver one of an earlier client of its connection with the answer to `listen`, and none later.
      if (!isListening) return;
      stopPolling();
      onHeard();
    });
    try {
      await connecting.connect();
      await connecting.query(`listen ${CHANNEL}`);
      isListening = true;
      pause = RECONNECT_MS.first;
      changed(EVERYTHING);
      // It arrives here too, unless the connection goes through a pooler of transactions.
      announceSoon(new Set());
    } catch {
      reconnect();
      connecting.end().catch(() => {});
    }
  }

  return {
    subscribe(listener, { maxDelayMs = 0, work } = {}) {
      const intervalMs = Math.max(MIN_INTERVAL_MS, maxDelayMs);
      const times = { calledAt: -Infinity, dueAt: -Infinity, timer: undefined };
      const subscriber: Subscriber = { listener, intervalMs, work, ...times };
      subscribers.add(subscriber);
      if (listening === undefined) poll();
      listening ??= listen();
      return () => {
        subscribers.delete(subscriber);
        clearTimeout(subscriber.timer);
      };
    },

    committed({ jobs, deliveries }) {
      const left = new Set<WorkKind>();
      if (jobs > 0) left.add("jobs");
      if (deliveries > 0) left.add("deliveries");
      changed(left);
      announceSoon(left);
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
      clearTimeout(announceTimer);
      await listening;
      await client?.end().catch(() => {});
    },
  };
}
