/** Passes messages to the process that holds the stream of their client, and notices when that process has died. */
import { randomUUID } from "node:crypto";
import { type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import type { McpSession, McpSessionStore } from "../../core/mcp-session-port.ts";
import type { ErrorReporter } from "./server.ts";

/** Number of heartbeats in a lease. */
const HEARTBEATS_PER_LEASE = 5;

export interface RelayOptions {
  sessions: McpSessionStore;
  changes: Pick<ChangeFeed, "subscribe">;
  /** How long the holder of a stream may miss its heartbeats before its streams count as gone, in milliseconds. */
  leaseMs: number;
}

/**
 * Queues a message and waits until its stream's holder has fetched it, or has at least sent a heartbeat since: a holder
 * whose client does not read leaves messages in the queue.
 * @returns false when the holder is dead: its streams are removed, and nobody gets the message
 * @throws AppError busy when the queue of the stream is full
 */
export async function relayMessage(
  { sessions, changes, leaseMs }: RelayOptions,
  stream: McpSession,
  body: string,
): Promise<boolean> {
  const { holder } = stream;
  const heartbeatsOf = async () => (holder === null ? undefined : sessions.heartbeatsOf(holder));
  const heartbeats = await heartbeatsOf();
  const messageId = await sessions.enqueueMessage(stream.id, body);
  const isAccepted = async () =>
    !(await sessions.isQueued(messageId)) || (await heartbeatsOf()) !== heartbeats;
  if (await becomesTrue(changes, isAccepted, leaseMs)) return true;
  return !(await sessions.removeDeadHolder(stream, { messageId, heartbeats }));
}

/** Checks a condition after every change. @returns whether it was true within `limitMs` */
function becomesTrue(
  changes: Pick<ChangeFeed, "subscribe">,
  condition: () => Promise<boolean>,
  limitMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (result: boolean): void => {
      clearTimeout(timer);
      check.stop();
      resolve(result);
    };
    const timer = setTimeout(() => end(false), limitMs);
    const check = checkOnChange(changes, async () => {
      if (await condition()) end(true);
    });
    check.run();
  });
}

/** This process as a holder of streams. */
export interface StreamHolder {
  /** The id under which streams are stored. */
  id(): string;
  /** Sends heartbeats while there are streams. */
  setStreamCount(count: number): void;
  stop(): Promise<void>;
}

/**
 * @param closeStreams closes the streams of this process. Called when another process took this one for dead, because the
 * streams are then no longer on record and get no messages; further streams are stored under a new id
 */
export function streamHolder(
  { sessions, leaseMs }: Pick<RelayOptions, "sessions" | "leaseMs">,
  closeStreams: () => void,
  report: ErrorReporter,
): StreamHolder {
  let id = randomUUID();
  let timer: NodeJS.Timeout | undefined;

  async function heartbeat(): Promise<void> {
    if ((await sessions.heartbeat(id)) || timer === undefined) return;
    id = randomUUID();
    closeStreams();
  }

  return {
    id: () => id,
    setStreamCount(count) {
      if (count > 0) {
        timer ??= setInterval(() => void heartbeat().catch(report.onError), leaseMs / HEARTBEATS_PER_LEASE);
      } else {
        clearInterval(timer);
        timer = undefined;
      }
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await sessions.removeHolder(id).catch(report.onError);
    },
  };
}
